// SPDX-License-Identifier: Apache-2.0
// A soak over time: rate, loss, delay, stalls and memory, with events marked and gaps left open; and quantiles
// of its first parts against all of it.

function soaks(result) {
  const all = result.setups.flatMap((setup) => setup.cases).map((one) => one.soak).filter((soak) => soak);
  document.querySelectorAll('.soak-plots').forEach((parent) => {
    const keys = parent.parentElement.querySelector('.soak-keys');
    const render = () => {
      clear(parent);
      keys.replaceChildren();
      soakPlots(parent, keys, all[Number(parent.dataset.soak)], parent.dataset.unit);
    };
    addEventListener('themechange', render);
    render();
  });
}

function soakPlots(parent, keys, soak, rate) {
  const row = el('div', { className: 'plots whole' });
  parent.append(row);
  if (!soak.intervals.length) {
    row.append(el('p', { className: 'dim' }, 'No interval was finished.'));
    return;
  }
  const points = withGaps(soak.intervals);
  const minutes = points.map((one) => one.minutes);
  const of = (read) => points.map((one) => (one.interval ? read(one.interval) : null));
  const sum = (list, read) => list.reduce((total, one) => total + read(one), 0);
  const seconds = (one) => Math.max(1e-9, one.to_s - one.from_s);
  const rateOf = (one, read) => (sum(one.streams, read) / seconds(one)) * PER_PPS[rate];
  const worst = (field) => (one) => {
    const seen = one.streams.map((stream) => stream.latency).filter((latency) => latency);
    return seen.length ? Math.max(...seen.map((latency) => latency[field])) : null;
  };
  const jitter = (one) => {
    const seen = one.streams.map((stream) => stream.jitter).filter((found) => found);
    return seen.length ? Math.max(...seen.map((found) => found.max_us)) : null;
  };
  const names = unique(soak.intervals.flatMap((one) => one.processes.map((process) => process.name)));
  const process = (name, read) => (one) => {
    const found = one.processes.find((each) => each.name === name);
    return found ? read(found) : null;
  };
  const shown = [
    ['Rate', rate, false, [['offered', of((one) => rateOf(one, (s) => s.offered))],
      ['delivered', of((one) => rateOf(one, (s) => s.delivered))]]],
    ['Loss', 'packets a second', false, [['lost', of((one) => sum(one.streams, (s) => Math.max(0, s.lost)) / seconds(one))]]],
    ['Delay, slower direction', 'µs', true, [['P50', of(worst('p50_us'))], ['P99', of(worst('p99_us'))],
      ['P99.9', of(worst('p999_us'))], ['max', of(worst('max_us'))], ['jitter max', of(jitter)]]],
    ['Stalls of all cores', 'ms a second', false, [['all', of((one) => sum(one.stalls, (s) => s.total_us) / 1e3 / seconds(one))],
      ['host', of((one) => sum(one.stalls, (s) => s.host_us) / 1e3 / seconds(one))]]],
    ['Resident memory', 'MiB', false, names.map((name) => [name, of(process(name, (p) => p.rss_kib / 1024))])],
    ['Buffers in use', 'thousands', false, [['all pools', of((one) => sum(one.pools, (p) => p.size - p.free) / 1e3)]]],
  ];
  for (const [title, unit, log, series] of shown) {
    const box = figure(row, `${title}, ${unit}`, `${title} over time. The CSV has the numbers.`,
      (width) => overTime(soak, minutes, series, unit, log, width),
      (plot) => [`${plot.data[0][plot.cursor.idx].toFixed(2)} min`,
        ...series.map(([name, values]) => `${name}: ${digits(values[plot.cursor.idx])} ${unit}`)]);
    keysOf(box, series.map(([name]) => name));
  }
  laneFigure(row, 'Cores away, share of each interval', 'minutes since the beginning', soakLanes(soak));
  heatFigure(row, keys, soak);
  quantileFigure(row, soak);
  keys.append(el('li', {}, 'Marks at the top: ▾ loss, ▿ stall of 1 ms or more.'));
}

// A point without values where a segment ends, so that lines break there.
function withGaps(intervals) {
  const points = [];
  intervals.forEach((interval, at) => {
    if (at > 0 && interval.segment !== intervals[at - 1].segment)
      points.push({ minutes: (intervals[at - 1].to_s + interval.from_s) / 120, interval: null });
    points.push({ minutes: interval.to_s / 60, interval });
  });
  return points;
}

function overTime(soak, minutes, series, unit, log, width) {
  const most = Math.max(0, ...series.flatMap(([, values]) => values.filter((value) => value !== null)));
  const top = most || 1; // nothing: an axis from 0 to 1
  const data = [minutes, ...series.map(([, values]) => values.map((value) => (log && value === 0 ? null : value)))];
  return {
    data,
    options: {
      height: 190,
      padding: [12, 8, 0, 0],
      scales: { x: { time: false }, y: log ? { distr: 3 } : { range: [0, top * 1.12] } },
      axes: [axis('minutes since the beginning', { size: 24 }), axis(unit, { size: 52, ...(log ? {} : { values: tickNames }) })],
      series: [{}, ...lineLooks(series.map(([name]) => name))],
      cursor: { y: false, points: { show: false }, drag: { x: true, y: false } },
      hooks: { draw: [(plot) => eventMarks(plot, soak)] },
    },
  };
}

function eventMarks(plot, soak) {
  const context = plot.ctx;
  const { left, top, width } = plot.bbox;
  context.save();
  context.font = `${11 * devicePixelRatio}px ${css('--sans')}`;
  context.textAlign = 'center';
  // Losses last, and stalls only where they do not hide each other.
  const events = soak.intervals.flatMap((one) => one.events).sort((one, other) => (one.kind === 'loss') - (other.kind === 'loss'));
  let stallAt = -Infinity;
  for (const event of events) {
    const x = plot.valToPos(event.offset_s / 60, 'x', true);
    if (x < left || x > left + width) continue;
    if (event.kind === 'stall' && Math.abs(x - stallAt) < 8 * devicePixelRatio) continue;
    if (event.kind === 'stall') stallAt = x;
    context.fillStyle = event.kind === 'loss' && !event.out_of_order ? css('--bad') : css('--dim');
    context.fillText(event.kind === 'loss' && !event.out_of_order ? '▾' : '▿', x, top - 1);
  }
  context.restore();
}

// How far a short run sees: delay by percentile of each first part, and of all.
function quantileFigure(parent, soak) {
  const lines = soak.prefixes.map((prefix) => ({ name: prefix.name, stream: slower(prefix) }))
    .filter(({ stream }) => stream)
    .map(({ name, stream }) => ({ name, histogram: stream.histogram }));
  percentileFigure(parent, 'Delay by percentile: first parts and all, µs', lines);
}

function slower(prefix) {
  const measured = prefix.streams.filter((stream) => stream.latency);
  return measured.sort((one, other) => other.latency.p99_us - one.latency.p99_us)[0];
}
