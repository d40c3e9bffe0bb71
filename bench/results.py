# SPDX-License-Identifier: Apache-2.0
"""build/bench/<name>.json: what a bench found and under which conditions, or why it did not run."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from bench import builds
from bench.catalogue import Bench
from bench.conditions import ROOT, here
from bench.pairs import Line, SkipError, Spread, Verdict

OUTPUT = ROOT / "build" / "bench"


def taken(run: Callable[[], Line | Sequence[Line]], *, both_builds: bool) -> list[Line]:
    """The lines of a bench; with `both_builds` each has its ratio with our generic build beside."""
    lines = _lines(run)
    if not both_builds:
        return lines
    try:
        with builds.as_packaged():
            others = {line.name: line for line in _lines(run)}
    except SkipError as reason:
        return [replace(line, detail={**line.detail, "generic_skipped": str(reason)}) for line in lines]
    return [_beside(line, others[line.name]) if line.name in others else line for line in lines]


def _lines(run: Callable[[], Line | Sequence[Line]]) -> list[Line]:
    found = run()
    return [found] if isinstance(found, Line) else list(found)


def _beside(line: Line, other: Line) -> Line:
    spread = Spread(other.ratio, other.min, other.max, other.n, pairs=other.pairs)
    return replace(line, generic=spread, detail={**line.detail, "generic_detail": other.detail})


def save(bench: Bench, name: str, lines: Sequence[Line], *, took_s: float, folder: Path = OUTPUT) -> None:
    """Writes a file a line in place of all that the bench has left before."""
    _forget(name, folder)
    for line in lines:
        spread = {field: getattr(line, field) for field in ("ratio", "min", "max", "n", "pairs")}
        generic = None if line.generic is None else asdict(line.generic)
        verdict = {"target": line.target, "verdict": _verdict(line), "generic": generic}
        head = {"name": line.name, **spread, **verdict, **_circumstances(bench, name)}
        _write(folder / f"{line.name}.json", head | {"took_s": round(took_s, 1), "detail": line.detail})


def _verdict(line: Line) -> Verdict | None:
    return None if line.target is None else line.verdict(line.target)


def save_skipped(bench: Bench, name: str, reason: str, *, folder: Path = OUTPUT) -> None:
    """Writes why a bench did not run."""
    _forget(name, folder)
    _write(folder / f"{name}.json", {"name": name, "skipped": reason, **_circumstances(bench, name)})


def _circumstances(bench: Bench, name: str) -> dict[str, object]:
    build = {"ours": bench.ours(), "peer": bench.peer()}
    return {"bench": name, "against": bench.against, **asdict(here()), "build": build}


def _forget(name: str, folder: Path) -> None:
    for path in folder.glob("*.json"):
        if path.stem == name or json.loads(path.read_text(encoding="utf-8")).get("bench") == name:
            path.unlink()


def _write(path: Path, fields: dict[str, object]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(fields, indent=2) + "\n", encoding="utf-8")
