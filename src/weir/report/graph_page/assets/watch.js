// SPDX-License-Identifier: Apache-2.0
// A page that `weir graph --watch` serves: counts and rates as they are now. Where the network itself has
// changed, its drawing is another one: the page is loaded again.

function shapeOf(graph) {
  return JSON.stringify([
    graph.namespaces.map((one) => [one.id, one.name,
      one.interfaces.map((each) => [each.id, each.name, each.up, each.addresses])]),
    graph.bridges.map((one) => [one.id, one.ports.map((port) => [port.name, port.tag])]),
    graph.joins, graph.differences, graph.way,
  ]);
}

async function watching(seconds, scene, changed) {
  const shape = shapeOf(scene.graph);
  const clock = document.getElementById('clock');
  const wait = () => new Promise((done) => { setTimeout(done, 1000 * seconds); });
  for (;;) {
    await wait();
    const graph = await fetch('graph.json', { cache: 'no-store' }).then((answer) => answer.json(), () => null);
    if (graph === null) {
      clock.textContent = 'network, not live any more: weir graph has ended';
      continue;
    }
    if (shapeOf(graph) !== shape) {
      location.reload();
      return;
    }
    scene.read(graph);
    clock.textContent = `network, live, ${graph.looked_at.slice(11, 19)} UTC`;
    document.documentElement.dataset.live = graph.looked_at;
    changed();
  }
}
