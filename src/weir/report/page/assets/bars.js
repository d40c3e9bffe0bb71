// SPDX-License-Identifier: Apache-2.0
// Throughput by frame size and technology: one plot a chain, all with one scale, a whisker for min–max.

const BAR_MOST_PX = 90;

function bars(result) {
  const parent = document.getElementById('bars');
  if (!parent) return; // nothing was searched for
  const controls = document.getElementById('bars-controls');
  const order = technologiesOf(result);
  const shown = order.filter((name) => built(result).some((setup) => nameOf(setup) === name));
  const searched = built(result).flatMap((setup) => setup.cases.filter((one) => one.throughput.length));
  const frames = unique(searched.map((one) => one.frame));
  const goals = goalsOf(result);
  const state = { goal: goals[0], unit: parent.dataset.unit };
  const crowded = shown.length * frames.length > 20;
  parent.classList.toggle('whole', crowded);

  // Throughput record in the chosen unit: value, low, high; null where nothing was found. Of an interval the
  // value is its lower end, and `most` the upper one.
  const said = JSON.parse(parent.dataset.shown);
  const cell = (chain, technology, frame) => {
    const index = result.setups.findIndex((one) => !one.refused && one.chain === chain && nameOf(one) === technology);
    const place = index < 0 ? -1 : result.setups[index].cases.findIndex((one) => one.frame === frame);
    const found = place < 0 ? null : result.setups[index].cases[place].throughput.find((t) => t.goal === state.goal);
    if (!found) return null;
    const { flags, interval_pps: ends } = said[`${index}/${place}/${state.goal}`];
    const scale = state.unit in PER_PPS ? PER_PPS[state.unit] : found.load_pps ? (found.l2_bps / found.load_pps) * 1e-9 : 0;
    const scaled = (pps) => (pps === null ? null : pps * scale);
    if (ends) return { found, flags, value: scaled(ends[0]), most: scaled(ends[1]), low: null, high: null };
    const [value, low, high] = [found.load_pps, found.load_min_pps, found.load_max_pps].map(scaled);
    return { found, flags, value, most: value, low, high };
  };
  const short = (one) => (one.most > one.value ? `${three(one.value)}–${three(one.most)}` : three(one.value));

  function render() {
    clear(parent);
    const chains = chainsOf(result);
    const all = chains.flatMap((chain) => shown.flatMap((name) => frames.map((frame) => cell(chain, name, frame))));
    if (!all.some((one) => one && one.value !== null)) { // an axis without a bar would say nothing
      parent.append(el('p', { className: 'dim' }, `No rate was found for ${state.goal}: there is nothing to draw.`));
      return;
    }
    const top = Math.max(...all.map((one) => (one ? one.high ?? one.most ?? 0 : 0)), 1e-9);
    for (const chain of chains) {
      const cells = shown.map((name) => frames.map((frame) => cell(chain, name, frame)));
      const words = `${chain}: ${state.goal} in ${state.unit} by frame size and technology. ` +
        'The table below has the same numbers.';
      figure(parent, chain, words, (width) => plotOf(cells, top, width), (plot) => tipOf(cells, plot.cursor.idx));
    }
  }

  const tipOf = (cells, at) => [frameLabel(frames[at]), ...shown.flatMap((name, row) => {
    const one = cells[row][at];
    if (!one) return [];
    if (one.value === null) return [`${name}: ${one.found.status}`];
    if (one.most > one.value) return [`${name}: ${digits(one.value)} to ${digits(one.most)} ${state.unit} ${one.flags}`];
    return [`${name}: ${digits(one.value)} ${state.unit} (${digits(one.low)}–${digits(one.high)}) ${one.flags}`];
  })];

  const plotOf = (cells, top, width) => ({
    data: [frames.map((_, at) => at), ...cells.map((row) => row.map((one) => one?.value ?? null))],
    options: {
      height: width < 420 ? 250 : 300,
      padding: [12, 6, 0, 0],
      scales: { x: { time: false, range: [-0.5, frames.length - 0.5] }, y: { range: [0, top * 1.2] } },
      axes: [
        axis('frame size (L2)', {
          splits: () => frames.map((_, at) => at),
          values: (_, splits) => splits.map((at) => frameLabel(frames[at])),
          grid: { show: false },
          size: 24,
        }),
        axis(`${state.goal}, ${state.unit}`, { size: 48, values: tickNames }),
      ],
      series: [{}, ...shown.map((label) => ({ label, paths: () => null, points: { show: false } }))],
      cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
      hooks: { draw: [(plot) => paint(plot, cells)] },
    },
  });

  function paint(plot, cells) {
    const context = plot.ctx;
    const ratio = devicePixelRatio;
    const group = Math.abs(plot.valToPos(1, 'x', true) - plot.valToPos(0, 'x', true)) || plot.bbox.width;
    const step = (group * 0.84) / shown.length;
    const wide = Math.min(BAR_MOST_PX * ratio, Math.max(1, step - Math.max(1, step * 0.14)));
    const base = plot.valToPos(0, 'y', true);
    context.save();
    shown.forEach((name, row) => frames.forEach((_, at) => {
      const one = cells[row][at];
      if (!one) return;
      const left = plot.valToPos(at, 'x', true) - (step * shown.length) / 2 + step * row + (step - wide) / 2;
      const index = order.indexOf(name);
      const colour = technologyColour(index);
      if (one.value === null) {
        label(context, one.found.status, left + wide / 2, base - 4 * ratio, { wide, room: step }, colour);
        return;
      }
      const open = one.most > one.value;
      const y = plot.valToPos(one.most, 'y', true);
      context.strokeStyle = colour;
      context.lineWidth = ratio;
      context.fillStyle = hatch(context, index, colour);
      if (open) {
        const from = plot.valToPos(one.value, 'y', true);
        context.setLineDash([3 * ratio, 3 * ratio]);
        context.fillRect(left, y, wide, Math.max(2 * ratio, from - y));
      } else {
        context.fillRect(left, y, wide, base - y);
      }
      context.strokeRect(left + ratio / 2, y + ratio / 2, wide - ratio, base - y - ratio / 2);
      context.setLineDash([]);
      let tip = y;
      if (one.low !== null && one.high !== null) tip = whisker(plot, one, left + wide / 2, Math.min(wide / 4, 4 * ratio));
      label(context, short(one) + (one.flags ? ` ${one.flags}` : ''), left + wide / 2,
        Math.min(tip, y) - 4 * ratio, { wide, room: step }, css('--ink'));
    }));
    context.restore();
  }

  function whisker(plot, one, x, half) {
    const context = plot.ctx;
    const [low, high] = [one.low, one.high].map((value) => plot.valToPos(value, 'y', true));
    context.strokeStyle = css('--ink');
    context.lineWidth = devicePixelRatio;
    context.beginPath();
    context.moveTo(x, low);
    context.lineTo(x, high);
    for (const y of [low, high]) {
      context.moveTo(x - half, y);
      context.lineTo(x + half, y);
    }
    context.stroke();
    return high;
  }

  // Above the bar if it fits beside its neighbours', upright if the bar is narrow, nowhere if it is too narrow
  // for that.
  function label(context, text, x, y, { wide, room }, colour) {
    const ratio = devicePixelRatio;
    context.font = `${10.5 * ratio}px ${css('--sans')}`;
    context.fillStyle = colour;
    if (wide < 10 * ratio) return;
    context.save();
    context.translate(x, y);
    if (context.measureText(text).width > room - 2 * ratio) {
      context.rotate(-Math.PI / 2);
      context.textAlign = 'left';
      context.textBaseline = 'middle';
    } else {
      context.textAlign = 'center';
      context.textBaseline = 'alphabetic';
    }
    context.fillText(text, 0, 0);
    context.restore();
  }

  choice(controls, 'Goal', goals.map((goal) => [goal, goal]), state.goal, (goal) => { state.goal = goal; render(); });
  const units = [[parent.dataset.unit, parent.dataset.unit], ['Gbit/s L2', 'Gbit/s L2']];
  choice(controls, 'Unit', units, state.unit, (unit) => { state.unit = unit; render(); });
  const keys = shown.map((name) =>
    el('li', {}, el('i', { className: `key k${order.indexOf(name) % 6}` }), name));
  controls.append(el('ul', { className: 'keys' }, ...keys));
  render();
}
