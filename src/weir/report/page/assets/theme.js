// SPDX-License-Identifier: Apache-2.0
// Light or dark: as the system has it, until the reader chooses.

const dark = () =>
  document.documentElement.dataset.theme
    ? document.documentElement.dataset.theme === 'dark'
    : matchMedia('(prefers-color-scheme: dark)').matches;

function themeButton(redraw) {
  const button = document.getElementById('theme');
  const name = () => { button.textContent = dark() ? 'Light' : 'Dark'; };
  button.hidden = false;
  button.addEventListener('click', () => {
    document.documentElement.dataset.theme = dark() ? 'light' : 'dark';
    name();
    redraw();
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { name(); redraw(); });
  name();
}
