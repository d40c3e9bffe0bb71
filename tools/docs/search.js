/* SPDX-License-Identifier: Apache-2.0 */
/* Looks for all words of what is typed, at the beginnings of words; those in headings first. */
"use strict";
(() => {
  const root = document.currentScript.dataset.root;
  const wanted = document.getElementById("wanted");
  const found = document.getElementById("found");
  const MOST = 12;
  const escaped = (word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const sections = WEIR_PAGES.map((one) => ({ ...one, inHead: `${one.page} ${one.head}`.toLowerCase(), inText: one.text.toLowerCase() }));

  function score(section, words) {
    let sum = 0;
    for (const word of words) {
      const head = word.test(section.inHead);
      if (!head && !word.test(section.inText)) return 0;
      sum += head ? 10 : 1;
    }
    return sum;
  }

  function show() {
    const words = wanted.value.toLowerCase().split(/\s+/).filter(Boolean).map((word) => new RegExp(`(?<![\\p{L}\\p{N}])${escaped(word)}`, "u"));
    const hits = words.length
      ? sections.map((one) => [score(one, words), one]).filter(([sum]) => sum).sort((a, b) => b[0] - a[0])
      : [];
    found.replaceChildren(...hits.slice(0, MOST).map(([, one]) => {
      const item = document.createElement("li");
      const link = document.createElement("a");
      const head = document.createElement("b");
      link.href = `${root}/${one.to}`;
      head.textContent = one.head;
      link.append(head, one.page === one.head ? one.text.slice(0, 80) : one.page);
      item.append(link);
      return item;
    }));
    if (words.length && !hits.length) found.textContent = "nothing found";
    else if (hits.length > MOST) found.append(`and ${hits.length - MOST} more: add a word`);
  }

  wanted.addEventListener("input", show);
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement !== wanted) {
      event.preventDefault();
      wanted.focus();
    } else if (event.key === "Escape") {
      wanted.value = "";
      show();
    }
  });
})();
