// ---- Elements of the page, and numbers as words

const element = (tag, attributes, ...children) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value != null) made.setAttribute(name, value);
  }
  made.append(...children.flat().filter((child) => child != null));
  return made;
};

// A number that is in the JSON as well: a test compares the two.
const figure = (name, value, text) => element("span", {"data-figure": name, "data-value": value}, text);

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

const digits = (value, most = 3) => {
  if (value === 0) return "0";
  const before = Math.floor(Math.log10(Math.abs(value))) + 1;
  return value.toFixed(Math.max(0, Math.min(most, most - before)));
};
const seconds = (value) => {
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size < 0.9995e-3) return `${digits(value * 1e6)} µs`;
  if (size < 0.9995) return `${digits(value * 1e3)} ms`;
  return `${digits(value)} s`;
};
const amount = (value) => {
  if (value < 9999.5) return `${Number.isInteger(value) ? value : digits(value)} B`;
  const units = ["KiB", "MiB", "GiB", "TiB", "PiB"];
  let unit = -1;
  do value /= 1024, ++unit; while (value >= 1023.5 && unit + 1 < units.length);
  return `${digits(value)} ${units[unit]}`;
};
const grouped = d3.format(",");
const count = (value) => (Number.isInteger(value) ? grouped(value) : digits(value));
const percent = (share) => `${(100 * share).toFixed(share > 0 && share < 0.0995 ? 1 : 0)} %`;
const times = (value) => `× ${value.toFixed(2)}`;

// What is drawn on a canvas is drawn again when the scheme or the width changes.
const redraws = [];
const drawn = (draw) => {
  redraws.push(draw);
  draw();
};
const redrawAll = () => redraws.forEach((draw) => draw());
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawAll);

// A canvas of this size in CSS pixels, sharp on every screen; its context.
const sized = (canvas, width, height) => {
  const dense = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * dense);
  canvas.height = Math.round(height * dense);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  context.setTransform(dense, 0, 0, dense, 0, 0);
  return context;
};

// Colours of a scale from `low` to `high`, few enough that none is made twice.
const kShades = 128;
const shades = (low, high) => {
  const made = d3.range(kShades).map((i) => d3.interpolateLab(low, high)(i / (kShades - 1)));
  return (value) => made[Math.round(Math.max(0, Math.min(1, value)) * (kShades - 1))];
};

const choice = (label, options, chosen, change) => {
  const select = element("select", {onchange: () => change(select.value)},
                         options.map(([value, text]) => element("option", {value, selected: value === chosen}, text)));
  return element("label", {}, `${label} `, select);
};

// Fills that differ without colour: a kind of time is plain, hatched one way, hatched the other, or dotted.
const kinds = {
  computing: {name: "computing", hatch: null},
  mpi: {name: "running in MPI", hatch: "M0,6 L6,0"},
  library: {name: "other work of the library", hatch: "M0,0 L6,6 M0,6 L6,0"},
  idle: {name: "idle", hatch: "M0,0 L6,6"},
};
let patterns = 0;
const fills = (svg, names) => {
  const defs = svg.append("defs"), fill = {};
  for (const name of names) {
    const id = `fill${++patterns}`;
    const pattern = defs.append("pattern").attr("id", id).attr("width", 6).attr("height", 6).attr("patternUnits", "userSpaceOnUse");
    pattern.append("rect").attr("width", 6).attr("height", 6).style("fill", `var(--${name})`);
    if (kinds[name].hatch) pattern.append("path").attr("class", "hatch").attr("d", kinds[name].hatch).attr("stroke-width", 1.2);
    fill[name] = `url(#${id})`;
  }
  return fill;
};
const legend = (names) => element("div", {class: "legend"}, names.map((name) => {
  const svg = d3.create("svg").attr("width", 22).attr("height", 12).attr("aria-hidden", "true");
  const fill = fills(svg, [name]);
  svg.append("rect").attr("width", 22).attr("height", 12).attr("fill", fill[name]);
  return element("span", {}, svg.node(), kinds[name].name);
}));
