// ---- Timeline: a window of a trace (tmpirun --trace FILE), which the reader opens; all of it stays in the browser

const kTraceProcess = {cores: 1, ranks: 2};
const kMostArrows = 80, kMostRows = 64;

const readTrace = (text) => {
  const rows = new Map(), arrows = new Map();
  const row = (name, kind, order) => {
    if (!rows.has(name)) rows.set(name, {name, kind, order, runs: [], calls: []});
    return rows.get(name);
  };
  const trace = JSON.parse(text), names = new Map();
  let begin = Infinity, end = 0;
  for (const event of trace.traceEvents) {
    if (event.ph === "X") begin = Math.min(begin, event.ts);
    if (event.ph === "M" && event.name === "thread_name") names.set(event.tid, event.args.name);
    if (event.ph === "X" && event.cat === "run") {
      row(`rank ${event.args.rank}`, "rank", event.args.rank).runs.push([event.ts, event.ts + event.dur, event.args.worker]);
      row((names.get(event.tid) || `worker ${event.args.worker}`).split(":")[0], "core", event.args.worker)
        .runs.push([event.ts, event.ts + event.dur, event.args.rank]);
      end = Math.max(end, event.ts + event.dur);
    } else if (event.ph === "X" && event.cat === "mpi") {
      row(`rank ${event.tid - 1}`, "rank", event.tid - 1).calls.push([event.ts, event.ts + event.dur, event]);
      end = Math.max(end, event.ts + event.dur);
    } else if (event.ph === "s" && event.cat === "message") {
      arrows.set(event.id, {from: event.args.from, to: event.args.to, bytes: event.args.bytes, sent: event.ts, got: null});
    } else if (event.ph === "f" && arrows.has(event.id)) {
      arrows.get(event.id).got = event.ts;
    }
  }
  for (const each of rows.values()) {
    each.runs.sort((a, b) => a[0] - b[0]);
    each.calls.sort((a, b) => a[0] - b[0]);
  }
  const all = [...rows.values()].sort((a, b) => a.order - b.order);
  return {begin, end, cores: all.filter((each) => each.kind === "core"), ranks: all.filter((each) => each.kind === "rank"),
          arrows: [...arrows.values()].filter((arrow) => arrow.got !== null).sort((a, b) => a.sent - b.sent)};
};

const timelineOf = (into, trace) => {
  const width = Math.min(1130, into.clientWidth || 1130), left = 90, height = 22;
  let shown = trace.ranks.slice(0, kMostRows), transform = d3.zoomIdentity;
  const canvas = element("canvas", {tabindex: 0, role: "img", "aria-label": "Timeline: + and - zoom, arrow keys move, Escape shows all"});
  const readout = element("p", {class: "readout", "aria-live": "polite"}, "Point at a call to read it. The wheel, + and − zoom, arrow keys move, Escape shows all.");
  const axis = d3.create("svg").attr("width", width).attr("height", 24);
  const base = d3.scaleLinear([trace.begin, trace.end || 1], [left, width - 28]);
  const draw = () => {
    const context = sized(canvas, width, shown.length * height + 4), x = transform.rescaleX(base);
    const place = new Map(shown.map((row, i) => [row.name, i]));
    context.font = "12px system-ui, sans-serif";
    context.textBaseline = "middle";
    const visible = (pair) => pair[1] >= x.invert(left) && pair[0] <= x.invert(width);
    shown.forEach((row, i) => {
      const y = i * height;
      context.fillStyle = colour("none");
      context.fillRect(left, y + 2, width - left, height - 4);
      context.fillStyle = colour("computing");
      for (const run of row.runs)
        if (visible(run)) context.fillRect(Math.max(left, x(run[0])), y + 2, Math.max(0.5, x(run[1]) - Math.max(left, x(run[0]))), height - 11);
      for (const call of row.calls) {
        if (!visible(call)) continue;
        const from = Math.max(left, x(call[0])), wide = Math.max(0.5, x(call[1]) - from);
        context.fillStyle = colour("mpi");
        context.fillRect(from, y + height - 9, wide, 7);
        if (wide > 110) {
          context.fillStyle = colour("text");
          context.fillText(call[2].name, from + 4, y + 7, wide - 8);
        }
      }
      context.fillStyle = colour("page");
      context.fillRect(0, y, left, height);
      context.fillStyle = colour("text");
      context.fillText(row.name, 0, y + height / 2, left - 8);
    });
    const seen = trace.arrows.filter((arrow) => visible([arrow.sent, arrow.got]) && place.has(`rank ${arrow.from}`) && place.has(`rank ${arrow.to}`));
    if (seen.length <= kMostArrows) {
      context.strokeStyle = colour("text");
      context.lineWidth = 0.7;
      context.beginPath();
      for (const arrow of seen) {
        context.moveTo(Math.max(left, x(arrow.sent)), (place.get(`rank ${arrow.from}`) + 0.5) * height);
        context.lineTo(Math.max(left, x(arrow.got)), (place.get(`rank ${arrow.to}`) + 0.5) * height);
      }
      context.stroke();
    }
    axis.selectAll("g").remove();
    axis.append("g").attr("class", "axis").call(d3.axisBottom(x).ticks(width / 160).tickFormat((tick) => seconds(tick / 1e6)));
  };
  const zoom = d3.zoom().scaleExtent([1, 1e5]).extent([[left, 0], [width - 28, 1]]).translateExtent([[left, 0], [width - 28, 1]])
    .on("zoom", () => {
      transform = d3.zoomTransform(canvas);
      draw();
    });
  d3.select(canvas).call(zoom).on("dblclick.zoom", null);
  canvas.addEventListener("keydown", (event) => {
    const at = d3.select(canvas), step = 60 / transform.k;
    if (event.key === "+" || event.key === "-") at.call(zoom.scaleBy, event.key === "+" ? 1.5 : 1 / 1.5);
    else if (event.key === "ArrowLeft" || event.key === "ArrowRight") at.call(zoom.translateBy, event.key === "ArrowLeft" ? step : -step, 0);
    else if (event.key === "Escape") at.call(zoom.transform, d3.zoomIdentity);
    else return;
    event.preventDefault();
  });
  canvas.addEventListener("pointermove", (event) => {
    const row = shown[Math.floor(event.offsetY / height)], at = transform.rescaleX(base).invert(event.offsetX);
    if (!row) return;
    const call = row.calls.find((each) => each[0] <= at && at <= each[1]), run = row.runs.find((each) => each[0] <= at && at <= each[1]);
    const who = run ? (row.kind === "core" ? ` runs rank ${run[2]}` : ` runs on worker ${run[2]}`) : row.kind === "core" ? " is idle" : " is suspended";
    const {args} = call ? call[2] : {};
    readout.textContent = `${seconds(at / 1e6)}: ${row.name}${who}` + (call ? `, in ${call[2].name} (${args.at}) for ${seconds((call[1] - call[0]) / 1e6)}` +
      `, of that ${seconds(args.waiting_us / 1e6)} suspended${args.peer !== undefined ? `, peer ${args.peer}` : ""}${args.bytes ? `, ${amount(args.bytes)}` : ""}` : "") + ".";
  });
  const rows = {ranks: trace.ranks, cores: trace.cores};
  into.append(element("div", {class: "controls"}, choice("Rows", [["ranks", "ranks"], ["cores", "cores"]], "ranks", (value) => {
    shown = rows[value].slice(0, kMostRows);
    draw();
  })), element("p", {class: "note"}, "Above: runs (blue) or suspended. Below: in an MPI call (orange). Lines are messages, where few are in sight." +
    (Math.max(trace.ranks.length, trace.cores.length) > kMostRows ? ` The first ${kMostRows} rows are shown.` : "")), canvas, axis.node(), readout);
  drawn(draw);
};

const timelineSection = (section) => {
  const holder = element("div"), given = document.getElementById("trace").textContent;
  const file = element("input", {type: "file", "aria-label": "Trace file", onchange: async () => {
    holder.textContent = "";
    try {
      timelineOf(holder, readTrace(await file.files[0].text()));
    } catch (error) {
      holder.append(element("p", {class: "problem", role: "alert"}, `This is no trace that tmpirun --trace has written: ${error.message}`));
    }
  }});
  if (given !== "null") {
    const trace = readTrace(given);
    section.append(element("p", {class: "note"}, `A window of the trace: ${seconds((trace.end - trace.begin) / 1e6)} in the middle of the job` +
      "."), holder);
    timelineOf(holder, trace);
  }
  section.append(element("p", {}, "Open a whole trace of the same run (tmpirun --trace FILE ...): ", file));
  if (given === "null") section.append(holder);
};
