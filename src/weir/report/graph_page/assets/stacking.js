// SPDX-License-Identifier: Apache-2.0
// Where things go whose columns are known: as stacking.py does it, for boxes that the reader folds and opens.

const ASPECT = 1.6;

function stackedColumns(columns, sizeOf, gaps) {
  const tall = columns.map((column) =>
    column.reduce((sum, name) => sum + sizeOf(name).height + gaps.down, -gaps.down));
  const places = new Map();
  const height = Math.max(...tall);
  let x = 0;
  columns.forEach((column, at) => {
    let y = (height - tall[at]) / 2;
    const wide = Math.max(...column.map((name) => sizeOf(name).width));
    for (const name of column) {
      const size = sizeOf(name);
      places.set(name, { x: x + (wide - size.width) / 2, y });
      y += size.height + gaps.down;
    }
    x += wide + gaps.across;
  });
  return { places, width: x - gaps.across, height };
}

function stacked(groups, sizeOf, gaps) {
  const made = groups.map((columns) => stackedColumns(columns, sizeOf, gaps));
  const area = made.reduce((sum, one) => sum + (one.width + gaps.around) * (one.height + gaps.around), 0);
  const most = Math.max(Math.sqrt(area * ASPECT), ...made.map((one) => one.width));
  const places = new Map();
  let [x, y, row, width] = [0, 0, 0, 0];
  for (const one of made) {
    if (x && x + one.width > most) [x, y, row] = [0, y + row + gaps.around, 0];
    for (const [name, at] of one.places) places.set(name, { x: x + at.x, y: y + at.y });
    width = Math.max(width, x + one.width);
    row = Math.max(row, one.height);
    x += one.width + gaps.around;
  }
  return { places, width, height: y + row };
}
