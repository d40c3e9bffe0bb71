// SPDX-License-Identifier: Apache-2.0
// One rate or delay, run after run: dots, the levels that they are on with their noise bands, and where one began.

const UTC = (seconds) => uPlot.tzDate(new Date(seconds * 1e3), 'Etc/UTC');
const day = (seconds) => new Date(seconds * 1e3).toISOString().slice(0, 16).replace('T', ' ');
const ROOM = 0.03; // a value's share above and below all of them, so that noise is not drawn as a mountain

function historyFigure(parent, one) {
  const points = one.points;
  const words = `${one.title}: ${points.length} runs, newest ${digits(points[points.length - 1].value)} ${one.unit}. ` +
    'Left and right arrow go from run to run, Enter opens one.';
  const box = figure(parent, `${one.title}, ${one.unit}`, words, (width) => historyPlot(one, width),
    (plot) => historyTip(one, points[plot.cursor.idx]));
  const area = box.querySelector('.canvas');
  const open = () => {
    const entry = drawn.find((each) => each.box === box);
    const at = entry.note.hidden ? null : entry.plot.cursor.idx;
    if (at !== null && at !== undefined) location.href = points[at].href;
  };
  area.addEventListener('click', open);
  area.addEventListener('keydown', (event) => { if (event.key === 'Enter') open(); });
}

function historyTip(one, point) {
  const lines = [`${digits(point.value)} ${one.unit}`, `${day(point.at_s)} UTC, Weir ${point.weir}`, point.run];
  if (point.outcome) lines.unshift(`${point.outcome} from here on`);
  if (!point.counts) lines.push('does not count: a worse state of the machine, or a bound');
  return lines;
}

function historyPlot(one, width) {
  const points = one.points;
  const ends = points.flatMap((point) => (point.level === null || !one.band ? [point.value]
    : [point.value, point.level * one.band[0], point.level * one.band[1]]));
  const [low, high] = [Math.min(...ends), Math.max(...ends)];
  const room = Math.max((high - low) * 0.08, high * ROOM);
  const [first, last] = [points[0].at_s, points[points.length - 1].at_s]; // uPlot widens what is one moment
  return {
    data: [points.map((point) => point.at_s), points.map((point) => point.value)],
    options: {
      height: 170,
      padding: [10, 10, 0, 0],
      tzDate: UTC,
      scales: { x: { range: () => [first - edge(first, last), last + edge(first, last)] }, y: { range: [low - room, high + room] } },
      axes: [axis('', { size: 32, labelSize: 0, space: 60, values: days }), axis(one.unit, { size: 48, values: tickNames })],
      series: [{}, { stroke: css('--k3'), width: 0, paths: () => null, points: { show: false } }],
      cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
      hooks: { drawAxes: [(plot) => historyLevels(plot, one)], draw: [(plot) => historyDots(plot, one)] },
    },
  };
}

// Half a day around one run alone.
const edge = (from, to) => (to > from ? Math.max((to - from) * 0.02, 30) : 43200);

// Days, or months where there are years between them; of several ticks of a day the others have their time.
const days = (_, splits) => {
  const span = splits[splits.length - 1] - splits[0];
  const texts = splits.map((at) => new Date(at * 1e3).toISOString());
  if (span > 700 * 86400) return texts.map((text) => text.slice(0, 7));
  return texts.map((text, i) => {
    const again = i > 0 && text.slice(0, 10) === texts[i - 1].slice(0, 10);
    return span < 2 * 86400 || again ? text.slice(11, 16) : text.slice(5, 10);
  });
};

// Bands and lines, from the first run of a level to its last.
function historyLevels(plot, one) {
  const context = plot.ctx;
  const x = (at) => plot.valToPos(at, 'x', true);
  const y = (value) => plot.valToPos(value, 'y', true);
  context.save();
  for (const part of levelsOf(one.points)) {
    const [left, right] = [x(part.from) - 3 * devicePixelRatio, x(part.to) + 3 * devicePixelRatio];
    if (one.band) {
      context.fillStyle = css('--hair');
      context.fillRect(left, y(part.level * one.band[1]), right - left, y(part.level * one.band[0]) - y(part.level * one.band[1]));
    }
    context.strokeStyle = css('--dim');
    context.lineWidth = 1.25 * devicePixelRatio;
    context.beginPath();
    context.moveTo(left, y(part.level));
    context.lineTo(right, y(part.level));
    context.stroke();
  }
  for (const point of one.points.filter((each) => each.outcome)) {
    context.strokeStyle = css({ worse: '--bad', better: '--good' }[point.outcome] || '--dim');
    context.setLineDash(point.outcome === 'worse' ? [] : [4 * devicePixelRatio, 3 * devicePixelRatio]);
    context.beginPath();
    context.moveTo(x(point.at_s), plot.bbox.top);
    context.lineTo(x(point.at_s), plot.bbox.top + plot.bbox.height);
    context.stroke();
  }
  context.restore();
}

function levelsOf(points) {
  const parts = [];
  for (const point of points.filter((each) => each.level !== null)) {
    const last = parts[parts.length - 1];
    if (last && last.level === point.level) last.to = point.at_s;
    else parts.push({ level: point.level, from: point.at_s, to: point.at_s });
  }
  return parts;
}

function historyDots(plot, one) {
  const context = plot.ctx;
  context.save();
  context.lineWidth = 1.25 * devicePixelRatio;
  for (const point of one.points) {
    mark(context, 0, plot.valToPos(point.at_s, 'x', true), plot.valToPos(point.value, 'y', true), 2.6 * devicePixelRatio);
    context.strokeStyle = css('--k3');
    context.fillStyle = point.counts ? css('--k3') : css('--paper');
    context.fill();
    context.stroke();
  }
  context.restore();
}
