// ---- One quantity, by rank

const kQuantities = [
  ["tmpi_bytes_sent", "bytes sent", amount],
  ["tmpi_bytes_received", "bytes received", amount],
  ["tmpi_messages_sent", "messages sent", count],
  ["tmpi_messages_received", "messages received", count],
  ["tmpi_messages_unexpected", "unexpected messages: come before their receive", count],
  ["tmpi_unexpected_most", "most unexpected messages at a time", count],
  ["tmpi_moves", "moves between cores (--balance)", count],
  ["tmpi_stack_used", "memory: stack used", amount],
  ["tmpi_time_idle", "idle time of cores that ended with the rank", seconds],
  ["tmpi_waits", "times suspended", count],
];
const kMostColumns = 600;

const quantityPlot = (into, profile) => {
  const {ranks} = profile;
  const known = kQuantities.filter(([name]) => ranks.variables[name]);
  if (known.length === 0) return;
  const holder = element("div");
  const draw = (wanted) => {
    const [name, words, written] = known.find(([each]) => each === wanted);
    const values = ranks.variables[name];
    holder.textContent = "";
    const width = Math.min(1130, into.clientWidth || 1130), height = 130, left = 66;
    const svg = d3.create("svg").attr("width", width).attr("height", height + 24).attr("role", "img").attr("aria-label", `${words}, by rank`);
    const columns = Math.min(ranks.count, kMostColumns);
    const x = d3.scaleLinear([0, ranks.count], [left, width - 12]);
    const y = d3.scaleLinear([0, d3.max(values) || 1], [height, 10]).nice(3);
    const each = (width - 12 - left) / columns, gap = each > 4 ? 1 : 0;
    for (let c = 0; c < columns; ++c) {
      const from = Math.floor(c * ranks.count / columns), to = Math.floor((c + 1) * ranks.count / columns);
      const highest = d3.max(values.slice(from, to));
      if (highest > 0)
        svg.append("rect").attr("x", x(from)).attr("width", Math.max(0.6, Math.min(60, x(to) - x(from) - gap))).attr("y", y(highest))
          .attr("height", height - y(highest)).style("fill", "var(--computing)").append("title")
          .text(to - from > 1 ? `ranks ${from} to ${to - 1}: ${written(highest)} at most` : `rank ${ranks.rank[from]}: ${written(highest)}`);
    }
    svg.append("g").attr("class", "axis").attr("transform", `translate(0,${height})`)
      .call(d3.axisBottom(x).ticks(Math.min(ranks.count, width / 90)).tickFormat((tick) => (Number.isInteger(tick) && tick < ranks.count ? tick : "")));
    svg.append("g").attr("class", "axis").attr("transform", `translate(${left},0)`).call(d3.axisLeft(y).ticks(3).tickFormat(written));
    const high = most(values), low = least(values);
    holder.append(svg.node(), element("p", {class: "readout"}, `All ranks: ${written(sum(values))}. Most: ${written(values[high])} (rank ` +
      `${ranks.rank[high]}), least: ${written(values[low])} (rank ${ranks.rank[low]}), mean: ${written(sum(values) / ranks.count)}.`));
  };
  into.append(element("h3", {}, "By rank"), element("div", {class: "controls"},
    choice("Quantity", known.map(([name, words]) => [name, words]), known[0][0], draw)), holder);
  draw(known[0][0]);
};
