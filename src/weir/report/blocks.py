# SPDX-License-Identifier: Apache-2.0
"""What the terminal's tables and lists are made of. Texts of labs are never read as markup."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TextIO

from rich import box
from rich.console import Console, ConsoleOptions, RenderableType
from rich.padding import Padding
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from weir.base.printable import printable


class _Console(Console):
    """Names that others gave do not steer the terminal, wherever they stand."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=printable(segment.text))


def new_console(file: TextIO | None = None, **shape: Any) -> Console:
    """Every one of Weir's. Rich would colour numbers, take a part of 02:57:c1:cd:00:01 for an emoji, and what
    a cloud says in [brackets] for a style."""
    return _Console(file=file, highlight=False, emoji=False, markup=False, **shape)


def show(what: RenderableType, console: Console, columns: int) -> None:
    """In a terminal with colours and in its width; in a file or a pipe plain, in so many columns."""
    if console.is_terminal:
        console.print(what)
    else:
        console.file.write(plain(what, columns))


def plain(what: RenderableType, columns: int) -> str:
    """Without colours, and without spaces at ends of lines."""
    out = io.StringIO()
    new_console(out, width=columns, color_system=None, legacy_windows=False).print(what)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


def table(title: str, *, between: int = 1, style: str = "bold") -> Table:
    """Without columns yet; `between`: spaces after each."""
    out = Table(
        title=Text(title, overflow="fold") if title else None,
        title_justify="left",
        title_style=style,
        box=box.SIMPLE_HEAD,
    )
    out.show_edge, out.padding = False, (0, between, 0, 0)
    return out


def facts(pairs: Iterable[tuple[str, str]]) -> RenderableType:
    """Name and value in a line each."""
    out = Table.grid(padding=(0, 2, 0, 0))
    for name, value in pairs:
        out.add_row(Text(name, style="dim"), Text(value, overflow="fold"))
    return Padding(out, (0, 0, 0, 2))


def listed(
    title: str, sentences: Sequence[str], style: str, marks: Sequence[str] = ()
) -> Iterator[RenderableType]:
    """A mark and a sentence each, with hanging indents; nothing of none."""
    if sentences:
        rows = Table.grid(padding=(0, 1, 0, 0))
        for mark, sentence in zip(marks or ["–"] * len(sentences), sentences, strict=True):
            rows.add_row(mark, Text(sentence, overflow="fold"))
        yield Text(title, style=style)
        yield Padding(rows, (0, 0, 0, 2))
