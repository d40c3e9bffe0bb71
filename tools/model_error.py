# SPDX-License-Identifier: Apache-2.0
"""`python -m tools.model_error FILE [LAB]` puts the answer of `weir model validate --json` into a lab.

LAB: its directory; absent: labs/predict. The table goes into its README, between the marks that are there for
the technology, and the picture beside it.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from tools.measured import WIDTH
from weir.planning.calibration.picture import picture
from weir.results.model import ModelValidation, PredictionErrors

ROOT = Path(__file__).resolve().parents[1]
END = "<!-- end of errors -->\n"


def main() -> int:
    """Writes both; exit code 2 for wrong usage."""
    if len(sys.argv) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        found = ModelValidation.model_validate_json(Path(sys.argv[1]).read_text(encoding="utf-8"))
    except (OSError, ValidationError) as error:
        print(f"tools/model_error: {sys.argv[1]}: {error}", file=sys.stderr)
        return 2
    lab = Path(sys.argv[2] if len(sys.argv) == 3 else ROOT / "labs" / "predict").resolve()
    direct = found.technology == "direct"
    begin = f"<!-- errors{'' if direct else f' of {found.technology}'}, by tools/model_error.py -->\n"
    readme = lab / "README.md"
    before, rest = readme.read_text(encoding="utf-8").split(begin)
    table = "\n".join(lines(found, str(lab.relative_to(ROOT))))
    readme.write_text(before + begin + "\n" + table + "\n\n" + END + rest.split(END, 1)[1], "utf-8")
    name = "predicted-measured.svg" if direct else f"predicted-measured-{found.technology}.svg"
    (lab / name).write_text(picture(found), "utf-8")
    return 0


def lines(found: ModelValidation, lab: str) -> Iterator[str]:
    """Markdown: what all errors are together, then each set-up."""
    if found.draws is None:
        how = f"`weir model validate {lab}/held-out/*.yml`"
    else:
        how = f"`weir model validate --random {len(found.cases)} --seed {found.draws.seed}`"
    said = [
        f"{how}, model of {found.model_created_at[:10]}. {_summary('Blind', found.blind)}",
        _summary("Given the state of the machine that was found", found.conditional),
    ]
    disturbed = len(found.cases) - found.conditional.count
    if disturbed:
        said.append(
            f"{disturbed} set-ups, marked as disturbed, are not in the second numbers: the host slowed or "
            "moved the cores whenever they were measured."
        )
    if found.draws is not None:
        again = "; ".join(f"{one.count} since {one.why}" for one in found.draws.redrawn)
        said.append(f"Draws that were no set-up, and were drawn again: {again or 'none'}.")
    yield from textwrap.wrap(" ".join(said), WIDTH, break_on_hyphens=False)
    yield ""
    yield "| set-up | measured, Mpps | blind | error | 95 % interval | in its state | naive sum | limits |"
    yield "|---|---|---|---|---|---|---|---|"
    for case in found.cases:
        blind = case.blind
        held = blind.low_pps <= case.measured_pps <= blind.high_pps
        name = case.name.removeprefix("held-out-").removeprefix("random ")
        cells = [
            f"{name} (disturbed)" if case.disturbed else name,
            f"{case.measured_pps / 1e6:.2f}",
            f"{blind.pps / 1e6:.2f}",
            f"{blind.pps / case.measured_pps - 1:+.1%}",
            f"{blind.low_pps / 1e6:.2f} to {blind.high_pps / 1e6:.2f}{'' if held else ' (missed)'}",
            f"{case.conditional.pps / case.measured_pps - 1:+.1%}",
            f"{blind.naive_pps / case.measured_pps - 1:+.1%}",
            blind.limited_by,
        ]
        yield f"| {' | '.join(cells)} |"


def _summary(what: str, found: PredictionErrors) -> str:
    error, naive = found.error, found.naive
    return (
        f"{what}: {found.count} set-ups, error of the rate {error.mean:.1%} in the mean, "
        f"{error.bias:+.1%} with sign, 90th percentile {error.p90:.1%}, worst {error.worst:.1%}; "
        f"{found.held} of the 95 % intervals held, so that {found.held_low:.0%} to {found.held_high:.0%} do; "
        f"the naive sum of stage costs is off by {naive.mean:.1%} in the mean, "
        f"90th percentile {naive.p90:.1%}."
    )


if __name__ == "__main__":
    sys.exit(main())
