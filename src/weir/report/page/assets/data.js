// SPDX-License-Identifier: Apache-2.0
// Small ways to read the result. Nothing here touches the page but to read it.

const unique = (values) => [...new Set(values)];
// What is compared: a variant of the lab, or a technology.
const nameOf = (setup) => setup.variant || setup.technology;
const built = (result) => result.setups.filter((setup) => setup.refused === null);
const chainsOf = (result) => unique(built(result).map((setup) => setup.chain));
const technologiesOf = (result) => unique(result.setups.map(nameOf));
const framesOf = (result) => unique(built(result).flatMap((setup) => setup.cases.map((one) => one.frame)));
const goalsOf = (result) =>
  unique(built(result).flatMap((setup) => setup.cases.flatMap((one) => one.throughput.map((t) => t.goal))));

// "64 B", "IMIX", "IMIX a7d4g", "capture": as the tables write it.
const SIMPLE_IMIX = 'imix:aaaaaaaAAAAg:A=570';
function frameLabel(frame) {
  if (frame === SIMPLE_IMIX) return 'IMIX';
  if (!frame.startsWith('imix:')) return /^\d+$/.test(frame) ? `${frame} B` : frame;
  const [genome, ...custom] = frame.slice(5).split(':');
  const runs = genome.match(/(.)\1*/g) || [];
  const counted = runs.map((run) => run[0] + (run.length > 1 ? run.length : '')).join('');
  return ['IMIX', counted, ...custom].join(' ');
}

// Four significant digits, of small values three, as the tables write them. What is rounded to a digit more
// before the point has a decimal less.
function digits(value) {
  if (value === null || value === undefined) return '–';
  if (value >= 9.9995) return value.toFixed(value >= 999.95 ? 0 : value >= 99.995 ? 1 : 2);
  return value.toFixed(value >= 0.1 || value <= 0 ? 3 : value >= 0.01 ? 4 : 5);
}

// Three significant digits for labels in plots, and no more decimals than the tables have.
const three = (value) => (value >= 100 ? value.toFixed(0) : value < 1 ? value.toFixed(3) : value.toPrecision(3));

const grouped = (count) => String(count).replace(/\B(?=(\d{3})+$)/g, '\u202f');
// "0", "0.5 %", "99.7 %": a loss ratio, as the tables write it. Less than all is never "100 %".
function share(ratio) {
  if (ratio === 0) return '0';
  if (ratio >= 0.9995 && ratio < 1) return 'above 99.9 %';
  const shown = ratio >= 0.995 ? 3 : 2;
  return `${(ratio * 100).toLocaleString('en', { maximumSignificantDigits: shown, useGrouping: false })} %`;
}

// Lost or left in a queue, of what counts; of older results, whose trials' time was not divided, of everything.
function countedLoss(trial) {
  const counted = trial.counted;
  if (!counted) return trial.loss_ratio;
  return counted.offered ? Math.min(1, (counted.lost + counted.backlog) / counted.offered) : 0;
}

// Less than half of it counts, or a core was slower in all that does.
const doubtful = (trial) => trial.slower_times !== null ||
  (trial.counted !== null && trial.counted.seconds < trial.duration_s / 2);

// The unit in which the page's rates are is said where each plot goes: data-unit.
const PER_PPS = { Mpps: 1e-6, kpps: 1e-3, pps: 1 };

// Valid trials of the curve as points, by what counts. Latency is that of the slower direction.
function curvePoints(one, scale) {
  return one.curve
    .filter((trial) => trial.valid && trial.duration_s > 0)
    .map((trial) => {
      const seen = trial.streams.map((stream) => stream.latency).filter((latency) => latency);
      const worst = (field) => (seen.length ? Math.max(...seen.map((latency) => latency[field])) : null);
      const loss = countedLoss(trial);
      const offered = (trial.counted ? trial.intended_load_pps : trial.offered / trial.duration_s) * scale;
      return {
        offered,
        received: offered * (1 - loss),
        loss,
        doubtful: doubtful(trial),
        p50_us: worst('p50_us'),
        p99_us: worst('p99_us'),
        p999_us: worst('p999_us'),
      };
    })
    .sort((one, other) => one.offered - other.offered);
}
