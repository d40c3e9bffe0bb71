// SPDX-License-Identifier: Apache-2.0
// Small multiples over offered load: received rate with the line on which nothing is lost, and latency.

function curves(result) {
  const place = document.getElementById('loss-plots') || document.getElementById('latency-plots');
  if (!place) return; // nothing was sent at given loads
  const rate = place.dataset.unit;
  const chains = chainsOf(result);
  const points = built(result).flatMap((setup) => setup.cases.map((one) => ({
    chain: setup.chain, technology: nameOf(setup), frame: one.frame, points: curvePoints(one, PER_PPS[rate]),
  }))).filter((one) => one.points.length)
    .sort((one, other) => chains.indexOf(one.chain) - chains.indexOf(other.chain));
  const timed = points.map((one) => ({ ...one, points: one.points.filter((point) => point.p50_us !== null) }))
    .filter((one) => one.points.length);
  multiples(result, 'loss', points, {
    fields: [['received', 'received']],
    rate,
    unit: () => `received, ${rate}`,
    ideal: true,
    words: 'received rate against offered rate',
    text: (point) => `${digits(point.received)} of ${digits(point.offered)} ${rate}, loss ${share(point.loss)}` +
      (point.doubtful ? ', slower or disturbed' : ''),
  });
  multiples(result, 'latency', timed, {
    fields: [['p50_us', 'P50'], ['p99_us', 'P99'], ['p999_us', 'P99.9']],
    rate,
    unit: (field) => `${{ p50_us: 'P50', p99_us: 'P99', p999_us: 'P99.9' }[field]}, µs`,
    ideal: false,
    words: 'one-way latency against offered rate',
    text: (point, field) => `${digits(point[field])} µs at ${digits(point.offered)} ${rate}`,
  });
}

function multiples(result, place, all, kind) {
  const parent = document.getElementById(`${place}-plots`);
  const controls = document.getElementById(`${place}-controls`);
  if (!parent) return; // nothing of it was measured
  const frames = framesOf(result);
  const order = technologiesOf(result);
  const state = { by: 'technology', field: kind.fields[0][0] };
  const keys = el('ul', { className: 'keys' });

  const look = (one) => {
    if (state.by === 'technology') {
      const index = frames.indexOf(one.frame);
      return { index, colour: frameColour(index, frames.length), name: frameLabel(one.frame) };
    }
    const index = order.indexOf(one.technology);
    return { index, colour: technologyColour(index), name: one.technology };
  };

  function render() {
    clear(parent);
    const what = (one) => (state.by === 'technology' ? one.technology : frameLabel(one.frame));
    const titles = (one) => (order.length > 1 ? `${one.chain} · ${what(one)}` : one.chain);
    for (const chain of unique(all.map((one) => one.chain))) {
      const row = el('div', { className: 'plots' });
      parent.append(row);
      const here = all.filter((one) => one.chain === chain);
      row.classList.toggle('wide', unique(here.map(titles)).length < 3);
      for (const title of unique(here.map(titles))) {
        const lines = here.filter((one) => titles(one) === title);
        const words = `${title}: ${kind.words}. The evidence below lists the trials.`;
        figure(row, title, words, (width) => plotOf(lines, width), (plot) => tipOf(lines, plot));
      }
    }
    const named = new Map(all.map((one) => [look(one).name, look(one)]));
    keys.replaceChildren(...[...named.values()].map(({ index, colour, name }) =>
      el('li', {}, sample(index, colour), name)));
  }

  const tipOf = (lines, plot) => lines.flatMap((one, row) => {
    const at = plot.cursor.idxs[row + 1];
    const point = at === null || at === undefined ? null : one.points.find((p) => p.offered === plot.data[0][at]);
    return point ? [`${look(one).name}: ${kind.text(point, state.field)}`] : [];
  });

  function plotOf(lines, width) {
    const field = state.field;
    const data = uPlot.join(lines.map((one) => [one.points.map((p) => p.offered), one.points.map((p) => p[field])]));
    const every = lines.flatMap((one) => one.points);
    const right = Math.max(...every.map((point) => point.offered)) * 1.04;
    const top = Math.max(...every.map((point) => point[field]));
    const series = lines.map((one) => {
      const { index, colour, name } = look(one);
      return { label: name, stroke: colour, width: 1.75, dash: DASHES[index % 6], spanGaps: true, points: { show: false } };
    });
    const y = kind.ideal ? { range: [0, (top || right) * 1.12] } : { distr: 3 };
    return {
      data,
      options: {
        height: Math.round(Math.min(230, Math.max(185, width * 0.72))),
        padding: [8, 8, 0, 0],
        scales: { x: { time: false, range: [0, right] }, y },
        axes: [
          axis(`offered, ${kind.rate}`, { size: 24, values: tickNames }),
          axis(kind.unit(field), { size: 44, ...(kind.ideal ? { values: tickNames } : {}) }),
        ],
        series: [{}, ...series],
        cursor: { y: false, points: { show: false }, drag: { x: false, y: false }, hover: { skip: [null, undefined] } },
        hooks: {
          drawAxes: kind.ideal ? [(plot) => ideal(plot, right)] : [],
          draw: [(plot) => marks(plot, lines, field)],
        },
      },
    };
  }

  function ideal(plot, right) {
    const context = plot.ctx;
    const { left, top, width, height } = plot.bbox;
    context.save();
    context.beginPath();
    context.rect(left, top, width, height);
    context.clip();
    context.strokeStyle = css('--dim');
    context.lineWidth = devicePixelRatio;
    context.setLineDash([3 * devicePixelRatio, 4 * devicePixelRatio]);
    context.beginPath();
    context.moveTo(plot.valToPos(0, 'x', true), plot.valToPos(0, 'y', true));
    context.lineTo(plot.valToPos(right, 'x', true), plot.valToPos(right, 'y', true));
    context.stroke();
    context.restore();
  }

  function marks(plot, lines, field) {
    const context = plot.ctx;
    context.save();
    context.lineWidth = 1.5 * devicePixelRatio;
    for (const one of lines) {
      const { index, colour } = look(one);
      for (const point of one.points) {
        const [x, y] = [plot.valToPos(point.offered, 'x', true), plot.valToPos(point[field], 'y', true)];
        mark(context, index, x, y, 3.2 * devicePixelRatio);
        context.strokeStyle = colour;
        context.fillStyle = point.doubtful ? css('--paper') : colour;
        context.fill();
        context.stroke();
      }
    }
    context.restore();
  }

  const ways = [['technology', 'technology'], ['frame', 'frame size']];
  if (order.length > 1) choice(controls, 'One plot per', ways, state.by, (by) => { state.by = by; render(); });
  choice(controls, 'Value', kind.fields, state.field, (field) => { state.field = field; render(); });
  controls.append(keys);
  addEventListener('themechange', render);
  render();
}
