// ---- Bars: what cores did, in all and over time; sizes of messages

const kMostBars = 48;  // cores; more are a map

const coreBars = (into, profile) => {
  const {workers} = profile;
  if (workers.count > kMostBars) return coreMaps(into, profile);
  const names = ["computing", "mpi", "library", "idle"];
  const rows = d3.range(workers.count).map((i) => {
    const library = Math.max(0, workers.busy[i] - workers.computing[i] - workers.mpi[i]);
    return {computing: workers.computing[i], mpi: workers.mpi[i], library, idle: workers.idle[i]};
  });
  // The same for both of two profiles, so that lengths can be compared.
  const longest = d3.max(profiles, (each) => d3.max(each.workers.busy.map((busy, i) => busy + each.workers.idle[i])));
  const width = Math.min(1130, into.clientWidth || 1130), left = 130, right = 190, height = 26;
  const svg = d3.create("svg").attr("width", width).attr("height", rows.length * height + 26).attr("role", "img")
    .attr("aria-label", "What each core did");
  const fill = fills(svg, names);
  const x = d3.scaleLinear([0, longest || 1], [left, width - right]);
  rows.forEach((row, i) => {
    let from = 0;
    for (const name of names) {
      if (row[name] <= 0) continue;
      svg.append("rect").attr("x", x(from)).attr("y", i * height + 4).attr("width", Math.max(0, x(from + row[name]) - x(from)))
        .attr("height", height - 8).attr("fill", fill[name]).append("title").text(`${kinds[name].name}: ${seconds(row[name])}`);
      from += row[name];
    }
    const label = svg.append("text").attr("x", left - 10).attr("y", i * height + height / 2).attr("dy", "0.35em").attr("text-anchor", "end");
    label.text(workers.short[i]).append("title").text(workers.name[i]);
    svg.append("text").attr("x", x(from) + 8).attr("y", i * height + height / 2).attr("dy", "0.35em").style("fill", "var(--soft)")
      .text(`${percent(share(row.computing, from))} computing, ${percent(share(row.idle, from))} idle`);
  });
  svg.append("g").attr("class", "axis").attr("transform", `translate(0,${rows.length * height})`)
    .call(d3.axisBottom(x).ticks(Math.max(3, width / 160)).tickFormat(seconds));
  into.append(legend(names), element("div", {class: "scroll"}, svg.node()));
};

// All cores' time over the job, of bins that may differ in width between workers: the widest is taken for all.
const overTime = (into, profile) => {
  const given = profile.over_time;
  if (!given) return;
  const {width: step, computing, mpi, cores} = given;
  const names = ["computing", "mpi", "idle"];
  const bins = computing.map((value, i) => {
    const whole = cores * Math.max(0, Math.min(step, profile.seconds - i * step));
    return {computing: value, mpi: mpi[i], idle: Math.max(0, whole - value - mpi[i]), whole};
  }).filter((bin) => bin.whole > 0);
  const width = Math.min(1130, into.clientWidth || 1130), height = 170, left = 44;
  const svg = d3.create("svg").attr("width", width).attr("height", height + 26).attr("role", "img").attr("aria-label", "Cores over time");
  const fill = fills(svg, names);
  const x = d3.scaleLinear([0, d3.max(profiles, (each) => each.seconds)], [left, width - 28]), y = d3.scaleLinear([0, 1], [height, 8]);
  const stack = d3.stack().keys(names).value((bin, name) => bin[name] / bin.whole)(bins);
  for (const layer of stack) {
    // Steps, since a bin is a mean: both corners of each.
    const corners = [];
    layer.forEach((point, i) => corners.push([i * step, point], [Math.min(profile.seconds, (i + 1) * step), point]));
    svg.append("path").attr("fill", fill[layer.key])
      .attr("d", d3.area().x((c) => x(c[0])).y0((c) => y(c[1][0])).y1((c) => y(c[1][1]))(corners));
  }
  svg.append("g").attr("class", "axis").attr("transform", `translate(0,${height})`)
    .call(d3.axisBottom(x).ticks(Math.max(3, width / 160)).tickFormat(seconds));
  svg.append("g").attr("class", "axis").attr("transform", `translate(${left},0)`).call(d3.axisLeft(y).ticks(4, "%"));
  into.append(element("h3", {}, "All cores over time"), legend(names), svg.node(),
              element("p", {class: "note"}, `Means of ${seconds(step)}. What is neither computing nor running in MPI counts as idle here.`));
};

// ---- Sizes of messages

const kWays = [
  ["direct", "straight into a posted receive", "computing"],
  ["eager", "copied by the library", "mpi"],
  ["rendezvous", "waited at the sender for its receive", "library"],
  ["network_eager", "to other nodes, at once", "idle"],
  ["network_rendezvous", "to other nodes, asked first", "strong"],
];

const sizeHistogram = (into, profile) => {
  const sizes = profile.sizes;
  if (!sizes) return;
  const ways = kWays.filter(([way]) => sizes[way] && sum(sizes[way].messages) > 0);
  if (ways.length === 0) return;
  const classes = d3.max(ways, ([way]) => sizes[way].messages.length);
  let first = 0;
  while (first < classes && ways.every(([way]) => !sizes[way].messages[first])) ++first;
  const named = (i) => (i === 0 ? "0" : amount(2 ** (i - 1)));
  const holder = element("div");
  const draw = (measure) => {
    holder.textContent = "";
    const width = Math.min(720, into.clientWidth || 720), row = 74, left = 12;
    const svg = d3.create("svg").attr("width", width).attr("height", ways.length * row + 34).attr("role", "img")
      .attr("aria-label", `Sizes of messages by protocol: ${measure}`);
    const x = d3.scaleBand(d3.range(first, classes), [left, width - 8]).paddingInner(0.12);
    const highest = d3.max(ways, ([way]) => d3.max(sizes[way][measure])) || 1;
    ways.forEach(([way, words, shade], at) => {
      const base = at * row + row - 6, y = d3.scaleLinear([0, highest], [0, row - 30]);
      svg.append("line").attr("x1", left).attr("x2", width - 8).attr("y1", base).attr("y2", base).style("stroke", "var(--line)");
      const all = sum(sizes[way][measure]);
      svg.append("text").attr("x", left).attr("y", at * row + 12)
        .text(`${words}: ${measure === "bytes" ? amount(all) : `${count(all)} messages`}`);
      sizes[way][measure].forEach((value, i) => {
        if (!value) return;
        const high = Math.max(1.5, y(value));
        svg.append("rect").attr("x", x(i)).attr("width", x.bandwidth()).attr("y", base - high).attr("height", high)
          .style("fill", `var(--${shade})`).append("title")
          .text(`from ${named(i)}${i > 0 ? ` to less than ${amount(2 ** i)}` : ""}: ${measure === "bytes" ? amount(value) : count(value)}`);
      });
    });
    const every = Math.ceil((classes - first) / (width / 62));
    for (let i = first; i < classes; i += every)
      svg.append("text").attr("x", x(i)).attr("y", ways.length * row + 14).style("fill", "var(--soft)").text(named(i));
    holder.append(svg.node());
  };
  into.append(element("h3", {}, "Sizes of messages, by the way they took"),
              element("div", {class: "controls"}, choice("Height", [["messages", "messages"], ["bytes", "bytes"]], "messages", draw)), holder,
              element("p", {class: "note"}, "Each bar: from its size to less than twice that. All rows have the same scale."));
  draw("messages");
};
