// SPDX-License-Identifier: Apache-2.0
// Pointer, wheel, keys, search. All that a pointer can do, keys can.

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

// The nearest in that direction; what is aside counts as farther.
function neighbour(scene, from, [dx, dy]) {
  const middle = ({ x, y, width, height }) => [x + Math.min(width, 160) / 2, y + height / 2];
  const [x0, y0] = middle(scene.area(from));
  let [best, least] = [null, Infinity];
  for (const id of scene.items()) {
    if (id === from) continue;
    const [x, y] = middle(scene.area(id));
    const along = (x - x0) * dx + (y - y0) * dy;
    const aside = Math.abs((x - x0) * dy) + Math.abs((y - y0) * dx);
    if (along > 1 && along + 3 * aside < least) [best, least] = [id, along + 3 * aside];
  }
  return best;
}

function pointers(svg, canvas, choose, fold) {
  const down = new Map();
  let moved = 0;
  const place = (event) => {
    const frame = svg.getBoundingClientRect();
    return [event.clientX - frame.left, event.clientY - frame.top];
  };
  svg.addEventListener('wheel', (event) => {
    event.preventDefault();
    canvas.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), place(event));
  }, { passive: false });
  svg.addEventListener('pointerdown', (event) => {
    if (!down.size) moved = 0;
    down.set(event.pointerId, place(event));
  });
  svg.addEventListener('pointermove', (event) => {
    if (!down.has(event.pointerId)) return;
    const before = down.get(event.pointerId);
    const now = place(event);
    moved += Math.hypot(now[0] - before[0], now[1] - before[1]);
    if (moved > 4) svg.setPointerCapture(event.pointerId);
    if (down.size === 2) {
      const other = [...down].find(([id]) => id !== event.pointerId)[1];
      const apart = (point) => Math.max(1, Math.hypot(point[0] - other[0], point[1] - other[1]));
      canvas.zoom(apart(now) / apart(before), other);
    } else {
      canvas.pan(now[0] - before[0], now[1] - before[1]);
    }
    down.set(event.pointerId, now);
  });
  for (const name of ['pointerup', 'pointercancel']) {
    svg.addEventListener(name, (event) => down.delete(event.pointerId));
  }
  svg.addEventListener('click', (event) => {
    if (moved > 4) return;
    const folds = event.target.closest('[data-fold]');
    const found = event.target.closest('[data-id]');
    if (folds) fold(folds.dataset.fold);
    else choose(found ? found.dataset.id : null, false);
  });
  svg.addEventListener('dblclick', (event) => {
    const found = event.target.closest('g[data-id]');
    if (found && canvas.scene.boxes.has(found.dataset.id)) fold(found.dataset.id);
  });
}

function keys(svg, canvas, choose, fold, search) {
  const { scene } = canvas;
  const act = {
    Enter: () => scene.chosen !== null && fold(scene.boxOf(scene.chosen).id),
    ' ': () => act.Enter(),
    Escape: () => choose(null, false),
    '+': () => canvas.zoom(1.25),
    '=': () => canvas.zoom(1.25),
    '-': () => canvas.zoom(0.8),
    0: () => canvas.fit(),
    j: () => {
      const [line] = scene.chosen === null ? [] : scene.leads(scene.chosen);
      if (line) choose(scene.boxOf(line.first) === scene.boxOf(scene.chosen) && scene.chosen !== line.second
        ? line.second : line.first, true);
    },
  };
  svg.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const way = ARROWS[event.key];
    const does = act[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!way && !does) return;
    event.preventDefault();
    if (does) does();
    else {
      const next = scene.chosen === null ? scene.items().next().value : neighbour(scene, scene.chosen, way);
      if (next) choose(next, true);
    }
  });
  document.addEventListener('keydown', (event) => {
    if (event.key !== '/' || event.target === search) return;
    event.preventDefault();
    search.focus();
  });
}

function searching(input, list, scene, choose) {
  const words = [];
  for (const box of scene.drawing.boxes) {
    words.push([box.id, box.title, 'namespace', box.title]);
    for (const table of box.tables) {
      if (table.title !== null) words.push([table.id, table.title, box.title, table.title]);
      for (const row of table.rows) {
        const one = scene.interfaces.get(row.id);
        const more = one ? [one.mac, one.holder, ...one.addresses, ...Object.values(one.details)].join(' ') : row.said;
        words.push([row.id, row.name, box.title, `${row.name} ${more}`]);
      }
    }
  }
  const find = () => {
    const wanted = input.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
    const found = wanted.length ? words.filter(([, , where, text]) =>
      wanted.every((word) => `${text} ${where}`.toLowerCase().includes(word))) : [];
    list.replaceChildren(...found.slice(0, 12).map(([id, name, where]) => {
      const button = element('button', { type: 'button' }, name, element('span', { class: 'dim' }, where));
      button.addEventListener('click', () => take(id));
      return element('li', {}, button);
    }));
    const said = found.length > 12 ? `${found.length} found` : found.length || !wanted.length ? '' : 'nothing found';
    if (said) list.append(element('li', { class: 'dim' }, said));
    list.hidden = !wanted.length;
    return found;
  };
  const take = (id) => {
    list.hidden = true;
    choose(id, true);
    document.getElementById('network').focus();
  };
  input.addEventListener('input', find);
  input.addEventListener('keydown', (event) => {
    const found = event.key === 'Enter' ? find() : [];
    if (found.length) take(found[0][0]);
    if (event.key === 'ArrowDown' && !list.hidden) {
      event.preventDefault();
      list.querySelector('button')?.focus();
    }
    if (event.key === 'Escape') list.hidden = true;
  });
  list.addEventListener('keydown', (event) => {
    const next = { ArrowDown: 'nextElementSibling', ArrowUp: 'previousElementSibling' }[event.key];
    if (event.key === 'Escape') { list.hidden = true; input.focus(); }
    if (!next) return;
    event.preventDefault();
    (event.target.closest('li')[next]?.querySelector('button') || input).focus();
  });
}
