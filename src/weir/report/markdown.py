# SPDX-License-Identifier: Apache-2.0
"""The report to paste into a ticket or a wiki (CommonMark with GitHub's tables): what was measured and on
what, the executive summary, the procedures' tables, what their letters mean, and what the numbers rest on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from weir.report import Format, legend, noise, summary
from weir.report.sections import PlainTable, executive_summary, kind, sections
from weir.results.result import Result

_SPECIAL = re.compile(r"[\\*_\[\]<>|#~`&$]")
_CODE = re.compile(r"`([^`]+)`")


def render(result: Result) -> str:
    """Texts of labs and machines are text, and never Markdown."""
    return "\n".join(_lines(result)) + "\n"


def _lines(result: Result) -> Iterator[str]:
    yield f"# {_text(summary.title(result))}"
    yield ""
    yield from _facts(result)
    most = noise.headline(result)
    if most is not None:
        yield from ("", f"**{_text(most)}**")
    yield from _list("Summary", executive_summary(result))
    for section in sections(result):
        for table in section.tables(result):
            yield from _table(table)
    flags = legend.flags_used(result)
    yield from _list("Flags", [f"{letter}: {meaning}" for letter, meaning in flags.items()])
    care = (f"{letter}: {said}" if letter.isalpha() else said for letter, said in legend.counted(result))
    yield from _list("Read with care", [*care])
    rests = [f"{said} ({', '.join(names)})" if names else said for said, names in summary.fidelity(result)]
    yield from _list("What the numbers rest on", rests)
    yield from _list(summary.OUTPUTS, summary.outputs(result))
    yield from _list(summary.N4, summary.n4(result))
    yield from _list("How to read it", [*legend.sentences(result)] if summary.goals(result) else [])
    yield ""
    yield f"More: `weir report {result.id} -o report.html` writes the page with plots and every trial."


def _facts(result: Result) -> Iterator[str]:
    """What was measured, on what, when."""
    machine = result.fingerprint
    versions = [f"{name} {version}" for name, version in machine.versions.items() if name != "python"]
    mode = "quick run" if result.quick else "full run"
    unfinished = "interrupted; " if result.interrupted else ""
    pairs = (
        ("Measured", f"{kind(result)} of lab {result.lab}: {_what(result)}"),
        ("On", f"{machine.cpu}, {machine.cores} cores, kernel {machine.kernel}; {', '.join(versions)}"),
        ("When", f"{result.started_at}, {unfinished}{summary.duration(result)}, {mode}"),
        ("Run", result.id),
        *((("Not whole", missing),) if (missing := summary.left_out(result)) is not None else ()),
        *((f"{name} left out", why) for name, why in summary.refusals(result)),
    )
    for name, value in pairs:
        yield f"- {_text(name)}: {_text(value)}"


def _what(result: Result) -> str:
    """ "direct, ovs; PVP, PVVP; 64 B, 1518 B"."""
    frames = [summary.sizes(frame) for frame in summary.frames(result)]
    parts = (summary.built(result), summary.chains(result), frames)
    return "; ".join(", ".join(part) for part in parts if part) or "nothing was built"


def _list(title: str, sentences: Sequence[str]) -> Iterator[str]:
    if sentences:
        yield from ("", f"## {title}", "", *(f"- {_text(sentence)}" for sentence in sentences))


def _table(table: PlainTable) -> Iterator[str]:
    yield from ("", f"## {_text(table.title)}", "")
    yield _row(table.head)
    sides = ("---" if index < table.words else "---:" for index in range(len(table.head)))
    yield f"|{'|'.join(sides)}|"
    yield from map(_row, table.lines)
    if table.note:
        yield from ("", _text(table.note))


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(_text(cell) or ' ' for cell in cells)} |"


def _text(text: str) -> str:
    """On one line, with all that would be Markdown escaped; what stands between backticks stays code."""
    flat = " ".join(text.split())
    parts = _CODE.split(flat)
    return "".join(
        _escaped(part) if index % 2 == 0 else f"`{part}`" if "|" not in part else _escaped(f"`{part}`")
        for index, part in enumerate(parts)
    )


def _escaped(text: str) -> str:
    return _SPECIAL.sub(lambda found: "\\" + found[0], text)


FORMAT = Format("markdown", ".md", render)
