// SPDX-License-Identifier: Apache-2.0
// Latency by percentile, as HdrHistogram's plots have it: each nine is as wide as the last. The same levels and
// values as `weir report -f percentiles`.

const PERCENTILE_STEPS = 9; // in each decade: 90, 91 … 98, then 99 %
const LINES_MOST = 6; // there are no more looks

// [nines, µs] of each level that at least one packet is beyond, and of the slowest packet.
function percentilePoints(histogram) {
  const merged = new Map();
  for (const [low, high, packets] of histogram) merged.set((low + high) / 2, (merged.get((low + high) / 2) || 0) + packets);
  const buckets = [...merged].sort((one, other) => one[0] - other[0]);
  const total = buckets.reduce((sum, [, packets]) => sum + packets, 0);
  if (!total) return [];
  const points = [];
  let [at, seen] = [0, buckets[0][1]];
  for (let step = 0; ; step += 1) {
    const above = 10 - (step % PERCENTILE_STEPS);
    const decade = Math.floor(step / PERCENTILE_STEPS) + 1;
    const of = 10 ** decade;
    if (above * total < of) break;
    const rank = Math.max(1, total - Math.floor((above * total) / of));
    while (seen < rank) {
      at += 1;
      seen += buckets[at][1];
    }
    points.push([decade - Math.log10(above), buckets[at][0]]);
  }
  points.push([Math.log10(total), buckets[buckets.length - 1][0]]);
  return points;
}

// 0, 90, 99, 99.9 …
const ninesName = (nines) => (nines < 2 ? String(nines * 90) : `99${nines > 2 ? '.' : ''}${'9'.repeat(nines - 2)}`);
const percentName = (nines) => `${Number((100 * (1 - 10 ** -nines)).toPrecision(Math.ceil(nines) + 2))} %`;

// Lines: name and histogram each.
function percentileFigure(parent, title, lines) {
  const drawn_ = lines.map((line) => ({ name: line.name, points: percentilePoints(line.histogram) }))
    .filter((line) => line.points.length);
  if (!drawn_.length) return;
  const last = Math.ceil(Math.max(...drawn_.flatMap((line) => line.points.map(([nines]) => nines))));
  const valueAt = (line, nines) => line.points.filter(([at]) => at <= nines + 1e-9).pop()[1];
  const box = figure(parent, title, `${title}. The CSV of percentiles has the numbers.`,
    (width) => ({
      data: uPlot.join(drawn_.map((line) => [line.points.map(([at]) => at), line.points.map(([, us]) => us)])),
      options: {
        height: 230,
        padding: [12, 24, 0, 0],
        scales: { x: { time: false, range: [0, last] }, y: { distr: 3 } },
        axes: [
          axis('percentile, %', {
            size: 24,
            splits: () => Array.from({ length: last + 1 }, (_, at) => at),
            values: (_, splits) => {
              const each = Math.ceil((last * 52) / Math.max(1, width - 60)); // names must not touch
              return splits.map((at) => (at % each ? '' : ninesName(at)));
            },
          }),
          axis('latency, µs', { size: 52 }),
        ],
        series: [{}, ...lineLooks(drawn_.map((line) => line.name)).map((look) => ({ ...look, spanGaps: true }))],
        cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
      },
    }),
    (plot) => {
      const nines = plot.data[0][plot.cursor.idx];
      return [percentName(nines), ...drawn_.map((line) => {
        const end = line.points[line.points.length - 1];
        return nines > end[0] ? `${line.name}: slowest ${digits(end[1])} µs` : `${line.name}: ${digits(valueAt(line, nines))} µs`;
      })];
    });
  keysOf(box, drawn_.map((line) => line.name));
}

// Of each load of a case the slower direction, all valid trials together.
function percentileLoads(one) {
  const groups = new Map();
  const add = (load, trials) => trials.filter((trial) => trial.valid).forEach((trial) => trial.streams
    .filter((stream) => stream.histogram.length)
    .forEach((stream) => {
      if (!groups.has(load)) groups.set(load, new Map());
      const ways = groups.get(load);
      if (!ways.has(stream.direction)) ways.set(stream.direction, []);
      ways.get(stream.direction).push(...stream.histogram);
    }));
  one.delays.forEach((point) => add((point.first_packets ? 'first packets ' : '') + point.load, point.trials));
  [...one.trials, ...one.curve].forEach((trial) => add(trial.purpose, [trial]));
  const slowness = (histogram) => {
    const points = percentilePoints(histogram);
    const p99 = points.find(([nines]) => nines === 2);
    return p99 ? p99[1] : points[points.length - 1][1];
  };
  return [...groups].map(([load, ways]) => {
    const [[direction, histogram]] = [...ways].sort((a, b) => slowness(b[1]) - slowness(a[1]));
    return { load, arrow: { 'left-to-right': '→', 'right-to-left': '←' }[direction] || direction, histogram };
  });
}

// One plot for each chain, frame size and load with a line for each technology; of one technology alone a plot
// for each chain and frame size with a line for each load.
function percentiles(result) {
  const parent = document.getElementById('percentile-plots');
  if (!parent) return;
  const every = built(result).flatMap((setup) => setup.cases.flatMap((one) => percentileLoads(one).map((found) => ({
    ...found, name: nameOf(setup), place: `${setup.chain} · ${frameLabel(one.frame)}`,
  }))));
  const several = unique(every.map((one) => one.name)).length > 1;
  const title = (one) => (several ? `${one.place} · ${one.load}` : one.place);
  const left = new Set();
  for (const name of unique(every.map(title))) {
    const here = every.filter((one) => title(one) === name);
    const lines = spread(here, LINES_MOST);
    here.filter((one) => !lines.includes(one)).forEach((one) => left.add(several ? one.name : one.load));
    percentileFigure(parent, name, lines.map((one) => ({
      name: `${several ? one.name : one.load} ${one.arrow}`, histogram: one.histogram,
    })));
  }
  document.getElementById('percentile-left').textContent = left.size
    ? `Not drawn, for want of room, but in the CSV: ${[...left].join(', ')}.` : '';
}

// So many of them, the first and the last among them.
function spread(list, most) {
  if (list.length <= most) return list;
  return Array.from({ length: most }, (_, at) => list[Math.round((at * (list.length - 1)) / (most - 1))]);
}
