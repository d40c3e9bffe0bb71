// SPDX-License-Identifier: Apache-2.0
// Before anything is drawn: light or dark as the reader chose on another page. Where nothing may be kept, as the system has it.
'use strict';
(() => {
  const kept = (work) => { try { return work(localStorage); } catch { return null; } };
  const chosen = kept((place) => place.getItem('weir-theme'));
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen;
  addEventListener('click', (event) => {
    if (event.target.id !== 'theme') return;
    setTimeout(() => kept((place) => place.setItem('weir-theme', document.documentElement.dataset.theme)));
  }, true);
})();
