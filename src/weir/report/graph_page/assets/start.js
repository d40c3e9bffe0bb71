// SPDX-License-Identifier: Apache-2.0
// Puts the page to work.

(async () => {
  const [graph, drawing] = await Promise.all([unpacked('graph'), unpacked('drawing')]);
  const at = (id) => document.getElementById(id);
  const scene = new Scene(graph, drawing);
  const canvas = new Canvas(at('network'), scene, marksOf(graph));
  const tell = () => at('details').replaceChildren(
    ...(scene.chosen === null ? overview(scene, choose) : details(scene, scene.chosen, choose)));
  function choose(id, reveal) {
    if (id !== null && reveal && !scene.boxes.has(id) && scene.folded.has(scene.boxOf(id).id)) {
      scene.folded.delete(scene.boxOf(id).id);
      scene.place();
    }
    scene.chosen = id;
    canvas.again();
    if (id !== null && reveal) canvas.reveal(id);
    document.body.classList.toggle('chosen', id !== null);
    tell();
  }
  // What is folded stays where it is on the screen.
  function fold(id) {
    const before = scene.places.get(id);
    if (!scene.folded.delete(id)) scene.folded.add(id);
    scene.place();
    const after = scene.places.get(id);
    canvas.pan((before.x - after.x) * canvas.view.scale, (before.y - after.y) * canvas.view.scale);
    if (scene.chosen !== null && scene.boxOf(scene.chosen).id === id) scene.chosen = id;
    canvas.again();
    tell();
  }
  function all(folded) {
    scene.folded = new Set(folded ? scene.boxes.keys() : []);
    if (scene.chosen !== null) scene.chosen = scene.boxOf(scene.chosen).id;
    scene.place();
    canvas.again();
    canvas.fit();
    tell();
  }
  const clicks = {
    'fold-all': () => all(true), 'open-all': () => all(false), closer: () => canvas.zoom(1.25),
    farther: () => canvas.zoom(0.8), fit: () => canvas.fit(), close: () => choose(null, false),
  };
  for (const [id, does] of Object.entries(clicks)) at(id).addEventListener('click', does);
  pointers(at('network'), canvas, choose, fold);
  keys(at('network'), canvas, choose, fold, at('search'));
  searching(at('search'), at('found'), scene, choose);
  themeButton(() => {});
  new ResizeObserver(() => canvas.resized()).observe(at('network'));
  canvas.again();
  canvas.fit();
  canvas.now();
  tell();
  document.documentElement.dataset.ready = 'yes';
  const { watchedS } = document.body.dataset;
  if (watchedS) watching(Number(watchedS), scene, tell);
})();
