// SPDX-License-Identifier: Apache-2.0
// A run that is still measured: what its newest trials found, as the server tells it. At its end the page is loaded anew.

const live = document.getElementById('live');
if (live) {
  const [facts, rows, state] = ['dl', 'tbody', '.live-state'].map((name) => live.querySelector(name));
  const made = (name, ...children) => {
    const element = document.createElement(name);
    element.append(...children);
    return element;
  };
  const source = new EventSource(live.dataset.events);
  source.addEventListener('open', () => { state.textContent = 'none came since this page was loaded: the run waits for its next one, or was killed'; });
  source.addEventListener('error', () => { state.textContent = 'the server does not answer; the page tries again'; });
  source.addEventListener('progress', (event) => {
    const said = JSON.parse(event.data);
    facts.replaceChildren(...said.facts.map(([name, text]) => made('div', made('dt', name), made('dd', text))));
    rows.replaceChildren(...said.trials.map((cells) => {
      const row = made('tr', ...cells.map((text) => made('td', text)));
      row.querySelectorAll('td:nth-child(n+3)').forEach((cell) => { cell.className = 'n'; });
      return row;
    }));
    if (live.dataset.seen) state.textContent = `being measured: the newest came at ${new Date().toTimeString().slice(0, 8)}`;
    live.dataset.seen = Number(live.dataset.seen || 0) + 1;
  });
  source.addEventListener('finished', () => { source.close(); location.reload(); });
}
