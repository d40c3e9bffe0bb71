// SPDX-License-Identifier: Apache-2.0
// What is known of the thing that was chosen.

function element(name, attributes, ...children) {
  const found = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) found.setAttribute(key, value);
  found.append(...children.filter((one) => one !== null && one !== undefined));
  return found;
}

const spaced = (count) => String(count).replace(/\B(?=(\d{3})+$)/g, '\u202f');
const plural = (count, what, many = `${what}s`) => `${spaced(count)} ${count === 1 ? what : many}`;

function facts(pairs) {
  return element('dl', {}, ...pairs.filter(([, value]) => value && value.length).flatMap(([name, value]) =>
    [element('dt', {}, name), element('dd', {}, ...(Array.isArray(value)
      ? value.map((one) => element('div', {}, one)) : [value]))]));
}

function reference(scene, id, choose) {
  const button = element('button', { type: 'button', class: 'link' }, scene.name(id));
  button.addEventListener('click', () => choose(id, true));
  const where = scene.boxOf(id).title;
  return element('li', {}, button, element('span', { class: 'dim' }, ` in ${where}`));
}

function counters(one) {
  const counted = one.traffic;
  const rates = one.rates;
  const line = (name, way) => element('tr', {}, element('th', { scope: 'row' }, name),
    ...[counted[`${way}_packets`], counted[`${way}_bytes`], counted[`${way}_dropped`] + counted[`${way}_errors`]]
      .map((value) => element('td', {}, spaced(value))),
    ...(rates ? [element('td', {}, spaced(Math.round(rates[`${way}_pps`])))] : []));
  const heads = ['', 'packets', 'bytes', 'lost', ...(rates ? ['pps'] : [])];
  return element('table', { class: 'counters' },
    element('thead', {}, element('tr', {}, ...heads.map((head) => element('th', { scope: 'col' }, head)))),
    element('tbody', {}, line('received', 'rx'), line('sent', 'tx')));
}

function ofInterface(scene, one) {
  const about = Object.entries(one.details).map(([key, value]) => `${key} ${value}`);
  return [facts([
    ['kind', one.kind + (one.up ? '' : ', down')], ['addresses', one.addresses], ['MAC', one.mac],
    ['MTU', `${one.mtu_bytes} B`], ['details', about], ['held by', one.holder],
  ]), counters(one)];
}

function ofBox(scene, box) {
  const space = scene.namespaces.get(box.id);
  if (!space) return [];
  return [facts([
    ['interfaces', String(space.interfaces.length)],
    ['IPv4', space.forwards ? 'routed' : space.forwards === false ? 'not routed' : ''],
    ['processes', space.processes ? String(space.processes) : ''],
    ['addresses', space.interfaces.filter((one) => one.kind !== 'loopback').flatMap((one) => one.addresses).slice(0, 12)],
  ])];
}

function ofBridge(bridge) {
  return [facts([['kind', `Open vSwitch bridge (${bridge.datapath})`], ['ports', String(bridge.ports.length)],
    ['database', bridge.database]])];
}

function ofPort(scene, id) {
  const { table, index } = scene.home.get(id);
  const bridge = scene.bridges.get(table.id);
  const port = bridge && bridge.ports.find((one) => one.name === table.rows[index].name);
  if (!port) return [];
  return [facts([['kind', `${port.type} port`], ['tag', port.tag === null ? '' : String(port.tag)],
    ['options', Object.entries(port.options).map(([key, value]) => `${key} ${value}`)]])];
}

function details(scene, id, choose) {
  const what = scene.interfaces.get(id);
  const box = scene.boxes.get(id);
  const bridge = scene.bridges.get(id);
  const body = what ? ofInterface(scene, what) : box ? ofBox(scene, box) : bridge ? ofBridge(bridge)
    : ofPort(scene, id);
  const ends = scene.leads(id).map((line) => {
    const first = box ? scene.boxOf(line.first).id === id : line.first === id;
    return first ? line.second : line.first;
  });
  const joined = ends.length
    ? [element('h3', {}, 'joined to'), element('ul', {}, ...ends.slice(0, 40).map((end) => reference(scene, end, choose))),
      ends.length > 40 ? element('p', { class: 'dim' }, `and ${ends.length - 40} more`) : null] : [];
  const where = box ? [] : [element('p', { class: 'dim' }, `in ${scene.boxOf(id).title}`)];
  return [element('h2', {}, scene.name(id)), ...where, ...differing(scene, choose, id), ...body, ...joined];
}

// What is not as a deployment was built; all of it, or of one thing.
function differing(scene, choose, id = null) {
  const { deployment, differences } = scene.graph;
  const found = differences.filter((one) => id === null || one.at === id);
  if (!deployment || (id !== null && !found.length)) return [];
  const line = (one) => {
    const known = id === null && one.at !== null && scene.home.has(one.at);
    const what = one.what || 'namespace';
    const button = known ? element('button', { type: 'button', class: 'link' }, what) : what;
    if (known) button.addEventListener('click', () => choose(one.at, true));
    return element('li', {}, ...(id === null ? [button, ` in ${one.namespace} `] : []), one.said);
  };
  return [
    element('h3', {}, found.length ? `not as ${deployment} was built` : `as ${deployment} was built`),
    element('ul', { class: 'differing' }, ...found.map(line)),
  ];
}

function way(scene, choose) {
  const { way: followed } = scene.graph;
  if (!followed) return [];
  const hop = (one) => {
    const button = element('button', { type: 'button', class: 'link' }, one.name);
    const known = scene.home.has(one.at);
    if (known) button.addEventListener('click', () => choose(one.at, true));
    return element('li', {}, known ? button : one.name, element('span', { class: 'dim' }, ` in ${one.namespace}, ${one.does}`));
  };
  return [
    element('h3', {}, `from ${followed.source} to ${followed.destination}`),
    element('ol', { class: 'way' }, ...followed.hops.map(hop)),
    element('p', { class: followed.arrives ? 'arrives' : 'stopped' }, followed.arrives ? 'It arrives.' : `Followed no farther: ${followed.stopped}.`),
    ...followed.doubts.map((one) => element('p', { class: 'dim' }, `But ${one}.`)),
  ];
}

// Before anything is chosen: how much there is, what lines mean, what could not be seen.
function overview(scene, choose) {
  const { graph } = scene;
  const links = scene.lines.length;
  const legend = [['veth', 'veth pair'], ['lower', 'stacked on'], ['patch', 'patch ports'], ['tunnel', 'tunnel']]
    .filter(([kind]) => scene.lines.some((line) => line.kind === kind))
    .map(([kind, name]) => element('li', {}, swatch(kind), name));
  return [
    element('h2', {}, graph.host),
    element('p', { class: 'dim' }, `${plural(graph.namespaces.length, 'namespace')}, ${
      plural(scene.interfaces.size, 'interface')}, ${plural(links, 'link')}`),
    ...way(scene, choose),
    ...differing(scene, choose),
    ...(legend.length ? [element('h3', {}, 'lines'), element('ul', { class: 'legend' }, ...legend)] : []),
    ...(graph.unseen.length
      ? [element('h3', {}, 'not seen'), element('ul', {}, ...graph.unseen.map((one) => element('li', {}, one)))] : []),
    element('h3', {}, 'keys'),
    element('p', { class: 'dim' }, 'Arrows move. Enter folds and opens. J goes to the other end. + − 0 zoom. / searches. Esc lets go.'),
  ];
}

function swatch(kind) {
  return made('svg', { width: 34, height: 10, 'aria-hidden': 'true' },
    made('path', { d: 'M0 5H30', class: `g-line g-${kind}` }));
}
