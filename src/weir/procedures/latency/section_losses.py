# SPDX-License-Identifier: Apache-2.0
"""What trials at given loads lost: a delay is of the packets that arrived, and says nothing of the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from weir.base.packet_rate import RateUnit, unit_of
from weir.lab.frames import frame_label
from weir.procedures.latency.section_rows import DelayRow, delay_rows
from weir.report import numbers, summary
from weir.report.sections import Cell, CsvTable, PlainTable
from weir.results.result import Latency, Result, StreamCount

HEAD = ("sent", "counted", "lost", "loss", "most of it")
MEANING = (
    "counted: packets of both directions, of the time that counts: trials that others disturb last longer, "
    "and some of their time is left out. lost: of these, dropped, or still in a queue when sending ended. "
    "most of it: where, as counted over all of the time."
)
STILL_QUEUED = "still in queues at the end"
QUANTILES_US = ("min", "mean", "p50", "p90", "p99", "p999", "p9999", "max")
# fmt: off
COLUMNS = (
    "run", "lab", "technology", "variant", "chain", "frame", "load", "load_pps", "repeat", "direction",
    "valid", "why", "duration_s", "offered", "delivered", "counted_offered", "counted_lost", "duplicates",
    "reordered",
    *(f"latency_{name}_us" for name in QUANTILES_US),
    "pdv_p999_us", "ipdv_p99_us", "jitter_max_us", "late_p99_us",
)
# fmt: on


@dataclass(frozen=True)
class LossRow:
    """One load of one case: all of its trials that count, both directions together."""

    of: DelayRow
    sent_pps: float | None
    """None: no trial was made."""
    offered: int
    lost: int
    most: str
    """ "rx_missed at f1.left", or STILL_QUEUED; empty: nobody knows where."""

    @property
    def loss_ratio(self) -> float | None:
        """None where nothing was sent."""
        return self.lost / self.offered if self.offered else None

    def cells(self, unit: RateUnit) -> list[str]:
        """In the order of HEAD."""
        return [
            numbers.mpps(self.sent_pps, unit),
            numbers.count(self.offered),
            numbers.count(self.lost),
            numbers.share(self.loss_ratio),
            self.most,
        ]


def loss_rows(result: Result) -> Iterator[LossRow]:
    """All loads of all cases, but for first packets, which are sent apart."""
    for row in delay_rows(result):
        if row.point.first_packets:
            continue
        trials = row.point.counting
        time_s = sum(trial.duration_s for trial in trials)
        drops: Counter[str] = Counter()
        for trial in trials:
            for drop in trial.drops:
                drops[f"{drop.reason} at {drop.place}"] += drop.packets
            drops[STILL_QUEUED] += trial.backlog
        yield LossRow(
            row,
            sum(trial.offered for trial in trials) / time_s if time_s else None,
            sum(trial.counted_offered for trial in trials),
            lost := sum(trial.counted_lost for trial in trials),
            next((place for place, packets in drops.most_common(1) if packets), "") if lost else "",
        )


def shown(result: Result) -> list[LossRow]:
    """Those to be told of: all, where some lost packets, or where nothing was searched, so that it is the
    answer."""
    rows = list(loss_rows(result))
    return rows if any(row.lost for row in rows) or not _searched(result) else []


def _searched(result: Result) -> bool:
    """For a throughput, or was to."""
    return bool(summary.goals(result) or summary.measure_of(result).get("goals"))


def rate_unit(rows: list[LossRow]) -> RateUnit:
    """In which what was sent is said."""
    return unit_of(row.sent_pps for row in rows)


def loss_table(result: Result) -> PlainTable | None:
    """One row a technology, chain, frame and load; None where there is nothing to be told."""
    rows = shown(result)
    unit = rate_unit(rows)
    lines = [
        [
            row.of.setup.name,
            row.of.setup.chain,
            frame_label(row.of.case.frame),
            load_text(row),
            *row.cells(unit),
        ]
        for row in rows
    ]
    sent, *others = HEAD
    head = (summary.way_title(result).lower(), "chain", "frame", "load", f"{sent}, {unit.label}", *others)
    invalid = "".join(f" Invalid: {why}" for why in unusable(result))
    return PlainTable("Losses at given loads", head, lines, 4, MEANING + invalid) if lines else None


def load_text(row: LossRow) -> str:
    """ "20Mpps (invalid)": no trial of it can be used, and what it lost is not what that load loses."""
    return row.of.point.load if row.of.valid else f"{row.of.point.load} (invalid)"


def unusable(result: Result) -> list[str]:
    """Why, of each such load of a run that searched for nothing: it has no other answer."""
    return [
        f"{_place(row)}: {' '.join(row.of.point.trials[-1].invalid_because)}"
        for row in loss_rows(result)
        if not row.of.valid and row.of.point.trials and not _searched(result)
    ]


def _place(row: LossRow) -> str:
    setup, frame = row.of.setup, frame_label(row.of.case.frame)
    return f"{setup.title}, frame {frame}, at {row.of.point.load}"


def lost_text(row: LossRow) -> str:
    """ "12 % of 3,000,000 packets were lost, most as rx_missed at f1.left", of one that lost some."""
    as_ = "" if row.most == STILL_QUEUED else "as "
    most = f", most {as_}{row.most}" if row.most else ""
    return f"{numbers.share(row.loss_ratio)} of {numbers.count(row.offered)} packets were lost{most}"


def csv(result: Result) -> CsvTable | None:
    """A row for each load, repeat and direction, of a run that searched for nothing; None of all others."""
    measured = summary.measure_of(result).get("latency") and not _searched(result)
    return CsvTable(COLUMNS, _csv_rows(result)) if measured else None


def _csv_rows(result: Result) -> Iterator[dict[str, Cell]]:
    for setup, case in result.cases():
        for point in case.delays:
            for repeat, trial in enumerate(point.trials):
                for stream in trial.streams:
                    yield {
                        "run": result.id,
                        "lab": result.lab,
                        "technology": setup.technology,
                        "variant": setup.variant,
                        "chain": setup.chain,
                        "frame": case.frame,
                        "load": point.label,
                        "load_pps": point.load_pps,
                        "repeat": repeat + 1,
                        "direction": stream.direction,
                        "valid": trial.valid,
                        "why": " ".join(trial.invalid_because) or None,
                        "duration_s": trial.duration_s,
                        "offered": stream.offered,
                        "delivered": stream.delivered,
                        "counted_offered": _counted(stream.counted_offered, stream.offered),
                        "counted_lost": _counted(stream.counted_lost, stream.offered - stream.delivered),
                        "duplicates": stream.duplicates,
                        "reordered": stream.reordered,
                        **_delays(stream),
                    }


def _counted(of: int | None, all_of_it: int) -> int:
    """Where all of the time counts, nobody said it."""
    return all_of_it if of is None else of


def _delays(stream: StreamCount) -> dict[str, Cell]:
    latency: Latency | None = stream.latency
    return {
        **{
            f"latency_{name}_us": getattr(latency, f"{name}_us") if latency is not None else None
            for name in QUANTILES_US
        },
        "pdv_p999_us": stream.pdv.p999_us if stream.pdv else None,
        "ipdv_p99_us": stream.ipdv.p99_size_us if stream.ipdv else None,
        "jitter_max_us": stream.jitter.max_us if stream.jitter else None,
        "late_p99_us": stream.lateness.p99_us if stream.lateness else None,
    }
