// SPDX-License-Identifier: Apache-2.0
// The scene as SVG elements. Only what can be seen is in the document: boxes out of view are not, nor are rows
// that would be too small to read. So a network of thousands of links stays quick.

const SVG = 'http://www.w3.org/2000/svg';
const LETTER = 6.7;
const READABLE = 0.45;
const MARGIN = 20; // pixels around what is to be seen

function made(name, attributes, ...children) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

const shortened = (text, letters) => (text.length <= letters ? text : `${text.slice(0, Math.max(0, letters - 1))}…`);
const elementId = (id) => `at-${id}`;

class Canvas {
  constructor(svg, scene, marks) {
    this.svg = svg;
    this.scene = scene;
    this.marks = marks; // classes by id: on the way of a packet, missing, …
    this.view = { x: 0, y: 0, scale: 1 };
    this.shown = new Map();
    this.frames = made('g', { 'aria-hidden': 'true' });
    this.lines = made('g', { class: 'g-lines', 'aria-hidden': 'true' });
    this.over = made('g', { 'aria-hidden': 'true' });
    this.boxes = made('g', {});
    this.ring = made('rect', { class: 'g-ring', rx: 4, visibility: 'hidden' });
    this.world = made('g', {}, this.frames, this.lines, this.boxes, this.over, this.ring);
    svg.append(this.world);
    this.waiting = 0;
    this.whole = true; // the reader has not moved it yet
  }

  get room() { return { width: this.svg.clientWidth || 800, height: this.svg.clientHeight || 600 }; }

  // Also when the window changes, for as long as the reader has moved nothing.
  resized() {
    if (this.whole) this.fit();
    else this.soon();
  }

  pan(dx, dy) {
    this.whole = false;
    this.view.x += dx;
    this.view.y += dy;
    this.soon();
  }

  fit() {
    this.whole = true;
    const { width, height } = this.room;
    const scale = Math.min(1.25, (width - 2 * MARGIN) / this.scene.width, (height - 2 * MARGIN) / this.scene.height);
    this.view = {
      scale: Math.max(0.02, scale),
      x: (width - this.scene.width * scale) / 2,
      y: (height - this.scene.height * scale) / 2,
    };
    this.soon();
  }

  zoom(by, at) {
    this.whole = false;
    const { width, height } = this.room;
    const [x, y] = at || [width / 2, height / 2];
    const scale = Math.min(4, Math.max(0.02, this.view.scale * by));
    const ratio = scale / this.view.scale;
    this.view = { scale, x: x - (x - this.view.x) * ratio, y: y - (y - this.view.y) * ratio };
    this.soon();
  }

  // Moves the least by which all of it is seen, at a size that can be read.
  reveal(id) {
    if (this.view.scale < 0.8) this.zoom(0.9 / this.view.scale);
    const area = this.scene.area(id);
    const { width, height } = this.room;
    const { scale } = this.view;
    const left = area.x * scale + this.view.x;
    const top = area.y * scale + this.view.y;
    const inside = (from, size, room) => (from < MARGIN ? MARGIN - from
      : Math.min(0, room - MARGIN - from - Math.min(size, room - 2 * MARGIN)));
    const [dx, dy] = [inside(left, area.width * scale, width), inside(top, area.height * scale, height)];
    if (Math.max(Math.abs(dx), Math.abs(dy)) >= 1) this.pan(dx, dy);
  }

  // Everything anew: after folding, choosing, marking.
  again() {
    this.frames.replaceChildren();
    this.boxes.replaceChildren();
    this.shown.clear();
    this.drawLines();
    this.soon();
  }

  soon() {
    if (!this.waiting) this.waiting = requestAnimationFrame(() => { this.waiting = 0; this.now(); });
  }

  now() {
    const { x, y, scale } = this.view;
    this.world.setAttribute('transform', `translate(${x} ${y}) scale(${scale})`);
    const { width, height } = this.room;
    const [left, top] = [-x / scale - 100, -y / scale - 100];
    const [right, bottom] = [left + width / scale + 200, top + height / scale + 200];
    const fine = scale >= READABLE;
    for (const box of this.scene.drawing.boxes) {
      const at = this.scene.places.get(box.id);
      const size = this.scene.size(box.id);
      const seen = at.x < right && at.y < bottom && at.x + size.width > left && at.y + size.height > top;
      const old = this.shown.get(box.id);
      if (old && (!seen || old.fine !== fine)) {
        old.frame.remove();
        old.element.remove();
        this.shown.delete(box.id);
      }
      if (seen && !this.shown.has(box.id)) {
        const [frame, element] = this.box(box, at, size, fine);
        this.shown.set(box.id, { frame, element, fine });
        this.frames.append(frame);
        this.boxes.append(element);
      }
    }
    this.drawRing();
  }

  classes(base, id) { return [base, ...(this.marks.get(id) || [])].join(' '); }

  box(box, at, size, fine) {
    const folded = this.scene.folded.has(box.id);
    const sign = folded ? '▸' : '▾';
    const said = folded ? `  ${box.counted}` : box.said && `  ${box.said}`;
    const title = made('text', { x: 24, y: 19, class: 'g-title' }, box.title);
    if (said) {
      const more = made('tspan', { class: 'g-dim' }, said);
      title.append(more);
    }
    const inside = this.marks.size && folded
      ? box.tables.flatMap((table) => [table.id, ...table.rows.map((row) => row.id)])
        .flatMap((id) => this.marks.get(id) || []) : [];
    // Lines lie over the frame and under what is in it.
    const frame = made('rect', {
      x: at.x, y: at.y, width: size.width, height: size.height, rx: 5,
      class: [this.classes('g-box', box.id), ...new Set(inside)].join(' '),
    });
    const element = made('g', {
      transform: `translate(${at.x} ${at.y})`, 'data-id': box.id, id: elementId(box.id), role: 'button',
      'aria-expanded': String(!folded), 'aria-label': `${box.title}, ${box.counted} interfaces`,
    },
    made('rect', { width: size.width, height: folded ? size.height : 28, class: 'g-hit' }),
    made('rect', { width: 22, height: 28, class: 'g-hit', 'data-fold': box.id }),
    made('text', { x: 9, y: 19, class: 'g-fold' }, sign), title);
    if (!folded) for (const table of box.tables) element.append(this.table(table, fine));
    return [frame, element];
  }

  table(table, fine) {
    const element = made('g', { transform: `translate(${table.place[0]} ${table.place[1]})` },
      made('rect', { width: table.size.width, height: table.size.height, rx: 3, class: 'g-table' }));
    const { head, row: high } = this.scene.drawing;
    if (table.title !== null) {
      element.append(
        made('rect', {
          width: table.size.width, height: head, rx: 3, class: this.classes('g-head', table.id), 'data-id': table.id,
          id: elementId(table.id),
        }),
      );
      if (fine) {
        element.append(made('text', { x: 8, y: 15.5, class: `g-name${table.differs ? ' g-differs' : ''}` },
          shortened(table.title, Math.floor((table.size.width - 14) / LETTER))));
      }
    }
    if (fine) {
      table.rows.forEach((row, index) =>
        element.append(this.row(row, table.size.width, (table.title === null ? 0 : head) + index * high)));
    }
    return element;
  }

  row(row, width, top) {
    const high = this.scene.drawing.row;
    const look = `${row.up ? '' : ' g-down'}${row.differs ? ' g-differs' : ''}`;
    const letters = Math.floor((width - 16 - LETTER * (row.name.length + 2)) / LETTER);
    return made('g', {
      'data-id': row.id, id: elementId(row.id), role: 'img', 'aria-label': `${row.name}, ${row.kind}, ${row.said}`,
    },
    made('rect', { y: top, width, height: high, class: this.classes('g-hit', row.id) }),
    made('text', { x: 8, y: top + 13, class: `g-row${look}` }, row.name),
    made('text', { x: width - 8, y: top + 13, 'text-anchor': 'end', class: 'g-row g-dim' },
      shortened(row.said, letters)));
  }

  drawLines() {
    const kinds = new Map();
    for (const line of this.scene.lines) {
      if (this.scene.folded.has(this.scene.boxOf(line.first).id)
        && this.scene.boxOf(line.first) === this.scene.boxOf(line.second)) continue;
      if (!kinds.has(line.kind)) kinds.set(line.kind, new Set());
      kinds.get(line.kind).add(this.scene.curve(line));
    }
    const path = (kind, curves) => made('path', { class: `g-line g-${kind}`, d: [...curves].join('') });
    this.lines.replaceChildren(...[...kinds].map(([kind, curves]) => path(kind, curves)));
    const { chosen } = this.scene;
    const onWay = this.scene.lines.filter((line) => this.marked(line));
    const own = chosen === null ? [] : this.scene.leads(chosen);
    const drawn = (lines, kind) => path(kind, new Set(lines.map((line) => this.scene.curve(line))));
    this.over.replaceChildren(drawn(onWay, 'way'), drawn(own, 'chosen'));
    this.svg.classList.toggle('g-quiet', own.length + onWay.length > 0 || this.scene.lines.length > 400);
  }

  marked(line) {
    return [line.first, line.second].every((end) => (this.marks.get(end) || []).includes('g-on-way'));
  }

  drawRing() {
    const { chosen } = this.scene;
    this.ring.setAttribute('visibility', chosen === null ? 'hidden' : 'visible');
    if (chosen === null) {
      this.svg.removeAttribute('aria-activedescendant');
      return;
    }
    const area = this.scene.area(chosen);
    for (const side of ['x', 'y', 'width', 'height']) this.ring.setAttribute(side, area[side]);
    this.svg.setAttribute('aria-activedescendant', elementId(chosen));
  }
}
