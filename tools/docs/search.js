/* SPDX-License-Identifier: Apache-2.0 */
/* Looks for all words of what is typed, at the beginnings of words, and ranks by BM25 (Robertson and
   Zaragoza, 2009): rare words count for more, often said for a little more, in long sections for less.
   Headings and page titles weigh more than text, whole words more than beginnings, pages for work more than
   those about reasons. An s at a word's end, and words that every page has, do not count. */
"use strict";
(() => {
  const root = document.currentScript.dataset.root;
  const wanted = document.getElementById("wanted");
  const found = document.getElementById("found");
  const MOST = 12;
  const escaped = (word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const FIELDS = [["head", 8], ["page", 4], ["text", 1]];
  const SATURATION = 1.2, BY_LENGTH = 0.75, WHOLE_WORD = 2, PHRASE = 1.5;
  const BY_SECTION = [[/^How to|^Tutorial/, 1.5], [/^Reference/, 0.9], [/^Design/, 0.7], [/^Project/, 0.4]];
  const EVERYWHERE = new Set("a an and are as at be by do does for from how i in is it my of on or that the to what where why with".split(" "));
  const sections = WEIR_PAGES.map((one) => ({
    ...one,
    lower: Object.fromEntries(FIELDS.map(([field]) => [field, one[field].toLowerCase()])),
    length: one.text.length,
    weight: (BY_SECTION.find(([name]) => name.test(one.section)) || ["", 1])[1],
  }));
  const meanLength = sections.reduce((sum, one) => sum + one.length, 0) / sections.length;

  function matcher(word) {
    const begins = `(?<![\\p{L}\\p{N}])${escaped(word)}`;
    return { begins: new RegExp(begins, "gu"), whole: new RegExp(`${begins}(?![\\p{L}\\p{N}])`, "gu") };
  }

  const count = (text, pattern) => (text.match(pattern) || []).length;

  function frequency(section, word) {
    let sum = 0;
    for (const [field, weight] of FIELDS) {
      const begins = count(section.lower[field], word.begins);
      if (begins) sum += weight * (begins + (WHOLE_WORD - 1) * count(section.lower[field], word.whole));
    }
    return sum;
  }

  function ranked(typed) {
    const all = typed.split(/\s+/).filter(Boolean);
    const rare = all.filter((word) => !EVERYWHERE.has(word));
    const words = (rare.length ? rare : all).map((word) => (word.length > 3 ? word.replace(/s$/, "") : word)).map(matcher);
    const rows = sections.map((section) => ({ section, said: words.map((word) => frequency(section, word)) }));
    const rarity = words.map((_, i) => {
      const having = rows.filter((row) => row.said[i]).length;
      return Math.log(1 + (rows.length - having + 0.5) / (having + 0.5));
    });
    const score = ({ section, said }) => {
      const longer = SATURATION * (1 - BY_LENGTH + (BY_LENGTH * section.length) / meanLength);
      const sum = said.reduce((soFar, often, i) => soFar + (rarity[i] * often) / (often + longer), 0);
      const together = words.length > 1 && FIELDS.some(([field]) => section.lower[field].includes(typed.trim()));
      return sum * section.weight * (together ? PHRASE : 1);
    };
    return rows
      .filter((row) => words.length && row.said.every(Boolean))
      .map((row) => [score(row), row.section])
      .sort((a, b) => b[0] - a[0]);
  }

  function show() {
    const hits = ranked(wanted.value.toLowerCase());
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
    if (wanted.value.trim() && !hits.length) found.textContent = "nothing found";
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
