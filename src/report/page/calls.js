// ---- Call sites, sortable

const kShownCalls = 25;

const callTable = (into, profile, prefix) => {
  const {calls} = profile;
  if (calls.length === 0) return into.append(element("p", {}, "The program has made no calls that are recorded."));
  const rankShare = (value) => share(value, profile.rankSeconds);
  const columns = [
    {name: "function", words: "call", word: true, key: (c) => c.function.toLowerCase(), cell: (c) => c.function},
    {name: "where", words: "from", word: true, key: (c) => c.where, cell: (c) => c.where + (c.file && c.caller ? ` in ${c.caller}` : "")},
    {name: "calls", words: "calls", key: (c) => c.calls, cell: (c, at) => figure(`${prefix}.calls.${at}.calls`, c.calls, count(c.calls))},
    {name: "bytes", words: "bytes", key: (c) => c.bytes, cell: (c, at) => figure(`${prefix}.calls.${at}.bytes`, c.bytes, c.bytes ? amount(c.bytes) : "–")},
    {name: "wall", words: "time", key: (c) => c.wall, bar: true, share: (c) => rankShare(c.wall)},
    {name: "running", words: "running", key: (c) => c.running, share: (c) => rankShare(c.running)},
    {name: "waiting", words: "waiting", key: (c) => c.waiting, share: (c) => rankShare(c.waiting)},
    {name: "idle", words: "cores idle", key: (c) => c.idle, bar: true, share: (c) => share(c.idle, profile.coreSeconds)},
    {name: "longest", words: "longest", key: (c) => c.longest, cell: (c, at) => figure(`${prefix}.calls.${at}.longest`, c.longest, seconds(c.longest))},
  ];
  let sorted = columns[7].key(calls[0]) >= 0 ? "wall" : "", descending = true, filter = "", all = false;
  const heads = columns.map((column) => element("th", {scope: "col", class: column.word ? "word" : null},
    element("button", {onclick: () => {
      descending = sorted === column.name ? !descending : !column.word;
      sorted = column.name;
      fill();
    }}, column.words)));
  const body = element("tbody"), more = element("button", {class: "plain", onclick: () => {
    all = !all;
    fill();
  }});
  const cellOf = (column, call, at) => {
    if (column.cell) return element("td", {class: column.word ? "word" : null}, column.cell(call, at));
    const value = column.share(call), shown = figure(`${prefix}.calls.${at}.${column.name}`, call[column.name], percent(value));
    shown.title = seconds(call[column.name]);
    return element("td", {}, shown, column.bar ? element("span", {class: "bar"}, element("i", {style: `width:${100 * Math.min(1, value)}%`})) : null);
  };
  const rowOf = (at) => {
    const call = calls[at];
    const open = element("button", {class: "plain", "aria-expanded": "false", title: "by rank", onclick: () => {
      const next = row.nextElementSibling;
      if (next && next.classList.contains("open")) {
        next.remove();
        open.setAttribute("aria-expanded", "false");
        return;
      }
      const cell = element("td", {colspan: columns.length + 1});
      row.after(element("tr", {class: "open"}, cell));
      callByRank(cell, profile, call);
      open.setAttribute("aria-expanded", "true");
    }}, "ranks");
    const row = element("tr", {}, columns.map((column) => cellOf(column, call, at)), element("td", {}, open));
    return row;
  };
  const fill = () => {
    columns.forEach((column, i) => {
      if (column.name === sorted) heads[i].setAttribute("aria-sort", descending ? "descending" : "ascending");
      else heads[i].removeAttribute("aria-sort");
    });
    const {key} = columns.find((column) => column.name === sorted);
    const matching = d3.range(calls.length).filter((at) => `${calls[at].function} ${calls[at].where} ${calls[at].caller}`.toLowerCase().includes(filter));
    matching.sort((a, b) => (descending ? d3.descending : d3.ascending)(key(calls[a]), key(calls[b])) || a - b);
    body.replaceChildren(...matching.slice(0, all ? matching.length : kShownCalls).map(rowOf));
    more.hidden = matching.length <= kShownCalls;
    more.textContent = all ? `only the first ${kShownCalls}` : `all ${matching.length}`;
  };
  const search = element("input", {type: "search", placeholder: "function, file or caller", oninput: () => {
    filter = search.value.toLowerCase();
    fill();
  }});
  into.append(element("div", {class: "controls"}, element("label", {}, "Show ", search)),
    element("div", {class: "scroll"}, element("table", {class: "wide"}, element("thead", {}, element("tr", {}, heads, element("th"))), body)),
    element("p", {}, more),
    element("p", {class: "note"}, "Time, running and waiting are shares of all ranks' time. Cores idle: share of all cores' time in which a core had " +
      "nothing else to run until a call from there went on; that is what is lost."));
  fill();
};

// Time in the call by rank: waiting on top of running.
const callByRank = (into, profile, call) => {
  const of = call.ranks, width = Math.min(1000, (into.clientWidth || 1000) - 20), height = 84, left = 60;
  const svg = d3.create("svg").attr("width", width).attr("height", height + 22).attr("role", "img").attr("aria-label", "Time in this call by rank");
  const fill = fills(svg, ["mpi", "idle"]);
  const x = d3.scaleLinear([0, profile.ranks.count], [left, width - 10]), y = d3.scaleLinear([0, d3.max(of.wall) || 1], [height, 6]);
  const step = Math.max(1, Math.ceil(of.count / kMostColumns)), one = Math.max(0.6, Math.min(60, x(step) - x(0) - (x(step) - x(0) > 4 ? 1 : 0)));
  for (let i = 0; i < of.count; i += step) {
    const running = of.wall[i] - of.waiting[i];
    svg.append("rect").attr("x", x(of.rank[i])).attr("width", one).attr("y", y(running)).attr("height", height - y(running)).attr("fill", fill.mpi);
    svg.append("rect").attr("x", x(of.rank[i])).attr("width", one).attr("y", y(of.wall[i])).attr("height", y(running) - y(of.wall[i])).attr("fill", fill.idle)
      .append("title").text(`rank ${of.rank[i]}: ${seconds(of.wall[i])}, waiting ${seconds(of.waiting[i])}`);
  }
  svg.append("g").attr("class", "axis").attr("transform", `translate(0,${height})`).call(d3.axisBottom(x).ticks(Math.min(profile.ranks.count, 10))
    .tickFormat((tick) => (Number.isInteger(tick) && tick < profile.ranks.count ? tick : "")));
  svg.append("g").attr("class", "axis").attr("transform", `translate(${left},0)`).call(d3.axisLeft(y).ticks(3).tickFormat(seconds));
  const low = least(of.wall), high = most(of.wall);
  into.append(svg.node(), element("p", {class: "note"}, `Running below, waiting (hatched) above. ${count(of.count)} ranks made this call: from ` +
    `${seconds(of.wall[low])} (rank ${of.rank[low]}) to ${seconds(of.wall[high])} (rank ${of.rank[high]})${call.unfinished ? "; the job ended inside one" : ""}.`));
};
