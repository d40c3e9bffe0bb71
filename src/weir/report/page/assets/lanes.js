// SPDX-License-Identifier: Apache-2.0
// When cores were away: a lane for each core over time, filled as far as somebody else had it, by whom. The
// table below has the same times.

const LANE_PX = 34;
const LANE_BIN_PX = 3;
const LANE_TAKERS = 5; // have a look of their own; the others share one

const laneWho = (by) => ({ host: 'the host', slowed: 'slowed' }[by] || by.replace(/ \(\d+\)$/, ''));

// Trials one behind the other, by setup: absences in pieces of them, and where each setup begins.
function trialLanes(result) {
  const lanes = { end: 0, bands: [], spans: [], cores: new Set() };
  for (const setup of built(result)) {
    const from = lanes.end;
    const topology = setup.topology;
    const cores = topology ? [...topology.nodes.flatMap((node) => node.cores), ...topology.switch_cores] : [];
    cores.forEach((core) => lanes.cores.add(core));
    for (const one of setup.cases) {
      const trials = [...one.trials, ...one.curve, ...one.delays.flatMap((point) => point.trials)];
      for (const trial of trials.filter(({ purpose }) => purpose !== 'calibration' && purpose !== 'preflight')) {
        for (const away of trial.away) {
          const [from, to] = [lanes.end + away.from_us / 1e6, lanes.end + away.to_us / 1e6];
          lanes.spans.push({ core: away.core, by: laneWho(away.by), from, to, seconds: away.us / 1e6 });
          lanes.cores.add(away.core);
        }
        lanes.end += trial.duration_s;
      }
    }
    if (lanes.end > from) lanes.bands.push({ name: `${nameOf(setup)} ${setup.chain}`, from, to: lanes.end });
  }
  return lanes;
}

// Of a soak: how much of each interval. What the host had is without what programs are known to have had, and
// without time of which nobody knows: of a core that no loop polls that is all that was not recorded.
function soakLanes(soak) {
  const lanes = { end: 0, bands: [], spans: [], cores: new Set() };
  const polled = new Set(soak.intervals.flatMap((one) => one.stalls.map((stall) => stall.core)));
  for (const one of soak.intervals) {
    const [from, to] = [one.from_s / 60, one.to_s / 60];
    const add = (core, by, us) => {
      if (us > 0) lanes.spans.push({ core, by, from, to, seconds: Math.min(to - from, us / 6e7) });
      lanes.cores.add(core);
    };
    one.taken.forEach((taken) => add(taken.core, laneWho(taken.by), taken.us));
    for (const stall of one.stalls) {
      const known = one.taken.filter((taken) => taken.core === stall.core).reduce((sum, taken) => sum + taken.us, 0);
      const unknown = one.unrecorded.find((lacks) => lacks.core === stall.core);
      const unrecorded = Math.min(stall.host_us - known, unknown ? unknown.us : 0);
      add(stall.core, 'not recorded', unrecorded);
      add(stall.core, 'the host', stall.host_us - known - Math.max(0, unrecorded));
    }
    one.unrecorded.filter(({ core }) => !polled.has(core)).forEach(({ core, us }) => add(core, 'not recorded', us));
    lanes.end = to;
  }
  return lanes;
}

// `seconds` of a span are in the unit of the axis.
function laneFigure(parent, title, label, lanes) {
  if (!lanes.spans.length) return;
  const cores = [...lanes.cores].sort((one, other) => one - other);
  const had = new Map();
  for (const one of lanes.spans) had.set(one.by, (had.get(one.by) || 0) + one.seconds);
  const ranked = [...had].sort((one, other) => other[1] - one[1]).map(([by]) => by);
  const lookOf = (by) => Math.min(ranked.indexOf(by), LANE_TAKERS);
  const named = ranked.length > LANE_TAKERS + 1 ? [...ranked.slice(0, LANE_TAKERS), `${ranked.length - LANE_TAKERS} others`] : ranked;
  let bins = [];
  const box = figure(parent, title, `${title}, for each core. The table has the same.`,
    (width) => {
      const count = Math.max(20, Math.floor((width - 60) / LANE_BIN_PX));
      bins = laneBins(lanes, cores, count);
      const wide = lanes.end / count;
      return {
        data: [bins.map((_, at) => (at + 0.5) * wide), bins.map(() => 0)],
        options: {
          height: 62 + cores.length * LANE_PX,
          padding: [lanes.bands.length > 1 ? 18 : 6, 8, 0, 0],
          scales: { x: { time: false, range: [0, lanes.end] }, y: { range: [0, cores.length] } },
          axes: [
            axis(label, { size: 24 }),
            axis('', {
              size: 54,
              labelSize: 0,
              grid: { show: false },
              splits: () => cores.map((_, at) => cores.length - at - 0.5),
              values: () => cores.map((core) => `core ${core}`),
            }),
          ],
          series: [{}, { paths: () => null, points: { show: false } }],
          cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
          hooks: { draw: [(plot) => laneCells(plot, bins, cores, lookOf), (plot) => laneBands(plot, lanes.bands)] },
        },
      };
    },
    (plot) => laneTip(plot, bins[plot.cursor.idx], cores, lanes));
  box.append(el('ul', { className: 'keys' }, ...named.map((name, at) =>
    el('li', {}, el('i', { className: `key k${at % 6}` }), name))));
  if (lanes.bands.length > 1) {
    box.append(el('ol', { className: 'keys bands' }, ...lanes.bands.map((band) => el('li', {}, band.name))));
  }
}

// By place on the axis: for each core who had it for how much of the bin.
function laneBins(lanes, cores, count) {
  const bins = Array.from({ length: count }, () => new Map());
  const wide = lanes.end / count;
  for (const one of lanes.spans) {
    const part = one.seconds / (one.to - one.from); // of the span's time
    const last = Math.min(count - 1, Math.floor(one.to / wide));
    for (let at = Math.max(0, Math.floor(one.from / wide)); at <= last; at += 1) {
      const share = (part * (Math.min(one.to, (at + 1) * wide) - Math.max(one.from, at * wide))) / wide;
      if (share <= 0) continue;
      if (!bins[at].has(one.core)) bins[at].set(one.core, new Map());
      const by = bins[at].get(one.core);
      by.set(one.by, (by.get(one.by) || 0) + share);
    }
  }
  return bins;
}

function laneCells(plot, bins, cores, lookOf) {
  const pen = plot.ctx;
  const { left, top, width, height } = plot.bbox;
  const lane = height / cores.length;
  const room = lane * 0.78;
  pen.save();
  pen.strokeStyle = css('--rule');
  pen.lineWidth = devicePixelRatio;
  cores.forEach((_, row) => {
    pen.beginPath();
    pen.moveTo(left, top + (row + 1) * lane);
    pen.lineTo(left + width, top + (row + 1) * lane);
    pen.stroke();
  });
  const fills = Array.from({ length: LANE_TAKERS + 1 }, (_, at) => hatch(pen, at, technologyColour(at)));
  bins.forEach((bin, at) => {
    const from = Math.round(left + (at * width) / bins.length);
    const wide = Math.round(left + ((at + 1) * width) / bins.length) - from;
    cores.forEach((core, row) => {
      let base = top + (row + 1) * lane;
      let free = 1;
      for (const [by, share] of [...(bin.get(core) || [])].sort((one, other) => lookOf(one[0]) - lookOf(other[0]))) {
        // Two can be seen at once, as a program on a core that is slowed: never more than the whole.
        const part = Math.min(free, share);
        const high = Math.max(devicePixelRatio, part * room);
        pen.fillStyle = fills[lookOf(by)];
        pen.fillRect(from, base - high, wide, high);
        base -= high;
        free -= part;
      }
    });
  });
  pen.restore();
}

// Where each setup begins: its number, as in the list below.
function laneBands(plot, bands) {
  if (bands.length < 2) return;
  const pen = plot.ctx;
  const { top, height } = plot.bbox;
  pen.save();
  pen.strokeStyle = pen.fillStyle = css('--dim');
  pen.lineWidth = devicePixelRatio;
  pen.setLineDash([2 * devicePixelRatio, 3 * devicePixelRatio]);
  pen.font = `${10.5 * devicePixelRatio}px ${css('--sans')}`;
  pen.textAlign = 'center';
  bands.forEach((band, at) => {
    const [from, to] = [band.from, band.to].map((value) => plot.valToPos(value, 'x', true));
    pen.beginPath();
    pen.moveTo(to, top);
    pen.lineTo(to, top + height);
    if (at < bands.length - 1) pen.stroke();
    if (to - from > 1.5 * pen.measureText(String(at + 1)).width) pen.fillText(at + 1, (from + to) / 2, top - 5 * devicePixelRatio);
  });
  pen.restore();
}

function laneTip(plot, bin, cores, lanes) {
  const at = plot.data[0][plot.cursor.idx];
  const band = lanes.bands.find((one) => one.from <= at && at < one.to);
  const said = cores.flatMap((core) => [...(bin.get(core) || [])]
    .sort((one, other) => other[1] - one[1])
    .map(([by, share_]) => `core ${core}: ${by} ${(100 * Math.min(1, share_)).toPrecision(2)} %`));
  return [`${band ? `${band.name}, ` : ''}${digits(at)}`, ...(said.length ? said : ['all cores were there'])];
}

function lanes(result) {
  const parent = document.getElementById('stall-lanes');
  if (parent) laneFigure(parent, 'Cores away, share of their time', 'seconds of trials', trialLanes(result));
}
