# SPDX-License-Identifier: Apache-2.0
"""`python -m tools.model_error FILE [LAB]` puts the answer of `weir validate-model --json` into a lab.

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
from weir.report.validation_picture import picture
from weir.store.model import ModelValidation

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
    error, naive = found.error, found.naive_error
    counted = [case for case in found.cases if not case.disturbed] or found.cases
    disturbed = len(found.cases) - len(counted)
    said = (
        f"`weir validate-model {lab}/held-out/*.yml`, model of {found.model_created_at[:10]}: "
        f"{len(counted)} set-ups; error of the rate {error.mean:.1%} in the mean, {error.bias:+.1%} with "
        f"sign, 90th percentile {error.p90:.1%}, worst {error.worst:.1%}; {found.covered:.0%} of the 95 % "
        f"intervals held. The naive sum of stage costs: {naive.mean:.1%} in the mean, 90th percentile "
        f"{naive.p90:.1%}, worst {naive.worst:.1%}."
    )
    if disturbed:
        said += (
            f" {disturbed} more set-ups, marked as disturbed, are not in these numbers: the host slowed or "
            "moved the cores whenever they were measured."
        )
    yield from textwrap.wrap(said, WIDTH, break_on_hyphens=False)
    yield ""
    yield "| set-up | measured, Mpps | predicted | error | 95 % interval | naive sum | limited by |"
    yield "|---|---|---|---|---|---|---|"
    for case in found.cases:
        held = case.low_pps <= case.measured_pps <= case.high_pps
        name = case.name.removeprefix("held-out-")
        cells = [
            f"{name} (disturbed)" if case.disturbed else name,
            f"{case.measured_pps / 1e6:.2f}",
            f"{case.predicted_pps / 1e6:.2f}",
            f"{case.predicted_pps / case.measured_pps - 1:+.1%}",
            f"{case.low_pps / 1e6:.2f} to {case.high_pps / 1e6:.2f}{'' if held else ' (missed)'}",
            f"{case.naive_pps / case.measured_pps - 1:+.1%}",
            case.limited_by,
        ]
        yield f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.exit(main())
