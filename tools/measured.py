# SPDX-License-Identifier: Apache-2.0
"""`python -m tools.measured RUN` puts a stored run into its lab's README, between the marks there.

RUN is what `weir report` takes. The table of a run of labs/switching goes into the main README, too, with a
picture of its report (needs Chromium: look at the picture before you commit it).
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from weir.base.error import WeirError
from weir.cli.stored import stored
from weir.lab.frames import frame_label
from weir.procedures.latency import section_rows
from weir.procedures.side_by_side import section as side_by_side
from weir.procedures.steps import section as steps
from weir.procedures.tenants import section as tenants
from weir.procedures.tenants import section_rows as sent
from weir.procedures.tenants import section_tcp
from weir.procedures.tenants.section_paper import checks
from weir.procedures.tenants.section_steps import costs
from weir.report import doubts, legend, noise, numbers, rates, render, summary
from weir.report.sections import PlainTable
from weir.results.result import Result
from weir.results.trial import left_out_s

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "pictures" / "report.png"
WIDTH = 118  # columns of a README's text
WIDTH_PX, HEIGHT_PX = 1280, 1270  # the head, the summary, the readings and the bars
MAIN_LAB = "switching"
MARKS = ("<!-- throughput, by tools/measured.py -->\n", "<!-- end of throughput -->\n")


def main() -> int:
    """Writes both; exit code 2 for wrong usage."""
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        result = stored(sys.argv[1], None)
    except WeirError as error:
        print(f"tools/measured: {error}", file=sys.stderr)
        return 2
    pages = {ROOT / "labs" / result.lab / "README.md": list(lab_tables(result))}
    if result.lab == MAIN_LAB:
        pages[ROOT / "README.md"] = list(main_table(result))
    texts = {page: page.read_text(encoding="utf-8") if page.is_file() else "" for page in pages}
    for page, text in texts.items():
        if not all(mark in text for mark in MARKS):
            print(f"tools/measured: {page} has no marks to put a table between: {MARKS[0]}", file=sys.stderr)
            return 2
    for page, lines in pages.items():
        page.write_text(with_lines(texts[page], lines), encoding="utf-8")
    if result.lab == MAIN_LAB:
        photograph(render(result, "html"), PICTURE)
    return 0


def with_lines(text: str, lines: Iterable[str]) -> str:
    """A README with what is between its marks made anew."""
    before, rest = text.split(MARKS[0])
    return before + MARKS[0] + "\n" + "\n".join(lines) + "\n\n" + MARKS[1] + rest.split(MARKS[1])[1]


def main_table(result: Result) -> Iterator[str]:
    """Markdown: rates and ratios, and where stands what the run itself says against them."""
    yield from table(result)
    out_s, whole_s = left_out_s(list(summary.trials(result)))
    noisy = noise.sentences(result)
    quiet = f"{out_s / whole_s:.0%} of the time of its trials does not count" if whole_s else ""
    said = f"Its machine was noisy{f': {quiet}' if quiet else ''}. " if noisy else ""
    where = f"(labs/{result.lab}/README.md#results)"
    yield ""
    yield from textwrap.wrap(
        f"{said}[All that this run says against its own numbers]{where}.", WIDTH, break_on_hyphens=False
    )


def lab_tables(result: Result) -> Iterator[str]:
    """Markdown: rates, cycles of what is compared, changes of the delay, whether processors were emulated,
    what was left out and why, and what this machine cannot show."""
    if summary.goals(result):
        yield from table(result)
    else:
        yield from textwrap.wrap(f"{_run(result)}.", WIDTH, break_on_hyphens=False)
    yield from _tenants(result)
    for brought in steps.plain_tables(result):
        yield from _plain(brought, f"{brought.title}:")
        yield ""
        yield from textwrap.wrap(" ".join(steps.MEANING), WIDTH, break_on_hyphens=False)
    for one in side_by_side.tables(result):
        yield from _plain(one, f"{one.title}:")
        yield from ("", *textwrap.wrap(one.note, WIDTH, break_on_hyphens=False))
    rows = list(section_rows.reduction_rows(result))
    if rows:
        yield ""
        said = f"Change of the delay to `{result.baseline}`, the least and the greatest of the rounds; µs."
        yield from textwrap.wrap(f"{said} {section_rows.UNSURE}", WIDTH, break_on_hyphens=False)
        yield ""
        yield f"| chain | frame | load | variant | {' | '.join(section_rows.REDUCED_HEAD.values())} |"
        yield "|---" * (4 + len(section_rows.REDUCED_HEAD)) + "|"
    for row in rows:
        cells = [
            f"{change}{f' ({spread})' if spread else ''}<br>{values}"
            for change, spread, values in zip(row.changes(), row.spreads(), row.values(), strict=True)
        ]
        load = ", ".join(part for part in (row.load, row.remark()) if part)
        yield f"| {row.chain} | {row.frame} | {load} | `{row.way}` | {' | '.join(cells)} |"
    emulated = [sentence for sentence, _ in summary.fidelity(result) if sentence.startswith("Emulated:")]
    yield from _points("Know first:", emulated)
    tuned = section_rows.host_of(result).items()
    applied = [f"`{name}`: {section_rows.applied(settings)}" for name, settings in tuned]
    left_out = [f"`{name}`: {missing}" for name, missing in summary.refusals(result)]
    yield from _points("What of `host` held:", applied)
    yield from _points("Left out here:", left_out)
    yield from _points("What this machine cannot show:", section_rows.out_of_reach(result))
    yield from _warnings(result)


def _tenants(result: Result) -> Iterator[str]:
    """What arrived of what each tenant sent: a row a load, a column for each number of tenants that send."""
    found = sent.rows(result)
    if not found:
        return
    columns = list(dict.fromkeys(row.sending for row in found))
    cells: dict[tuple[str, float], dict[str, str]] = {}
    for row in found:
        for point in row.record.points:
            place = cells.setdefault((f"{frame_label(row.case.frame)} B", point.load_pps), {})
            place[row.sending] = sent.arrived(row, point)
    said = "What arrives a second of each tenant's packets, least–most, and what all lose, by who sends:"
    yield from ("", *textwrap.wrap(said, WIDTH, break_on_hyphens=False), "")
    yield f"| frame | each sends, pps | {' | '.join(columns)} |"
    yield "|---" * (2 + len(columns)) + "|"
    for (frame, load_pps), values in cells.items():
        line = " | ".join(values.get(one, "") for one in columns)
        yield f"| {frame} | {load_pps:,.0f} | {line} |"
    for over_tcp in [one for one in tenants.plain(result) if one.title == section_tcp.TITLE]:
        yield from _plain(over_tcp, f"{over_tcp.title}, by iperf3:")
    yield from _points("What one more costs:", costs(result))
    yield from _points("What the paper found, here:", [one.sentence() for one in checks(result)])


def _plain(one: PlainTable, title: str) -> Iterator[str]:
    yield from ("", title, "", f"| {' | '.join(one.head)} |")
    yield "|---" * len(one.head) + "|"
    yield from (f"| {' | '.join(line)} |" for line in one.lines)


def _warnings(result: Result) -> Iterator[str]:
    yield from _points("This machine was noisy:", noise.sentences(result))
    goals = summary.goals(result)
    yield from _points(
        "Read with care:", doubts.grouped(result, goals[0]) if goals else doubts.sentences(result)
    )


def _points(title: str, sentences: Sequence[str]) -> Iterator[str]:
    if sentences:
        yield from ("", title, "")
    for sentence in sentences:
        yield from textwrap.wrap(
            f"- {sentence}", WIDTH, break_on_hyphens=False, break_long_words=False, subsequent_indent="  "
        )


def _run(result: Result) -> str:
    machine, quick = result.fingerprint, " --quick" if result.quick else ""
    kind = "a quick run" if result.quick else "a full run"
    virtual = " of a virtual machine" if machine.hypervisor not in ("", "none") else ""
    return (
        f"`weir run labs/{result.lab}{quick}` ({kind}), {result.started_at[:10]}, {_weir(result)}, on "
        f"{machine.cpu}, {machine.cores} cores{virtual}, Linux {machine.kernel}, DPDK "
        f"{machine.versions['dpdk']}"
    )


def _weir(result: Result) -> str:
    """ "Weir 0.1.0, commit 1a2b3c4d5e6f", as the run recorded it."""
    version, _, commit = result.fingerprint.versions.get("weir", result.weir).partition("+g")
    if not commit:
        return f"Weir {version}, commit not recorded"
    sha, _, dirty = commit.partition(".")
    return f"Weir {version}, commit {sha}{' with changes' if dirty else ''}"


def table(result: Result) -> Iterator[str]:
    """Markdown: the first goal of each chain, technology and frame size, with its spread, flags and ratio."""
    goal, frames = summary.goals(result)[0], summary.frames(result)
    said = f"{_run(result)}: {goal} in Mpps, {legend.directions(result)}, {_around(result)}."
    yield from textwrap.wrap(said, WIDTH, break_on_hyphens=False)
    yield ""
    heads = [f"{frame} B" if frame.isdigit() else frame_label(frame) for frame in frames]
    yield f"| chain | technology | {' | '.join(heads)} |"
    yield "|---" * (2 + len(frames)) + "|"
    cells: dict[tuple[str, str], dict[str, str]] = {}
    for row in summary.rows(result):
        if row.throughput.goal == goal:
            place = row.setup.chain, row.setup.name
            cells.setdefault(place, {})[row.case.frame] = _cell(row) + _contradicted(row)
    for (chain, technology), by_frame in sorted(cells.items(), key=lambda item: item[0][0]):
        yield f"| {chain} | `{technology}` | {' | '.join(by_frame.get(frame, '') for frame in frames)} |"
    yield ""
    used = legend.flags_used(result)
    limit = "the tester, or what the lab lets be sent," if "M" in used else "the tester"
    bounds = f"≥, ≤: at least, at most, since {limit} was a limit. "
    if any("; a trial: " in cell for by_frame in cells.values() for cell in by_frame.values()):
        bounds += "A trial: one of the same case carried that without loss, perhaps in a better state. "
    if any("; a trial lost " in cell for by_frame in cells.values() for cell in by_frame.values()):
        bounds += "A trial lost: a valid one of the same case lost so much of less load. "
    if any(" S ×" in cell for by_frame in cells.values() for cell in by_frame.values()):
        bounds += "S behind a ratio: of rounds in a slower state than the rates. "
    flags = " ".join(f"{letter}: {text.partition(':')[0]}." for letter, text in used.items())
    yield from textwrap.wrap(bounds + flags, WIDTH, break_on_hyphens=False)


def _around(result: Result) -> str:
    """What stands behind a rate, and between which ends: of rounds, or of clouds one after the other."""
    ratio = f"in brackets its ratio to `{result.baseline}`, and the least and greatest"
    if not sent.rows(result):
        several = result.spec.get("measure", {}).get("rounds", 1) > 1
        of_rounds = " (of a round, side by side: no ratio is a quotient of two rates here)" if several else ""
        return f"± the farthest repeat or round; {ratio} of the pairs that it is the median of{of_rounds}"
    if not summary.compares(result):
        return "± the farthest repeat"
    return (
        f"± the farthest repeat; {ratio} that the repeats allow: one cloud was built and measured after the "
        "other, not in rounds"
    )


def _cell(row: summary.Row) -> str:
    """ "≥ 2.000 ±3% (≥4.00 ×, 3.90–4.10) TS", "1.200 to 2.300 L", "*irregular* I"."""
    found = row.throughput
    if found.load_pps is None:
        return f"*irregular* {row.flags}"
    said = ("≥ " if found.at_least else "") + rates.mpps(found, " to ")
    distance = rates.farthest(found)
    if distance is not None:
        said += f" {numbers.around(distance)}"
    if row.ratio is not None and row.ratio_text != "1":
        span = f", {row.ratio.span}" if row.ratio.span else ""
        said += f" ({row.ratio_text} ×{span})"
    return f"{said} {row.flags}".rstrip()


def _contradicted(row: summary.Row) -> str:
    """ "; a trial: 2.400": what a valid one of the same case carried without loss, where that is far more;
    "; a trial lost 5 % of 0.200": what one lost of far less."""
    most_pps = doubts.contradicted_pps(row.throughput, row.case)
    worst = doubts.lost_below(row.throughput, row.case)
    said = "" if most_pps is None else f"; a trial: {numbers.mpps(most_pps)}"
    if worst is not None:
        share = numbers.share(worst.counted_loss_ratio)
        said += f"; a trial lost {share} of {numbers.mpps(worst.intended_load_pps)}"
    return said


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
