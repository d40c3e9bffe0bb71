// SPDX-License-Identifier: Apache-2.0
// What there is to draw, where it is now, and what the reader has folded and chosen.

class Scene {
  constructor(graph, drawing) {
    this.drawing = drawing;
    this.boxes = new Map(drawing.boxes.map((box) => [box.id, box]));
    this.home = new Map(); // of each row and bridge: its box, table and number of line there
    for (const box of drawing.boxes) {
      for (const table of box.tables) {
        this.home.set(table.id, { box, table, index: -1 });
        table.rows.forEach((row, index) => this.home.set(row.id, { box, table, index }));
      }
    }
    this.lines = drawing.lines;
    this.linesOf = new Map();
    for (const line of this.lines) {
      for (const end of [line.first, line.second]) {
        if (!this.linesOf.has(end)) this.linesOf.set(end, []);
        this.linesOf.get(end).push(line);
      }
    }
    this.folded = new Set(drawing.fold ? this.boxes.keys() : []);
    this.chosen = null;
    this.read(graph);
    this.place();
  }

  read(graph) {
    this.graph = graph;
    this.namespaces = new Map(graph.namespaces.map((one) => [one.id, one]));
    this.interfaces = new Map(graph.namespaces.flatMap((one) => one.interfaces.map((each) => [each.id, each])));
    this.bridges = new Map(graph.bridges.map((one) => [one.id, one]));
  }

  size(id) {
    const box = this.boxes.get(id);
    return this.folded.has(id) ? box.folded : box.size;
  }

  place() {
    const mostlyFolded = this.folded.size * 2 > this.boxes.size;
    const groups = mostlyFolded ? this.drawing.folded_groups : this.drawing.groups;
    Object.assign(this, stacked(groups, (id) => this.size(id), this.drawing.gaps));
  }

  // The rectangle of a box, a bridge or a row; of what lies in a folded box: that box.
  area(id) {
    const boxId = this.boxes.has(id) ? id : this.home.get(id).box.id;
    const at = this.places.get(boxId);
    if (this.boxes.has(id) || this.folded.has(boxId)) {
      const { width } = this.size(boxId);
      return { x: at.x, y: at.y, width, height: this.folded.has(boxId) ? this.size(boxId).height : this.drawing.head };
    }
    const { table, index } = this.home.get(id);
    const head = table.title === null ? 0 : this.drawing.head;
    const [y, height] = index < 0 ? [0, head] : [head + index * this.drawing.row, this.drawing.row];
    return { x: at.x + table.place[0], y: at.y + table.place[1] + y, width: table.size.width, height };
  }

  // As picture.py draws it.
  curve(line) {
    const [one, other] = [this.area(line.first), this.area(line.second)];
    const [y1, y2] = [one, other].map((area) => area.y + area.height / 2);
    let [x1, x2, out, back] = [one.x + one.width, other.x + other.width, 1, 1];
    if (one.x + one.width + 8 <= other.x) [x2, back] = [other.x, -1];
    else if (other.x + other.width + 8 <= one.x) [x1, out] = [one.x, -1];
    const bend = Math.max(26, Math.abs(x2 - x1) / 2);
    return `M${x1} ${y1}C${x1 + out * bend} ${y1} ${x2 + back * bend} ${y2} ${x2} ${y2}`;
  }

  boxOf(id) { return this.boxes.get(id) || this.home.get(id).box; }

  // Where the lines of something lead: of a box, those that leave it.
  leads(id) {
    if (!this.boxes.has(id)) return this.linesOf.get(id) || [];
    return this.lines.filter((line) =>
      (this.boxOf(line.first).id === id) !== (this.boxOf(line.second).id === id));
  }

  // What can be chosen now.
  * items() {
    for (const box of this.drawing.boxes) {
      yield box.id;
      if (this.folded.has(box.id)) continue;
      for (const table of box.tables) {
        if (table.title !== null) yield table.id;
        for (const row of table.rows) yield row.id;
      }
    }
  }

  name(id) {
    if (this.boxes.has(id)) return this.boxes.get(id).title;
    const { table, index } = this.home.get(id);
    return index < 0 ? table.title || table.rows[0].name : table.rows[index].name;
  }
}

// What stands out, and as what.
function marksOf(graph) {
  const marks = new Map();
  const mark = (id, as) => marks.set(id, [...(marks.get(id) || []), as]);
  for (const hop of graph.way ? graph.way.hops : []) mark(hop.at, 'g-on-way');
  return marks;
}
