// SPDX-License-Identifier: Apache-2.0
// What all plots share: a figure that keeps its width, redraws in another theme and on paper, and can be read
// with the keyboard (left and right arrow) as well as with the pointer.

const drawn = [];
const PRINT_WIDTH_PX = { half: 330, whole: 680 };
let printing = false;

function el(name, properties, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties || {})) {
    if (key in made) made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

// build(width) gives uPlot options and data; tip(plot) gives lines of text for what the cursor is at, or null.
function figure(parent, title, words, build, tip) {
  const area = el('div', { className: 'canvas', tabIndex: 0, role: 'img', 'aria-label': words });
  const box = el('figure', { className: 'plot' }, el('figcaption', {}, title), area);
  parent.append(box);
  const entry = { box, area, build, plot: null, note: el('div', { className: 'tip', role: 'status', hidden: true }), tip };
  box.append(entry.note);
  area.addEventListener('keydown', (event) => step(entry, event));
  area.addEventListener('blur', () => { entry.note.hidden = true; });
  drawn.push(entry);
  draw(entry);
  observe(entry);
  return box;
}

// Afterwards: what is drawn while sizes are told may change them. Not in the next frame, which may be long in coming.
function observe(entry) {
  new ResizeObserver(() => setTimeout(() => {
    const width = widthOf(entry);
    const shown = drawn.includes(entry);
    if (shown && !printing && width > 0 && Math.abs(width - entry.plot.width) > 1) draw(entry);
  })).observe(entry.area);
}

// Lines of a plot with these names: looks for the series, and the key below the plot.
function lineLooks(names) {
  return names.map((label, at) => ({
    label, stroke: technologyColour(at), width: 1.5, dash: DASHES[at % 6], points: { show: false },
  }));
}

function keysOf(box, names) {
  if (names.length < 2) return;
  box.append(el('ul', { className: 'keys' }, ...names.map((name, at) =>
    el('li', {}, sample(at, technologyColour(at), false), name))));
}

function widthOf(entry) {
  if (!printing) return Math.floor(entry.area.clientWidth);
  return entry.box.parentElement.classList.contains('whole') ? PRINT_WIDTH_PX.whole : PRINT_WIDTH_PX.half;
}

function draw(entry) {
  if (entry.plot) entry.plot.destroy();
  const width = widthOf(entry);
  const { options, data } = entry.build(width);
  const hooks = options.hooks || {};
  hooks.setCursor = [(plot) => showTip(entry, plot)];
  entry.plot = new uPlot({ width, legend: { show: false }, ...options, hooks }, data, entry.area);
}

function redrawAll() {
  drawn.forEach(draw);
}

function clear(parent) {
  for (let at = drawn.length - 1; at >= 0; at -= 1) {
    if (parent.contains(drawn[at].box)) {
      drawn[at].plot.destroy();
      drawn.splice(at, 1);
    }
  }
  parent.replaceChildren();
}

function showTip(entry, plot) {
  const lines = plot.cursor.left >= 0 && plot.cursor.idx !== null ? entry.tip(plot) : null;
  entry.note.hidden = !lines || !lines.length;
  if (entry.note.hidden) return;
  entry.note.replaceChildren(...lines.map((line) => el('div', {}, line)));
  const over = plot.over.getBoundingClientRect();
  const box = entry.box.getBoundingClientRect();
  const x = over.left - box.left + plot.cursor.left;
  entry.note.style.left = `${Math.max(0, Math.min(x + 14, box.width - entry.note.offsetWidth))}px`;
  entry.note.style.top = `${over.top - box.top + 4}px`;
}

function step(entry, event) {
  const move = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!move) return;
  event.preventDefault();
  const plot = entry.plot;
  const last = plot.data[0].length - 1;
  const idx = entry.note.hidden ? (move > 0 ? 0 : last) : Math.max(0, Math.min(last, plot.cursor.idx + move));
  plot.setCursor({ left: plot.valToPos(plot.data[0][idx], 'x'), top: plot.over.clientHeight / 3 });
}

// Of a linear axis: as many digits as tell its values apart, where uPlot would round small ones to 0.
const tickNames = (_, splits) => splits.map((value) => (value === 0 ? '0' : Number(value.toPrecision(4)).toLocaleString('en-US', { maximumSignificantDigits: 4 })));

function axis(label, extra) {
  return {
    label,
    labelSize: 16,
    labelFont: `11px ${css('--sans')}`,
    font: `11px ${css('--sans')}`,
    labelGap: 2,
    gap: 4,
    stroke: css('--dim'),
    grid: { stroke: css('--hair'), width: 1 },
    ticks: { show: false },
    ...extra,
  };
}

// A row of mutually exclusive choices. Calls back with the one chosen.
function choice(parent, name, values, chosen, picked) {
  if (values.length < 2) return;
  const buttons = values.map(([value, text]) =>
    el('button', { type: 'button', textContent: text, 'aria-pressed': value === chosen }));
  buttons.forEach((button, at) => button.addEventListener('click', () => {
    buttons.forEach((other) => other.setAttribute('aria-pressed', other === button));
    picked(values[at][0]);
  }));
  parent.append(el('div', { className: 'choice', role: 'group', 'aria-label': name }, el('span', {}, name), ...buttons));
}

function onPaper() {
  let before = '';
  let folded = [];
  addEventListener('beforeprint', () => {
    folded = [...document.querySelectorAll('.notices details:not([open])')];
    for (const notice of folded) notice.open = true;
    before = document.documentElement.dataset.theme || '';
    document.documentElement.dataset.theme = 'light';
    printing = true;
    redrawAll();
  });
  addEventListener('afterprint', () => {
    for (const notice of folded) notice.open = false;
    if (before) document.documentElement.dataset.theme = before;
    else delete document.documentElement.dataset.theme;
    printing = false;
    redrawAll();
  });
}
