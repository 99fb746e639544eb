// ---- Who sends to whom: a square for each pair, with zoom

const kMatrixSide = 460, kMostListed = 8;

const communicationMatrix = (into, profile) => {
  const matrices = profile.matrix;
  if (!matrices) {
    into.append(element("p", {class: "note"}, "This profile does not say who has sent to whom: it was written by an older tmpi."));
    return;
  }
  if (matrices.ranks.from.length === 0) {
    into.append(element("p", {class: "note"}, "No messages were sent: what ranks of a node do together in shared memory needs none."));
    return;
  }
  let by = "ranks", measure = "bytes", transform = d3.zoomIdentity, chosen = null;
  const margin = {left: 64, top: 40};
  const canvas = element("canvas", {tabindex: 0, role: "img",
    "aria-label": "Communication matrix: senders are rows, receivers columns. Arrow keys choose a pair, + and - zoom, Escape shows all"});
  const axes = d3.create("svg").attr("width", margin.left + kMatrixSide + 30).attr("height", margin.top + kMatrixSide + 4)
    .attr("aria-hidden", "true").style("position", "absolute").style("inset", 0).style("pointer-events", "none");
  const holder = element("div", {style: `position:relative;width:${margin.left + kMatrixSide + 30}px;height:${margin.top + kMatrixSide + 4}px`},
    element("div", {style: `position:absolute;left:${margin.left}px;top:${margin.top}px`}, canvas), axes.node());
  const readout = element("p", {class: "readout", "aria-live": "polite"});
  const table = element("div", {class: "scroll"});
  const scale = element("div", {class: "legend", style: "align-items:center;gap:8px"});
  const words = (value) => (measure === "bytes" ? amount(value) : `${count(value)} messages`);
  const data = () => matrices[by];
  const named = (i) => {
    const block = data().block, one = by === "nodes" ? "node" : "rank", last = Math.min(data().items, (i + 1) * block) - 1;
    return block === 1 ? `${one} ${i}` : `${one}s ${i * block} to ${last}`;
  };
  const size = () => Math.ceil(data().items / data().block);
  const index = {ranks: null, nodes: null};
  const entryAt = (from, to) => {
    index[by] = index[by] || new Map(data().from.map((row, i) => [row * size() + data().to[i], i]));
    return index[by].get(from * size() + to);
  };
  const draw = () => {
    const context = sized(canvas, kMatrixSide, kMatrixSide), all = data(), n = size();
    const values = all[measure];
    let highest = 1, lowest = Infinity;
    for (const value of values) {
      if (value > highest) highest = value;
      if (value > 0 && value < lowest) lowest = value;
    }
    lowest = Math.min(lowest, highest);
    // Logarithmic; the least of all is still seen.
    const span = Math.log(Math.max(highest / lowest, 1.001));
    const shade = (value) => 0.16 + 0.84 * Math.log(value / lowest) / span;
    const hue = shades(colour("none"), colour("strong"));
    const cell = kMatrixSide / n * transform.k;
    context.fillStyle = colour("none");
    context.fillRect(0, 0, kMatrixSide, kMatrixSide);
    for (let i = 0; i < all.from.length; ++i) {
      if (!values[i]) continue;
      const x = transform.x + all.to[i] * cell, y = transform.y + all.from[i] * cell;
      if (x > kMatrixSide || y > kMatrixSide || x + cell < 0 || y + cell < 0) continue;
      context.fillStyle = hue(shade(values[i]));
      const gap = cell > 8 ? 1 : 0;
      context.fillRect(x, y, Math.max(1, cell - gap), Math.max(1, cell - gap));
      if (cell > 56) {
        context.fillStyle = d3.lab(hue(shade(values[i]))).l > 55 ? "#10151c" : "#ffffff";
        context.font = "12px system-ui, sans-serif";
        context.textAlign = "center";
        context.textBaseline = "middle";
        context.fillText(measure === "bytes" ? amount(values[i]) : count(values[i]), x + cell / 2, y + cell / 2);
      }
    }
    if (chosen) {
      context.strokeStyle = colour("text");
      context.lineWidth = 2;
      context.strokeRect(transform.x + chosen.to * cell, transform.y + chosen.from * cell, Math.max(3, cell), Math.max(3, cell));
    }
    const ticks = (extent) => d3.scaleLinear([-extent / cell, (kMatrixSide - extent) / cell], [0, kMatrixSide]);
    const shown = (generator, position) => generator(position).ticks(8)
      .tickFormat((tick) => (Number.isInteger(tick) && tick >= 0 && tick < n ? tick * all.block : ""));
    axes.selectAll("g, text.title").remove();
    axes.append("g").attr("class", "axis").attr("transform", `translate(${margin.left},${margin.top})`).call(shown(d3.axisTop, ticks(transform.x)));
    axes.append("g").attr("class", "axis").attr("transform", `translate(${margin.left},${margin.top})`).call(shown(d3.axisLeft, ticks(transform.y)));
    axes.append("text").attr("class", "title").attr("x", margin.left).attr("y", 12).text("to →");
    axes.append("text").attr("class", "title").attr("x", 0).attr("y", margin.top + 12).text("from ↓");
    const bar = element("canvas", {"aria-hidden": "true"}), context2 = sized(bar, 140, 10);
    for (let x = 0; x < 140; ++x) {
      context2.fillStyle = hue(0.16 + 0.84 * x / 139);
      context2.fillRect(x, 0, 1, 10);
    }
    scale.replaceChildren(words(lowest), bar, words(highest), element("span", {}, "(logarithmic)"));
  };
  const list = () => {
    const all = data(), order = greatest(all[measure], kMostListed);
    table.replaceChildren(element("table", {}, element("thead", {}, element("tr", {}, ["from", "to", "messages", "bytes", "mean"]
      .map((head) => element("th", {scope: "col"}, head)))), element("tbody", {}, order.map((i) => element("tr", {},
      element("td", {}, named(all.from[i])), element("td", {}, named(all.to[i])), element("td", {}, count(all.messages[i])),
      element("td", {}, amount(all.bytes[i])), element("td", {}, amount(all.bytes[i] / Math.max(1, all.messages[i]))))))));
  };
  const tell = () => {
    const at = entryAt(chosen.from, chosen.to);
    readout.textContent = `From ${named(chosen.from)} to ${named(chosen.to)}: ` +
      (at === undefined ? "nothing." : `${count(data().messages[at])} messages, ${amount(data().bytes[at])}.`);
  };
  const choose = (from, to) => {
    if (from < 0 || to < 0 || from >= size() || to >= size()) return;
    chosen = {from, to};
    tell();
    draw();
  };
  const zoom = d3.zoom().extent([[0, 0], [kMatrixSide, kMatrixSide]]).translateExtent([[0, 0], [kMatrixSide, kMatrixSide]])
    .on("zoom", () => {
      transform = d3.zoomTransform(canvas);
      draw();
    });
  const reset = () => {
    zoom.scaleExtent([1, Math.max(1, size() / 4)]);
    chosen = null;
    readout.textContent = "Point at a square, or use the arrow keys. The wheel, + and − zoom; Escape shows all.";
    d3.select(canvas).call(zoom.transform, d3.zoomIdentity);
    list();
  };
  d3.select(canvas).call(zoom).on("dblclick.zoom", null);
  canvas.addEventListener("pointermove", (event) => {
    const cell = kMatrixSide / size() * transform.k;
    choose(Math.floor((event.offsetY - transform.y) / cell), Math.floor((event.offsetX - transform.x) / cell));
  });
  canvas.addEventListener("keydown", (event) => {
    const step = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0]}[event.key];
    if (step) {
      event.preventDefault();
      if (chosen) choose(chosen.from + step[0], chosen.to + step[1]);
      else choose(0, 0);
    } else if (event.key === "+" || event.key === "-") {
      d3.select(canvas).call(zoom.scaleBy, event.key === "+" ? 1.5 : 1 / 1.5);
    } else if (event.key === "Escape") {
      reset();
    }
  });
  const controls = element("div", {class: "controls"},
    choice("Colour", [["bytes", "bytes"], ["messages", "messages"]], measure, (value) => {
      measure = value;
      list();
      draw();
    }));
  if (matrices.nodes)
    controls.append(choice("Between", [["ranks", "ranks"], ["nodes", "node processes"]], by, (value) => {
      by = value;
      reset();
    }));
  const left = element("div", {}, controls, holder, scale, readout);
  const side = element("div", {}, element("h3", {}, "Pairs with the most"), table);
  into.append(element("div", {class: "maps"}, left, side));
  if (data().block > 1)
    into.append(element("p", {class: "note"}, `There are ${count(matrices.ranks.items)} ranks: a square stands for ${data().block} × ${data().block} of them.`));
  if (matrices.others && matrices.others.messages > 0)
    into.append(element("p", {class: "note"}, `${count(matrices.others.messages)} messages (${amount(matrices.others.bytes)}) of ranks that ` +
      "have sent to more others than are told apart are not in this picture."));
  redraws.push(draw);
  reset();
};
