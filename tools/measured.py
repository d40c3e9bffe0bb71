# SPDX-License-Identifier: Apache-2.0
"""`python -m tools.measured RUN` puts a stored run into the README: its rates and a picture of its report.

RUN is what `weir report` takes. Needs Chromium. Look at the picture before you commit it.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from pathlib import Path

from weir.cli.exits import CommandError
from weir.cli.stored import stored
from weir.report import numbers, render, summary
from weir.store import StoreError
from weir.store.result import Result

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "pictures" / "report.png"
WIDTH_PX, HEIGHT_PX = 1280, 1010  # the head, the readings and the bars
MARKS = ("<!-- throughput, by tools/measured.py -->\n", "<!-- end of throughput -->\n")


def main() -> int:
    """Writes both; exit code 2 for wrong usage."""
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        result = stored(sys.argv[1], None)
    except (CommandError, StoreError) as error:
        print(f"tools/measured: {error}", file=sys.stderr)
        return 2
    readme = ROOT / "README.md"
    readme.write_text(with_table(readme.read_text(encoding="utf-8"), result), encoding="utf-8")
    photograph(render(result, "html"), PICTURE)
    return 0


def with_table(text: str, result: Result) -> str:
    """The README with the table between its marks made anew."""
    before, rest = text.split(MARKS[0])
    return before + MARKS[0] + "\n" + "\n".join(table(result)) + "\n\n" + MARKS[1] + rest.split(MARKS[1])[1]


def table(result: Result) -> Iterator[str]:
    """Markdown: the first goal of each chain, technology and frame size, with its ratio to the baseline."""
    goal, frames = summary.goals(result)[0], summary.frames(result)
    machine, quick = result.fingerprint, " --quick" if result.quick else ""
    virtual = " of a virtual machine" if machine.hypervisor not in ("", "none") else ""
    said = (
        f"`weir run labs/{result.lab}{quick}`, {result.started_at[:10]}, on {machine.cpu}, {machine.cores} "
        f"cores{virtual}, Linux {machine.kernel}, DPDK {machine.versions['dpdk']}: {goal} in Mpps, both "
        f"directions together, and its ratio to `{result.baseline}`."
    )
    yield from textwrap.wrap(said, 118, break_on_hyphens=False)
    yield ""
    heads = [f"{frame} B" if frame.isdigit() else summary.frame_label(frame) for frame in frames]
    yield f"| chain | technology | {' | '.join(heads)} |"
    yield "|---" * (2 + len(frames)) + "|"
    cells: dict[tuple[str, str], dict[str, str]] = {}
    for row in summary.rows(result):
        if row.throughput.goal == goal:
            place = row.setup.chain, row.setup.technology
            cells.setdefault(place, {})[row.case.frame] = _cell(row, result.baseline)
    for (chain, technology), by_frame in sorted(cells.items(), key=lambda item: item[0][0]):
        yield f"| {chain} | `{technology}` | {' | '.join(by_frame.get(frame, '') for frame in frames)} |"
    yield ""
    yield "≥: the tester was the limit, and the chain may do more. *Irregular*: no rate could be defended."


def _cell(row: summary.Row, baseline: str) -> str:
    if row.throughput.load_pps is None:
        return "*irregular*"
    rate = ("≥ " if row.throughput.tester_bound else "") + numbers.mpps(row.throughput.load_pps)
    if row.setup.technology == baseline or row.ratio is None:
        return rate
    return f"{rate} ({numbers.times(row.ratio)} ×)"


def photograph(page: str, picture: Path) -> None:
    """The top of an HTML page as a PNG file."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        raise SystemExit("tools/measured: no Chromium here: apt-get install chromium")
    picture.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "report.html"
        file.write_text(page, encoding="utf-8")
        subprocess.run(
            [
                chromium,
                *("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"),
                f"--user-data-dir={folder}/profile",
                "--virtual-time-budget=8000",
                f"--window-size={WIDTH_PX},{HEIGHT_PX}",
                f"--screenshot={picture}",
                file.as_uri(),
            ],
            check=True,
            capture_output=True,
            timeout=120,
        )


if __name__ == "__main__":
    sys.exit(main())
