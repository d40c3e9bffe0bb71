# SPDX-License-Identifier: Apache-2.0
"""The page on the model kernel-vnf: its tables, between marks, are computed from the published numbers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from weir.planning.kernel_vnf.configuration import PUBLISHED, agree, disagreements, published
from weir.planning.kernel_vnf.ranking import Case, predict

PAGE = "docs/design/kernel-vnf-model.md"
MARKS = ("<!-- tables, by tools/docs/kernel_vnf_page.py -->\n", "<!-- end of tables -->\n")
# The machine and traffic of [ExecAreas] (Table 3, section 4.1).
HOST = Case(frequency_hz=3.7e9, cores=8, link_bps=10e9, flows=100, frame_bytes=64)


def page(root: Path) -> str:
    """The page with its tables made anew."""
    before, rest = (root / PAGE).read_text(encoding="utf-8").split(MARKS[0])
    tables = [_parameters(), _costs(), _throughputs()]
    made = "\n\n".join("\n".join(table) for table in tables)
    return f"{before}{MARKS[0]}\n{made}\n\n{MARKS[1]}{rest.split(MARKS[1])[1]}"


def _parameters() -> Iterator[str]:
    yield "| configuration | parameters | a | a0 | b | b0 |"
    yield "|---|---|---|---|---|---|"
    for name in published("table-2"):
        for source in reversed(PUBLISHED):
            p = published(source)[name].parameters
            first = f"`{name}`" if source == PUBLISHED[-1] else ""
            yield f"| {first} | `{source}` | {p.a:.4f} | {p.a0:.4f} | {p.b:.1f} | {p.b0:.1f} |"


def _costs() -> Iterator[str]:
    yield "| configuration | tables | first f, 64 B | first f, 1024 B | second f, 64 B | second f, 1024 B |"
    yield "|---|---|---|---|---|---|"
    for name in published("table-2"):
        verdict = "agree" if agree(name) else "disagree"
        yield f"| `{name}` | {verdict} | {' | '.join(f'{one:+z.2%}' for one in disagreements(name))} |"


def _throughputs() -> Iterator[str]:
    yield "| configuration | f | `table-1`, Mpps | `table-2`, Mpps | difference |"
    yield "|---|---|---|---|---|"
    for name, configuration in published("table-2").items():
        by_2 = predict(configuration, HOST)
        by_1 = predict(published("table-1")[name], HOST)
        mpps = [one.throughput.pps / 1e6 for one in (by_1, by_2)]
        yield f"| `{name}` | {by_2.scale} | {mpps[0]:.3f} | {mpps[1]:.3f} | {mpps[1] / mpps[0] - 1:+z.1%} |"
