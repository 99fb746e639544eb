// ---- The page

const profiles = JSON.parse(document.getElementById("profiles").textContent).map(readProfile);
const letter = (i) => "AB"[i];
const fileName = (path) => path.split("/").pop();

const runWords = (profile) => {
  const {ranks, workers} = profile, several = profile.nodes > 1 ? ` of ${profile.nodes} node processes` : "";
  const hosts = [...new Set(profile.hosts)], named = hosts.slice(0, 4).join(", ") + (hosts.length > 4 ? ` and ${hosts.length - 4} more` : "");
  return `${count(ranks.count)} ranks on ${count(workers.count)} cores${several}, host${hosts.length > 1 ? "s" : ""} ${named}, ` +
         `${seconds(profile.seconds)}${profile.ended_early ? ", ended early" : ""}`;
};

// Draws once, or for two profiles twice, with their names above.
const forEach = (section, draw, {beside = true} = {}) => {
  if (profiles.length === 1) return draw(section, profiles[0], "A");
  const holder = element("div", {class: beside ? "pair" : ""});
  section.append(holder);
  profiles.forEach((profile, i) => {
    const half = element("div", {}, element("p", {class: "which"}, element("b", {}, letter(i)), ` ${fileName(profile.name)}`));
    holder.append(half);
    draw(half, profile, letter(i));
  });
};

const drawFindings = (into, profile) => {
  into.append(element("ol", {class: "findings"}, profile.findings.all.map((finding) => element("li", {},
    element("div", {class: "lost"}, finding.share > 0
      ? [element("b", {}, percent(finding.share)), element("span", {}, "of the cores’ time")] : [element("b", {}, "–")]),
    element("div", {}, element("h3", {}, finding.title), element("p", {}, finding.sentence), element("p", {class: "remedy"}, finding.remedy))))));
  for (const doubt of profile.findings.doubts) into.append(element("p", {class: "note"}, `Note: ${doubt}.`));
};

const drawComparison = (into) => {
  const rows = [
    ["time", (p) => p.seconds, seconds], ["ranks", (p) => p.ranks.count, count], ["cores", (p) => p.workers.count, count],
    ["ranks per core", (p) => p.ranks.count / p.workers.count, (v) => digits(v)],
    ["computing, all cores", (p) => sum(p.workers.computing), seconds], ["running in MPI, all cores", (p) => sum(p.workers.mpi), seconds],
    ["idle, all cores", (p) => sum(p.workers.idle), seconds],
    ["parallel efficiency, cores", (p) => p.efficiency.cores.parallel, percent],
    ["load balance, cores", (p) => p.efficiency.cores.balance, percent],
    ["communication efficiency, cores", (p) => p.efficiency.cores.communication, percent],
    ["messages sent", (p) => total(p.ranks, "tmpi_messages_sent"), count], ["bytes sent", (p) => total(p.ranks, "tmpi_bytes_sent"), amount],
  ];
  const [a, b] = profiles;
  into.append(element("div", {class: "scroll"}, element("table", {}, element("thead", {}, element("tr", {}, element("th"),
    profiles.map((profile, i) => element("th", {scope: "col"}, `${letter(i)}: ${fileName(profile.name)}`)), element("th", {scope: "col"}, "B ÷ A"))),
    element("tbody", {}, rows.map(([words, value, written]) => element("tr", {}, element("th", {class: "word", scope: "row"}, words),
      profiles.map((profile) => element("td", {}, written(value(profile)))),
      element("td", {}, value(a) > 0 ? (value(b) / value(a)).toFixed(2) : "–")))))));
};

const drawEfficiency = (into, profile, prefix) => into.append(efficiencyTable(profile, prefix));

const kEfficiencyWords = [
  ["Ranks, cores", "The same definitions (POP Centre of Excellence) from two points of view: each rank as if it had a core, and each core " +
    "with all that its ranks compute."],
  ["Sharing cores", "Cores ÷ ranks: what it makes that ranks share cores. Of the load balance: ranks that differ even out on their core. Of " +
    "the communication efficiency: while one rank waits, its core runs others, which hides the wait. The product is the number of ranks per core; " +
    "what a larger number brings shows a second profile beside this one."],
  ["Serialization, transfer", "The two factors of communication efficiency. They compare with the same run on a network that takes no time, which " +
    "takes a trace and a replay; tmpi has none, and does not guess."],
];

const drawNetwork = (into, profile) => {
  if (!profile.network) return;
  const used = profile.network.protocols.filter((protocol) => protocol.messages > 0);
  if (used.length === 0) return;
  into.append(element("h3", {}, "Sent to other nodes, by protocol"), element("div", {class: "scroll"}, element("table", {}, element("thead", {},
    element("tr", {}, element("th", {class: "word"}, "protocol"), ["messages", "bytes", "mean"].map((head) => element("th", {scope: "col"}, head)))),
    element("tbody", {}, used.map((protocol) => element("tr", {}, element("th", {class: "word", scope: "row"}, protocol.name),
      element("td", {}, count(protocol.messages)), element("td", {}, amount(protocol.bytes)),
      element("td", {}, amount(protocol.bytes / protocol.messages))))))),
    element("p", {class: "note"}, `By ${profile.network.device}.` + (profile.network.deferred
      ? ` ${count(profile.network.deferred)} times something had to wait until the network took more.` : "")));
};

const kCollective = /^MPI_I?(Allgather|Allreduce|Alltoall|Barrier|Bcast|Exscan|Gather|Neighbor_|Reduce|Scan|Scatter)/;

const drawCollectives = (into, profile) => {
  const rows = new Map();
  for (const call of profile.calls) {
    if (!kCollective.test(call.function)) continue;
    const row = rows.get(call.function) || {function: call.function, calls: 0, bytes: 0, wall: 0, waiting: 0, idle: 0};
    for (const name of ["calls", "bytes", "wall", "waiting", "idle"]) row[name] += call[name];
    rows.set(call.function, row);
  }
  if (rows.size === 0) return into.append(element("p", {class: "note"}, "The program has called none."));
  const ordered = [...rows.values()].sort((a, b) => b.wall - a.wall);
  into.append(element("div", {class: "scroll"}, element("table", {}, element("thead", {}, element("tr", {}, element("th", {class: "word", scope: "col"}, "function"),
    ["calls of all ranks", "bytes of a call", "time", "waiting", "cores idle"].map((head) => element("th", {scope: "col"}, head)))), element("tbody", {},
    ordered.map((row) => element("tr", {}, element("th", {class: "word", scope: "row"}, row.function), element("td", {}, count(row.calls)),
      element("td", {}, row.bytes ? amount(row.bytes / row.calls) : "–"), element("td", {}, percent(share(row.wall, profile.rankSeconds))),
      element("td", {}, percent(share(row.waiting, profile.rankSeconds))), element("td", {}, percent(share(row.idle, profile.coreSeconds)))))))));
};

const drawAlgorithms = (into, profile) => {
  const rows = [...profile.algorithms || []].sort((a, b) => b.wall - a.wall);
  if (rows.length === 0) return;
  into.append(element("h3", {}, "Blocking calls by algorithm"), element("div", {class: "scroll"}, element("table", {class: "algorithms"}, element("thead", {},
    element("tr", {}, ["collective", "algorithm"].map((head) => element("th", {class: "word", scope: "col"}, head)),
      ["calls of all ranks", "bytes of a call", "time", "of a call"].map((head) => element("th", {scope: "col"}, head)))), element("tbody", {},
    rows.map((row) => element("tr", {}, element("th", {class: "word", scope: "row"}, row.collective), element("td", {class: "word"}, row.algorithm),
      element("td", {}, count(row.calls)), element("td", {}, row.bytes ? amount(row.bytes / row.calls) : "–"),
      element("td", {}, percent(share(row.wall, profile.rankSeconds))), element("td", {}, seconds(row.wall / row.calls))))))));
};

const kSections = [
  ["first", "What to do first", "The largest loss comes first. A share is the most that mending it can gain.", (section) => forEach(section, drawFindings)],
  profiles.length > 1 ? ["beside", "Beside each other", "", drawComparison] : null,
  ["efficiency", "Efficiency", "How much of the time is computing, and where the rest goes.", (section) => {
    forEach(section, drawEfficiency, {beside: false});
    section.append(element("details", {}, element("summary", {}, "What the columns mean"),
      element("dl", {}, kEfficiencyWords.flatMap(([word, meaning]) => [element("dt", {}, word), element("dd", {}, meaning)]))));
  }],
  ["cores", "Cores", "Waiting ranks are no loss while their core runs others. An idle core is.", (section) => forEach(section, (into, profile) => {
    coreBars(into, profile);
    overTime(into, profile);
  })],
  ["ranks", "Ranks", "Shares of each rank's time.", (section) => {
    forEach(section, rankMaps, {beside: false});
    forEach(section, quantityPlot);
  }],
  ["calls", "Call sites", "", (section) => forEach(section, callTable, {beside: false})],
  ["messages", "Messages", "Who has sent to whom, collectives included.", (section) => {
    forEach(section, communicationMatrix, {beside: false});
    forEach(section, sizeHistogram);
    forEach(section, drawNetwork);
  }],
  ["collectives", "Collectives", "All call sites of a function together. Algorithms that a size or a communicator gets: tmpirun --coll help.", (section) => forEach(section, (into, profile) => {
    drawCollectives(into, profile);
    drawAlgorithms(into, profile);
  })],
  ["timeline", "Timeline", "What happened when, from a trace. The file stays in this browser.", timelineSection],
].filter(Boolean);

const show = () => {
  document.getElementById("title").textContent = profiles.map((profile) => profile.program).filter((name, i, all) => all.indexOf(name) === i).join(", ");
  document.title = `${document.getElementById("title").textContent} – tmpi report`;
  document.getElementById("run").append(...profiles.flatMap((profile, i) => profiles.length === 1 ? [runWords(profile)]
    : [element("b", {}, letter(i)), ` ${fileName(profile.name)}: ${runWords(profile)}`, element("br")]));
  const contents = document.getElementById("contents"), main = document.getElementById("sections");
  for (const [id, title, words, draw] of kSections) {
    contents.append(element("a", {href: `#${id}`}, title));
    const section = element("section", {id, "aria-labelledby": `${id}-title`}, element("h2", {id: `${id}-title`}, title),
                            words ? element("p", {class: "soft"}, words) : null);
    main.append(section);
    draw(section);
  }
  document.documentElement.dataset.drawn = Math.round(performance.now());
};

try {
  show();
} catch (error) {
  document.getElementById("sections").prepend(element("p", {class: "problem", role: "alert"}, `The page could not be drawn: ${error.message}`));
  throw error;
}
