// SPDX-License-Identifier: Apache-2.0
// Notes every text that the page paints on a canvas, with its box on the page, and every caption and key, in
// <script id="painted"> at the end of the page.
const painted = new Map(); // by canvas, since it was last cleared
const asItWas = { ...Object.getOwnPropertyDescriptors(CanvasRenderingContext2D.prototype) };

CanvasRenderingContext2D.prototype.clearRect = function clearRect(...box) {
  painted.set(this.canvas, []);
  return asItWas.clearRect.value.apply(this, box);
};

CanvasRenderingContext2D.prototype.fillText = function fillText(text, x, y, ...more) {
  const said = this.measureText(text);
  const corners = [
    [x - said.actualBoundingBoxLeft, y - said.actualBoundingBoxAscent],
    [x + said.actualBoundingBoxRight, y - said.actualBoundingBoxAscent],
    [x - said.actualBoundingBoxLeft, y + said.actualBoundingBoxDescent],
    [x + said.actualBoundingBoxRight, y + said.actualBoundingBoxDescent],
  ].map(([across, down]) => this.getTransform().transformPoint({ x: across, y: down }));
  if (!painted.has(this.canvas)) painted.set(this.canvas, []);
  painted.get(this.canvas).push({
    text: String(text),
    left: Math.min(...corners.map((one) => one.x)),
    right: Math.max(...corners.map((one) => one.x)),
    top: Math.min(...corners.map((one) => one.y)),
    bottom: Math.max(...corners.map((one) => one.y)),
  });
  return asItWas.fillText.value.call(this, text, x, y, ...more);
};

function labelsOnPage() {
  const found = [];
  for (const [canvas, labels] of painted) {
    const at = canvas.getBoundingClientRect();
    if (!canvas.isConnected || !at.width) continue;
    const plot = canvas.closest('figure')?.querySelector('figcaption')?.textContent || '';
    const scale = at.width / canvas.width;
    for (const one of labels) {
      found.push({
        plot,
        text: one.text,
        left: at.left + one.left * scale,
        right: at.left + one.right * scale,
        top: at.top + one.top * scale,
        bottom: at.top + one.bottom * scale,
      });
    }
  }
  for (const one of document.querySelectorAll('figcaption, ul.keys > li, ol.keys > li, svg text')) {
    const plot = one.closest('figure, svg')?.querySelector('figcaption, title')?.textContent || '';
    const words = document.createRange();
    const nodes = document.createTreeWalker(one, NodeFilter.SHOW_TEXT);
    while (nodes.nextNode()) {
      words.selectNodeContents(nodes.currentNode);
      for (const { left, right, top, bottom } of words.getClientRects()) {
        if (right > left) found.push({ plot, text: nodes.currentNode.data, left, right, top, bottom, of: one.localName });
      }
    }
  }
  return found;
}

// When nothing moves any more: plots are drawn again a frame after their place has another size. No frame comes
// where nothing asks for one.
const soon = () =>
  new Promise((done) => {
    requestAnimationFrame(() => setTimeout(done, 50));
    setTimeout(done, 300);
  });

addEventListener('load', async () => {
  let found = '';
  for (let same = 0; same < 5; ) {
    await soon();
    const now = JSON.stringify(labelsOnPage());
    same = now === found && painted.size ? same + 1 : 0;
    found = now;
  }
  const out = document.createElement('script');
  out.id = 'painted';
  out.type = 'application/json';
  out.textContent = found.replace(/</g, '\\u003c');
  document.body.append(out);
});
