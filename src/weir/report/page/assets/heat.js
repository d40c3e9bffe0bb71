// SPDX-License-Identifier: Apache-2.0
// Delay over time as a heat map: each interval's histogram stands upright, its packets are the strength of the
// colour. Both scales are logarithmic: one packet in a million shows beside the rest.

const HEAT_COLUMN_PX = 2; // narrower ones are put together
const HEAT_STEPS = 32;

function heatFigure(parent, keys, soak) {
  const seen = heatColumns(soak.intervals, Infinity);
  if (!seen.length) return;
  let [low, high, rarest] = [Infinity, 0, 1];
  for (const one of seen) {
    for (const cell of one.cells) {
      low = Math.min(low, cell.low);
      high = Math.max(high, cell.high);
      rarest = Math.min(rarest, cell.packets / one.packets);
    }
  }
  let shown = [];
  figure(parent, 'Delay over time, µs', 'Delays of all packets over time, as a heat map. The CSV has quantiles.',
    (width) => {
      shown = heatColumns(soak.intervals, Math.max(1, Math.floor(width / HEAT_COLUMN_PX)));
      return {
        data: [shown.map((one) => (one.from + one.to) / 120), shown.map(() => high)],
        options: {
          height: 190,
          padding: [12, 8, 0, 0],
          scales: {
            x: { time: false, range: [shown[0].from / 60, shown[shown.length - 1].to / 60] },
            y: { distr: 3, range: [low, high] },
          },
          axes: [axis('minutes since the beginning', { size: 24 }), axis('µs', { size: 52 })],
          series: [{}, { points: { show: false }, paths: () => null }],
          cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
          hooks: { draw: [(plot) => heatCells(plot, shown, rarest)] },
        },
      };
    },
    (plot) => heatTip(shown[plot.cursor.idx], plot.posToVal(plot.cursor.top, 'y')));
  keys.append(el('li', {}, `Heat map: share of an interval's packets, ${heatShare(rarest)}`,
    heatScale(), 'all of them; both directions.'));
}

// Intervals with delays, `most` columns at most; none goes over the gap between two segments.
function heatColumns(intervals, most) {
  const measured = intervals.filter((one) => one.streams.some((stream) => stream.histogram.length));
  const each = Math.ceil(measured.length / most);
  const columns = [];
  for (const one of measured) {
    let last = columns[columns.length - 1];
    if (!last || last.count >= each || last.segment !== one.segment) {
      last = { from: one.from_s, segment: one.segment, count: 0, packets: 0, byLow: new Map() };
      columns.push(last);
    }
    last.to = one.to_s;
    last.count += 1;
    for (const [low, high, packets] of one.streams.flatMap((stream) => stream.histogram)) {
      const cell = last.byLow.get(low) || { low, high, packets: 0 };
      cell.packets += packets;
      last.byLow.set(low, cell);
      last.packets += packets;
    }
  }
  for (const column of columns) column.cells = [...column.byLow.values()];
  return columns;
}

// 0 for the rarest cell of all, 1 for a column whose packets are all in one.
const heatStrength = (part, rarest) => (rarest < 1 ? 1 - Math.log(part) / Math.log(rarest) : 1);
const heatColour = (strength) => frameColour(Math.round(strength * (HEAT_STEPS - 1)), HEAT_STEPS);

function heatCells(plot, columns, rarest) {
  const pen = plot.ctx;
  pen.save();
  pen.beginPath();
  pen.rect(plot.bbox.left, plot.bbox.top, plot.bbox.width, plot.bbox.height);
  pen.clip();
  for (const column of columns) {
    // Whole pixels: neighbours touch.
    const left = Math.round(plot.valToPos(column.from / 60, 'x', true));
    const wide = Math.max(1, Math.round(plot.valToPos(column.to / 60, 'x', true)) - left);
    for (const cell of column.cells) {
      const top = plot.valToPos(cell.high, 'y', true);
      pen.fillStyle = heatColour(heatStrength(cell.packets / column.packets, rarest));
      pen.fillRect(left, top, wide, plot.valToPos(cell.low, 'y', true) - top);
    }
  }
  pen.restore();
}

function heatTip(column, at) {
  if (!column) return [];
  const time = `${(column.from / 60).toFixed(2)} to ${(column.to / 60).toFixed(2)} min`;
  const cell = column.cells.find((one) => one.low <= at && at < one.high);
  if (!cell) return [time, `${digits(at)} µs: no packet of ${grouped(column.packets)}`];
  return [time, `${digits(cell.low)} to ${digits(cell.high)} µs:`,
    `${grouped(cell.packets)} of ${grouped(column.packets)} packets`];
}

const heatShare = (part) => `${Number((100 * part).toPrecision(1))} %`;

// The colours from the rarest to all.
function heatScale() {
  const canvas = el('canvas', { className: 'sample', width: 96, height: 12 });
  canvas.style.width = '96px';
  canvas.style.marginLeft = '7px';
  const pen = canvas.getContext('2d');
  for (let at = 0; at < HEAT_STEPS; at += 1) {
    pen.fillStyle = frameColour(at, HEAT_STEPS);
    pen.fillRect(at * 3, 0, 3, 12);
  }
  return canvas;
}
