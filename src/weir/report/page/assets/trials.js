// SPDX-License-Identifier: Apache-2.0
// The list of trials of a case, written when its fold is opened. All of it is text, never markup.

const TRIAL_COLUMNS = [
  ['purpose', (trial) => trial.purpose],
  ['load, Mpps', (trial) => digits(trial.intended_load_pps / 1e6), 'n'],
  ['seconds', (trial) => trial.duration_s.toFixed(3), 'n'],
  ['counted', (trial) => (trial.counted ? trial.counted.seconds.toFixed(3) : '–'), 'n'],
  ['offered', (trial) => grouped(trial.offered), 'n'],
  ['delivered', (trial) => grouped(trial.delivered), 'n'],
  ['loss ratio', (trial) => share(trial.loss_ratio), 'n'],
  ['of counted', (trial) => (trial.counted ? share(countedLoss(trial)) : '–'), 'n'],
  ['queued', (trial) => (trial.backlog ? grouped(trial.backlog) : '0'), 'n'],
  ['drops', (trial) => [...trial.drops.map((drop) => `${drop.place} ${drop.reason} ${grouped(drop.packets)}`), ...made(trial)].join('; '), 'wrap'],
  ['cores away', (trial) => [...leftOut(trial), ...slowerTimes(trial)].join('; '), 'wrap'],
  ['verdict', (trial) => (trial.valid ? 'valid' : `invalid: ${trial.invalid_because.join('; ')}`), 'wrap'],
];

// What functions made, which nobody offered.
const made = (trial) => trial.originated.map((one) => `${one.place} made ${grouped(one.packets)} itself`);

// Who had which core for how long; of older results the stalls, which nothing was left out for.
function leftOut(trial) {
  if (!trial.counted) {
    return trial.stalls.map((stall) => `stalls of core ${stall.core}: ${stall.count}, longest ${Math.round(stall.longest_us)} µs`);
  }
  const sums = new Map();
  for (const one of trial.away) {
    const who = `core ${one.core}: ${one.by}`;
    sums.set(who, (sums.get(who) || 0) + one.us);
  }
  return [...sums].sort((one, other) => other[1] - one[1]).map(([who, us]) => `${who} ${(us / 1e3).toPrecision(3)} ms`);
}

const slowerTimes = (trial) => (trial.slower_times === null ? [] : [`cores ${trial.slower_times.toFixed(2)} times slower`]);

function trialTable(trials) {
  const cell = (name, text, side) => el(name, { className: side || '', ...(name === 'th' ? { scope: 'col' } : {}) }, text);
  const head = el('tr', {}, ...TRIAL_COLUMNS.map(([name, , side]) => cell('th', name, side)));
  const lines = trials.map((trial) => el('tr', { className: trial.valid ? '' : 'invalid' },
    ...TRIAL_COLUMNS.map(([, text, side]) => cell('td', text(trial), side))));
  const table = el('table', { className: 'sheet small' }, el('caption', {}, `Trials (${trials.length})`),
    el('thead', {}, head), el('tbody', {}, ...lines));
  return el('div', { className: 'scroll', tabIndex: 0, role: 'group', 'aria-label': 'Trials' }, table);
}

function trialLists(result) {
  const fill = (fold) => {
    const place = fold.open && fold.matches('.case') && fold.querySelector(':scope > .trials');
    if (!place || place.dataset.done) return;
    const one = result.setups[Number(place.dataset.setup)].cases[Number(place.dataset.case)];
    place.replaceChildren(trialTable([...one.trials, ...one.curve, ...one.delays.flatMap((point) => point.trials)]));
    place.dataset.done = 'yes';
  };
  document.addEventListener('toggle', (event) => fill(event.target), true);
  document.querySelectorAll('.case[open]').forEach(fill);
}
