// SPDX-License-Identifier: Apache-2.0
// Pages without plots.

themeButton(redrawAll);
document.documentElement.dataset.ready = 'yes';
