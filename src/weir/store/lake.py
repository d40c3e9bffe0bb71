# SPDX-License-Identifier: Apache-2.0
"""Runs as Parquet, for programs that read years of them: DuckDB, Spark, Ray Data.

`<table>/lab=<lab>/month=<yyyy-mm>/<run>.parquet`, as Hive partitions, with the tables runs, figures and
trials. A file has one run, so an export is repeated and continued without asking what is there.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from weir.base.extras import install
from weir.base.words import counted
from weir.results.figures import figures
from weir.results.result import Case, Result, Setup, Trial
from weir.store.connection import StoreError
from weir.store.files import FileError, check_folder, remove_folders, write_binary
from weir.store.listing import RunSummary
from weir.store.store import Store

if TYPE_CHECKING:
    import pyarrow as pa


class NoParquetError(StoreError):
    """The library that writes it is not installed."""


def write_lake(store: Store, runs: Sequence[RunSummary], folder: Path) -> None:
    """Each run is whole or not there; files of an earlier export are replaced. FileError says which are."""
    schemas = _schemas()
    check_folder(folder, "--parquet")
    for at, run in enumerate(runs):
        try:
            _write_run(folder, store.load(run.id), run, schemas)
        except FileError as error:
            whole = f"{counted(at, 'run')} of {len(runs)} are whole there, up to {runs[at - 1].id}"
            raise FileError(f"{error}; {whole if at else 'no run is there'}") from error


def _write_run(folder: Path, result: Result, run: RunSummary, schemas: dict[str, pa.Schema]) -> None:
    """All three files; else those that were not there before are gone again, with folders made for them."""
    tables = {
        "runs": [_run(result, run)],
        "figures": list(_figures(result)),
        "trials": list(_trials(result)),
    }
    new: list[Path] = []
    made: list[Path] = []
    try:
        for name, rows in tables.items():
            path = folder / name / _partition(result) / f"{result.id}.parquet"
            new += [] if path.exists() else [path]
            made += _write(path, rows, schemas[name])
    except BaseException:
        for path in new:
            path.unlink(missing_ok=True)
        remove_folders(made)
        raise


def _partition(result: Result) -> Path:
    return Path(f"lab={quote(result.lab, safe='')}", f"month={quote(result.started_at[:7], safe='')}")


def _write(path: Path, rows: list[dict[str, Any]], schema: pa.Schema) -> Sequence[Path]:
    """Which folders it made."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.Table.from_pylist(rows, schema=schema)
    return write_binary(
        path,
        lambda file: pq.write_table(table, file, compression="zstd"),
        "choose another place with --parquet",
        folders=True,
    )


def _run(result: Result, run: RunSummary) -> dict[str, Any]:
    machine = result.fingerprint
    return {
        "run": result.id,
        "started_at": result.started_at,
        "finished_at": result.finished_at,
        "seconds": result.seconds,
        "quick": result.quick,
        "interrupted": result.interrupted,
        "weir": run.weir,
        "spec_sha256": result.spec_sha256,
        "host": machine.host,
        "cpu": machine.cpu,
        "kernel": machine.kernel,
        "tags": list(run.tags),
    }


def _cases(result: Result) -> Iterator[tuple[dict[str, Any], Case]]:
    for setup, case in result.cases():
        yield _case(result, setup, case), case


def _case(result: Result, setup: Setup, case: Case) -> dict[str, Any]:
    return {
        "run": result.id,
        "started_at": result.started_at,
        "technology": setup.technology,
        "variant": setup.variant,
        "chain": setup.chain,
        "frame": case.frame,
    }


def _figures(result: Result) -> Iterator[dict[str, Any]]:
    for known, case in _cases(result):
        for figure in figures(case):
            samples = list(figure.samples)
            yield {
                **known,
                "what": figure.what,
                "unit": figure.unit,
                "value": statistics.median(samples) if samples else None,
                "samples": samples,
                "tester_bound": figure.tester_bound,
                "lab_bound": figure.lab_bound,
                "worse_state": figure.worse_state,
                "disturbed": figure.disturbed,
                "why": figure.why,
            }


def _trials(result: Result) -> Iterator[dict[str, Any]]:
    for known, case in _cases(result):
        for number, trial in enumerate((*case.trials, *case.curve)):
            yield {**known, "number": number, **_trial(trial)}


def _trial(trial: Trial) -> dict[str, Any]:
    return {
        "purpose": trial.purpose,
        "intended_load_pps": trial.intended_load_pps,
        "duration_s": trial.duration_s,
        "intended": trial.intended,
        "offered": trial.offered,
        "delivered": trial.delivered,
        "unaccounted": trial.unaccounted,
        "loss_ratio": trial.loss_ratio,
        "counted_loss_ratio": trial.counted_loss_ratio,
        "valid": trial.valid,
        "invalid_because": trial.invalid_because,
        "drops": [drop.model_dump() for drop in trial.drops],
        "areas": [
            {
                "name": area.name,
                "core": area.core,
                "kind": area.kind,
                "packets": area.packets,
                "busy_cycles": area.busy_cycles,
                "idle_cycles": area.idle_cycles,
            }
            for area in trial.areas
        ],
        "streams": [
            {
                "direction": stream.direction,
                "offered": stream.offered,
                "delivered": stream.delivered,
                "latency_p50_us": stream.latency.p50_us if stream.latency else None,
                "latency_p99_us": stream.latency.p99_us if stream.latency else None,
                "latency_max_us": stream.latency.max_us if stream.latency else None,
                "histogram": [
                    {"from_us": low, "to_us": high, "packets": packets}
                    for low, high, packets in stream.histogram
                ],
            }
            for stream in trial.streams
        ],
    }


def _schemas() -> dict[str, pa.Schema]:
    """Written out: a column has the same type in every file, whatever the run."""
    try:
        import pyarrow as pa
    except ImportError as error:
        raise NoParquetError(f"no library for Parquet: `{install('parquet')}`") from error
    text, number, count, truth = pa.string(), pa.float64(), pa.int64(), pa.bool_()
    case = {
        "run": text,
        "started_at": text,
        "technology": text,
        "variant": text,
        "chain": text,
        "frame": text,
    }
    histogram = pa.struct({"from_us": number, "to_us": number, "packets": count})
    return {
        "runs": pa.schema(
            {
                "run": text,
                "started_at": text,
                "finished_at": text,
                "seconds": number,
                "quick": truth,
                "interrupted": truth,
                "weir": text,
                "spec_sha256": text,
                "host": text,
                "cpu": text,
                "kernel": text,
                "tags": pa.list_(text),
            }
        ),
        "figures": pa.schema(
            case
            | {
                "what": text,
                "unit": text,
                "value": number,
                "samples": pa.list_(number),
                "tester_bound": truth,
                "lab_bound": truth,
                "worse_state": truth,
                "disturbed": truth,
                "why": text,
            }
        ),
        "trials": pa.schema(
            case
            | {
                "number": count,
                "purpose": text,
                "intended_load_pps": number,
                "duration_s": number,
                "intended": count,
                "offered": count,
                "delivered": count,
                "unaccounted": count,
                "loss_ratio": number,
                "counted_loss_ratio": number,
                "valid": truth,
                "invalid_because": pa.list_(text),
                "drops": pa.list_(pa.struct({"place": text, "reason": text, "packets": count})),
                "areas": pa.list_(
                    pa.struct(
                        {
                            "name": text,
                            "core": count,
                            "kind": text,
                            "packets": count,
                            "busy_cycles": count,
                            "idle_cycles": count,
                        }
                    )
                ),
                "streams": pa.list_(
                    pa.struct(
                        {
                            "direction": text,
                            "offered": count,
                            "delivered": count,
                            "latency_p50_us": number,
                            "latency_p99_us": number,
                            "latency_max_us": number,
                            "histogram": pa.list_(histogram),
                        }
                    )
                ),
            }
        ),
    }
