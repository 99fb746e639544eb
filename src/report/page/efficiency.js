// ---- POP's efficiencies (https://pop-coe.eu/node/69), of ranks and of cores

// Of useful computation: load balance = mean / max, communication efficiency = max / time; their product is the parallel
// efficiency. Communication efficiency = serialization x transfer; those need a replay on an ideal network.
const efficiencyOf = (computing, time) => {
  const mean = sum(computing) / computing.length, max = computing[most(computing)];
  return {parallel: mean / time, balance: max > 0 ? mean / max : 1, communication: max / time};
};

const efficiencies = (profile) => {
  const ranks = efficiencyOf(profile.ranks.computing, profile.seconds);
  const cores = efficiencyOf(profile.workers.computing, profile.seconds);
  const sharing = {};  // what ranks that share cores make of it
  for (const name of Object.keys(ranks)) sharing[name] = ranks[name] > 0 ? cores[name] / ranks[name] : 1;
  return {ranks, cores, sharing};
};

const kEfficiencies = [
  ["parallel", "Parallel efficiency", 0, "computing ÷ (time × ranks, or cores): the product of the two below"],
  ["balance", "Load balance", 1, "mean of computing ÷ the longest: 100 % if all compute equally long"],
  ["communication", "Communication efficiency", 1, "the longest computing ÷ time: what is left is MPI, waiting and idling"],
];

const efficiencyTable = (profile, prefix) => {
  const {ranks, cores, sharing} = profile.efficiency;
  const cell = (view, name, value) => element("td", {}, figure(`${prefix}.${view}.${name}`, value, percent(value)),
                                              element("span", {class: "bar"}, element("i", {style: `width:${100 * Math.min(1, value)}%`})));
  const row = ([name, words, level, meaning]) => element("tr", {class: `level${level}`},
    element("th", {class: "word", scope: "row"}, words), cell("ranks", name, ranks[name]),
    element("td", {}, figure(`${prefix}.sharing.${name}`, sharing[name], times(sharing[name]))), cell("cores", name, cores[name]),
    element("td", {class: "word"}, meaning));
  const unknown = (words, meaning) => element("tr", {class: "level2"}, element("th", {class: "word", scope: "row"}, words),
    element("td", {class: "unknown", colspan: 3}, "not known from a profile"), element("td", {class: "word"}, meaning));
  return element("div", {class: "scroll"}, element("table", {class: "efficiency"},
    element("thead", {}, element("tr", {}, element("th", {}), ...[["ranks", `${profile.ranks.count} ranks`], ["", "sharing cores"],
      ["", `${profile.workers.count} cores`]].map(([, words]) => element("th", {scope: "col"}, words)), element("th", {class: "word"}, "is"))),
    element("tbody", {}, ...kEfficiencies.map(row),
      unknown("Serialization", "time on an ideal network would tell it: ranks that wait for each other whatever the network"),
      unknown("Transfer", "time on an ideal network ÷ time: what messages themselves take"))));
};
