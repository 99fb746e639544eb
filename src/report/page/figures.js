// ---- Figures: what the page was given, and what follows from it

// A column is an array, or one number if all are the same.
const column = (data, length) => (Array.isArray(data) ? data : new Array(length).fill(data));

const opened = (table) => {
  const all = {count: table.count};
  for (const [name, data] of Object.entries(table)) {
    if (name === "variables")
      all.variables = Object.fromEntries(Object.entries(data).map(([key, value]) => [key, column(value, table.count)]));
    else if (name !== "count")
      all[name] = column(data, table.count);
  }
  return all;
};

const sum = (values) => {
  let all = 0;
  for (const value of values) all += value;
  return all;
};
const most = (values) => {
  let at = 0;
  for (let i = 1; i < values.length; ++i) if (values[i] > values[at]) at = i;
  return at;
};
// Places of the `number` greatest, in order: not all need sorting for that.
const greatest = (values, number) => {
  const best = [];
  for (let i = 0; i < values.length; ++i) {
    if (best.length === number && values[i] <= values[best[number - 1]]) continue;
    let at = best.length;
    while (at > 0 && values[best[at - 1]] < values[i]) --at;
    best.splice(at, 0, i);
    if (best.length > number) best.pop();
  }
  return best;
};
const least = (values) => {
  let at = 0;
  for (let i = 1; i < values.length; ++i) if (values[i] < values[at]) at = i;
  return at;
};

const readProfile = (given) => {
  const profile = {...given, ranks: opened(given.ranks), workers: opened(given.workers)};
  const {ranks, workers} = profile;
  workers.short = workers.name.map((name) => name.split(":")[0]);
  workers.node = workers.name.map((name) => Number((/^node (\d+) /.exec(name) || [0, 0])[1]));
  ranks.node = ranks.worker.map((worker) => workers.node[worker]);
  profile.nodes = profile.hosts.length;
  profile.coreSeconds = sum(workers.busy) + sum(workers.idle);
  profile.rankSeconds = sum(ranks.wall);
  profile.efficiency = efficiencies(profile);
  for (const call of profile.calls) call.ranks = opened(call.ranks);
  return profile;
};

const total = (table, name) => (table.variables && table.variables[name] ? sum(table.variables[name]) : 0);
