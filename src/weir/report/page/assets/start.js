// SPDX-License-Identifier: Apache-2.0
// The story of the page: read the data, draw, make the buttons work.

function pictureChoice(result) {
  const figures = [...document.querySelectorAll('#pictures .built')];
  const names = unique(figures.map((figure) => figure.dataset.technology));
  const show = (name) => figures.forEach((figure) => {
    figure.classList.toggle('not-chosen', figure.dataset.technology !== name);
  });
  const controls = document.getElementById('built-controls');
  if (!controls) return;
  const first = names.includes(result.baseline) ? result.baseline : names[0];
  choice(controls, 'Technology', names.map((name) => [name, name]), first, show);
  if (names.length > 1) show(first);
}

async function start() {
  const result = await readResult();
  bars(result);
  curves(result);
  percentiles(result);
  lanes(result);
  soaks(result);
  trialLists(result);
  pictureChoice(result);
  themeButton(() => { redrawAll(); dispatchEvent(new Event('themechange')); });
  onPaper();
  document.documentElement.dataset.ready = 'yes';
}

start().catch((problem) => {
  console.error(problem);
  document.querySelector('main').prepend(el('p', { className: 'why', role: 'alert' },
    `This browser cannot draw the plots (${problem.message}). The tables below are complete.`));
});
