// SPDX-License-Identifier: Apache-2.0
// Colours, hatches, dashes and marks. No series is told by colour alone.

const HATCHES = ['plain', 'rising', 'falling', 'dots', 'level', 'cross'];
const DASHES = [[], [6, 3], [2, 3], [8, 3, 2, 3], [4, 2], [1, 2]];
const MARKS = ['circle', 'square', 'triangle', 'diamond', 'down', 'plus'];

const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const technologyColour = (index) => css(`--k${index % 6}`);

// Frames are ordered by size, so their colours are a ramp from light to strong.
function frameColour(index, count) {
  const [low, high] = ['--ramp-low', '--ramp-high'].map((name) => css(name).match(/\d+/g).map(Number));
  const part = count > 1 ? index / (count - 1) : 1;
  return `rgb(${low.map((value, at) => Math.round(value + (high[at] - value) * part)).join(',')})`;
}

function hatch(context, index, colour) {
  const kind = HATCHES[index % HATCHES.length];
  if (kind === 'plain') return colour;
  const size = Math.round(6 * devicePixelRatio);
  const tile = document.createElement('canvas');
  tile.width = tile.height = size;
  const pen = tile.getContext('2d');
  pen.fillStyle = colour;
  pen.fillRect(0, 0, size, size);
  pen.strokeStyle = pen.fillStyle = css('--paper');
  pen.globalAlpha = 0.5;
  pen.lineWidth = size / 5;
  const line = (x1, y1, x2, y2) => {
    pen.beginPath();
    pen.moveTo(x1 * size, y1 * size);
    pen.lineTo(x2 * size, y2 * size);
    pen.stroke();
  };
  if (kind === 'rising') [-1, 0, 1].forEach((shift) => line(shift - 0.2, 1.2, shift + 1.2, -0.2));
  if (kind === 'falling') [-1, 0, 1].forEach((shift) => line(shift - 0.2, -0.2, shift + 1.2, 1.2));
  if (kind === 'level' || kind === 'cross') line(0, 0.5, 1, 0.5);
  if (kind === 'cross') line(0.5, 0, 0.5, 1);
  if (kind === 'dots') pen.fillRect(size * 0.3, size * 0.3, size * 0.4, size * 0.4);
  return context.createPattern(tile, 'repeat');
}

function mark(context, index, x, y, radius) {
  const at = (points) => points.forEach(([dx, dy]) => context.lineTo(x + dx * radius, y + dy * radius));
  context.beginPath();
  switch (MARKS[index % MARKS.length]) {
    case 'circle': context.arc(x, y, radius, 0, 2 * Math.PI); break;
    case 'square': at([[-0.85, -0.85], [0.85, -0.85], [0.85, 0.85], [-0.85, 0.85]]); break;
    case 'triangle': at([[0, -1.1], [1, 0.8], [-1, 0.8]]); break;
    case 'diamond': at([[0, -1.2], [1.1, 0], [0, 1.2], [-1.1, 0]]); break;
    case 'down': at([[0, 1.1], [1, -0.8], [-1, -0.8]]); break;
    default: at([[-0.4, -1.1], [0.4, -1.1], [0.4, -0.4], [1.1, -0.4], [1.1, 0.4], [0.4, 0.4], [0.4, 1.1],
      [-0.4, 1.1], [-0.4, 0.4], [-1.1, 0.4], [-1.1, -0.4], [-0.4, -0.4]]);
  }
  context.closePath();
}

// A sample of line and mark for a legend.
function sample(index, colour, marked = true) {
  const ratio = devicePixelRatio;
  const canvas = document.createElement('canvas');
  canvas.width = 30 * ratio;
  canvas.height = 12 * ratio;
  canvas.className = 'sample';
  const pen = canvas.getContext('2d');
  pen.scale(ratio, ratio);
  pen.strokeStyle = pen.fillStyle = colour;
  pen.lineWidth = 1.75;
  pen.setLineDash(DASHES[index % DASHES.length]);
  pen.beginPath();
  pen.moveTo(0, 6);
  pen.lineTo(30, 6);
  pen.stroke();
  if (marked) {
    mark(pen, index, 15, 6, 3.6);
    pen.fill();
  }
  return canvas;
}
