# SPDX-License-Identifier: Apache-2.0
"""repeat: labs/switching --quick again and again: do its rates and ratios agree with each other?

REPEAT_RUNS runs (10), one after the other, by the command line, with one store as a user has.

- *ratio*: share of all rates that are within 3 % of their case's median or flagged (a bound, out of time,
  slower state, disturbed, unsteady, irregular). The median is of the rates without a flag.
- `plain_near`: the same of the rates without a flag alone; `flagged`: the share of the others.
- `ratios_near`: share of the ratios to the baseline that are within 5 % of their case's median.
- `seconds`: how long each run took.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from bench.pairs import Line, SkipError
from weir.report import summary
from weir.report.rates import ITSELF
from weir.results.result import Result

LAB = Path(__file__).resolve().parent.parent / "labs" / "switching"
RUNS = int(os.environ.get("REPEAT_RUNS", "10"))
TARGET = 0.95
RATE_NEAR, RATIO_NEAR = 0.03, 0.05

Place = tuple[str, str, str, str]  # technology, chain, frame, goal


def run() -> Line:
    """The share that agrees; detail has every rate with its flags."""
    if os.geteuid() != 0:
        raise SkipError("needs root")
    rates: dict[Place, list[tuple[float | None, str]]] = {}
    ratios: dict[Place, list[float]] = {}
    seconds: list[float] = []
    with tempfile.TemporaryDirectory(prefix="weir-repeat-") as folder:
        for number in range(RUNS):
            result = _measured(Path(folder), number)
            seconds.append(result.seconds)
            for row in summary.rows(result):
                place = row.setup.name, row.setup.chain, row.case.frame, row.throughput.goal
                rates.setdefault(place, []).append((row.throughput.load_pps, row.flags))
                if row.ratio is not None and row.ratio is not ITSELF and row.ratio.bound == "=":
                    ratios.setdefault(place, []).append(row.ratio.value)
    return judged(rates, ratios, seconds)


def judged(
    rates: Mapping[Place, Sequence[tuple[float | None, str]]],
    ratios: Mapping[Place, Sequence[float]],
    seconds: Sequence[float],
) -> Line:
    """What the runs say together."""
    right = [said for found in rates.values() for said in _right(found)]
    near = [said for found in ratios.values() for said in _near(found, RATIO_NEAR)]
    share = sum(right) / len(right)
    flagged = [bool(flags) for found in rates.values() for _, flags in found]
    return Line(
        name="repeat",
        ratio=share,
        min=share,
        max=share,
        n=len(right),
        target=TARGET,
        detail={
            "runs": len(seconds),
            "seconds": list(seconds),
            "plain_near": _plain_near(rates),
            "flagged": sum(flagged) / len(flagged),
            "ratios_near": sum(near) / len(near) if near else None,
            "ratios": len(near),
            "rates": {" ".join(place): list(found) for place, found in rates.items()},
            "ratio_values": {" ".join(place): list(found) for place, found in ratios.items()},
        },
    )


def _right(found: Sequence[tuple[float | None, str]]) -> list[bool]:
    plain = [rate for rate, flags in found if rate is not None and not flags]
    middle = statistics.median(plain) if plain else 0.0
    return [
        bool(flags) or (rate is not None and abs(rate / middle - 1) <= RATE_NEAR) for rate, flags in found
    ]


def _plain_near(rates: Mapping[Place, Sequence[tuple[float | None, str]]]) -> float | None:
    plain = [[one for one in found if not one[1]] for found in rates.values()]
    right = [near for found in plain if found for near in _right(found)]
    return sum(right) / len(right) if right else None


def _near(found: Iterable[float], share: float) -> list[bool]:
    values = list(found)
    middle = statistics.median(values)
    return [abs(value / middle - 1) <= share for value in values]


def _measured(folder: Path, number: int) -> Result:
    output = folder / str(number)
    command = ["run", str(LAB), "--quick", "-o", str(output), "--store", str(folder / "store.db")]
    code = "from weir.cli.main import main; main()"
    done = subprocess.run([sys.executable, "-c", code, *command], capture_output=True, text=True, check=False)
    path = output / "result.json"
    if not path.exists():
        raise SkipError(f"weir run failed: {done.stderr.strip().splitlines()[-1:] or done.stdout[-200:]}")
    return Result.model_validate_json(path.read_text(encoding="utf-8"))
