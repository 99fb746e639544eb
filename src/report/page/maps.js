// ---- Maps: one square for each rank or core, one map for each kind of time

const kLargestCell = 46, kMapHeight = 340;
const kTops = [0.02, 0.05, 0.1, 0.2, 0.5, 1];  // ends of a map's scale: differences between small shares are to be seen

// `layers`: {name, colour, value(i)} with values from 0 to 1; `order`: which item is at which place. Arrow keys and the
// pointer choose an item, in all maps at once.
const drawMaps = (into, {items, order, layers, label, details}) => {
  const readout = element("p", {class: "readout", "aria-live": "polite"}, "Point at a square, or use the arrow keys, to read its figures.");
  const holder = element("div", {class: "maps"});
  into.append(holder, readout);
  let chosen = -1, columns = 1, cell = 1;
  const maps = layers.map((layer) => {
    const highest = d3.max(order, (i) => layer.value(i)) || 0;
    layer.top = kTops.find((top) => top >= highest) || 1;
    const canvas = element("canvas", {tabindex: 0, role: "img", "aria-label": `${layer.name}, by ${label}: arrow keys choose one`});
    const scale = element("canvas", {"aria-hidden": "true"});
    holder.append(element("figure", {}, element("figcaption", {}, element("b", {}, layer.name), ` ${layer.caption}`), canvas,
                          element("div", {class: "legend", style: "align-items:center;gap:6px"}, "0 %", scale, percent(layer.top))));
    return {layer, canvas, scale};
  });
  const ramp = (layer) => {
    const shade = shades(colour("none"), colour(layer.colour));
    return (value) => shade(value / layer.top);
  };
  const layout = () => {
    const all = holder.clientWidth || 1130;
    const width = Math.max(180, Math.min(520, (all - 26 * (layers.length - 1)) / layers.length));
    cell = Math.min(kLargestCell, Math.sqrt(width * kMapHeight / items));
    columns = Math.max(1, Math.floor(width / cell));
    cell = Math.min(kLargestCell, width / columns);
    if (cell > 3) cell = Math.floor(cell);
    return {width: columns * cell, height: Math.ceil(items / columns) * cell};
  };
  const draw = () => {
    const {width, height} = layout();
    const gap = cell > 6 ? 1 : 0;
    for (const {layer, canvas, scale} of maps) {
      const context = sized(canvas, width, height), shade = ramp(layer);
      context.font = `${Math.min(13, cell / 2.9)}px system-ui, sans-serif`;
      context.textAlign = "center";
      context.textBaseline = "middle";
      for (let place = 0; place < items; ++place) {
        const x = (place % columns) * cell, y = Math.floor(place / columns) * cell, value = layer.value(order[place]);
        const background = shade(value);
        context.fillStyle = background;
        context.fillRect(x, y, cell - gap, cell - gap);
        if (cell >= 26) {
          context.fillStyle = d3.lab(background).l > 55 ? "#10151c" : "#ffffff";
          context.fillText(Math.round(100 * value), x + (cell - gap) / 2, y + (cell - gap) / 2 + 0.5);
        }
        if (place === chosen) {
          context.lineWidth = 2;
          context.strokeStyle = colour("text");
          context.strokeRect(x + 1, y + 1, Math.max(2, cell - gap - 2), Math.max(2, cell - gap - 2));
        }
      }
      const bar = sized(scale, 120, 10);
      for (let x = 0; x < 120; ++x) {
        bar.fillStyle = shade(layer.top * x / 119);
        bar.fillRect(x, 0, 1, 10);
      }
    }
  };
  const choose = (place) => {
    if (place === chosen || place < 0 || place >= items) return;
    chosen = place;
    readout.textContent = details(order[place]);
    draw();
  };
  for (const {canvas} of maps) {
    canvas.addEventListener("pointermove", (event) =>
      choose(Math.floor(event.offsetY / cell) * columns + Math.min(columns - 1, Math.floor(event.offsetX / cell))));
    canvas.addEventListener("keydown", (event) => {
      const step = {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns}[event.key];
      if (step === undefined) return;
      event.preventDefault();
      choose(chosen < 0 ? 0 : chosen + step);
    });
  }
  drawn(draw);
  return {reorder: (other) => {
    order = other;
    chosen = -1;
    draw();
  }};
};

const share = (part, whole) => (whole > 0 ? part / whole : 0);

const rankMaps = (into, profile) => {
  const {ranks, workers} = profile;
  const natural = d3.range(ranks.count);
  const orders = {
    number: natural,
    core: d3.range(ranks.count).sort((a, b) => ranks.worker[a] - ranks.worker[b] || a - b),
    computing: d3.range(ranks.count).sort((a, b) => ranks.computing[b] - ranks.computing[a]),
  };
  const mean = (name) => percent(share(sum(ranks[name]), profile.rankSeconds));
  const of = (name, words, shown) => ({name: words, colour: shown, caption: `${mean(name)} of all ranks' time`,
                                       value: (i) => share(ranks[name][i], ranks.wall[i])});
  const where = (rank) => {
    const found = [];
    for (const call of profile.calls) {
      const at = call.ranks.rank.length === ranks.count ? rank : call.ranks.rank.indexOf(ranks.rank[rank]);
      if (at >= 0) found.push([call.ranks.wall[at], call]);
    }
    found.sort((a, b) => b[0] - a[0]);
    return found.slice(0, 2).map(([wall, call]) => `${seconds(wall)} in ${call.function} (${call.where})`).join(", ");
  };
  let shown;
  into.append(element("div", {class: "controls"}, choice("Order", [["number", "by number"], ["core", "by core"], ["computing", "most computing first"]],
                                                         "number", (value) => shown.reorder(orders[value]))));
  shown = drawMaps(into, {
    items: ranks.count, order: natural, label: "rank",
    layers: [of("computing", "Computing", "computing"), of("mpi", "Running in MPI", "mpi"), of("waiting", "Waiting in MPI", "strong")],
    details: (i) => {
      const part = (name) => `${seconds(ranks[name][i])} (${percent(share(ranks[name][i], ranks.wall[i]))})`;
      const elsewhere = ranks.elsewhere[i] > 0 ? `, ${part("elsewhere")} suspended elsewhere` : "";
      return `Rank ${ranks.rank[i]} on ${workers.short[ranks.worker[i]]}: ${part("computing")} computing, ${part("mpi")} running in MPI, ` +
             `${part("waiting")} waiting in MPI${elsewhere}. ${where(i)}`;
    }});
};

const coreMaps = (into, profile) => {
  const {workers} = profile;
  const whole = (i) => workers.busy[i] + workers.idle[i];
  const of = (name, words, shown) => ({name: words, colour: shown, caption: `${percent(share(sum(workers[name]), profile.coreSeconds))} of all cores' time`,
                                       value: (i) => share(workers[name][i], whole(i))});
  drawMaps(into, {
    items: workers.count, order: d3.range(workers.count), label: "core",
    layers: [of("computing", "Computing", "computing"), of("mpi", "Running in MPI", "mpi"), of("idle", "Idle", "strong")],
    details: (i) => `${workers.name[i]}: computing ${seconds(workers.computing[i])}, in MPI ${seconds(workers.mpi[i])}, ` +
                    `idle ${seconds(workers.idle[i])}, ${count(workers.switches[i])} switches`});
};
