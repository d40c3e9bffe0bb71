// SPDX-License-Identifier: Apache-2.0
// A lab's page: its histories.

const place = document.getElementById('histories');
if (place) {
  const charts = JSON.parse(document.getElementById('charts').textContent);
  const render = () => {
    clear(place);
    charts.forEach((one) => historyFigure(place, one));
  };
  addEventListener('themechange', render);
  render();
}
themeButton(() => dispatchEvent(new Event('themechange')));
onPaper();
document.documentElement.dataset.ready = 'yes';
