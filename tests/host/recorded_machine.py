# SPDX-License-Identifier: Apache-2.0
"""/proc and /sys of another machine, from a text file in `machines/`, as a tree of plain files.

One line a file: `path: content`, with `content` on the indented lines below where it has several;
`path -> target` is a symbolic link, `path/` an empty directory. `{0-3}` in a path stands for four of
them, and `{}` in the content for the one that it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from weir.base.cores import parse_cpus

MACHINES = Path(__file__).with_name("machines")


def planted(name: str, root: Path) -> Path:
    """The tree of that machine below `root`."""
    text = (MACHINES / f"{name}.txt").read_text(encoding="utf-8")
    for entry in re.split(r"\n(?=/)", "\n" + text)[1:]:
        for path, content in _spelled_out(entry):
            place = root / path.lstrip("/")
            place.parent.mkdir(parents=True, exist_ok=True)
            if content is None:
                place.mkdir(exist_ok=True)
            elif content.startswith("-> "):
                place.symlink_to(content.removeprefix("-> "))
            else:
                place.write_text(content + "\n", encoding="utf-8")
    return root


def _spelled_out(entry: str) -> Iterator[tuple[str, str | None]]:
    lines = [line for line in entry.splitlines() if not line.startswith("#")]
    head, separator, rest = re.match(r"(\S+?)(?:(:| ->)(?: (.*))?)?$", lines[0]).groups()  # type: ignore[union-attr]
    content = "\n".join([*([rest] if rest else []), *(line.strip("\t") for line in lines[1:] if line)])
    said = None if separator is None else f"-> {content}" if separator == " ->" else content
    found = re.search(r"\{([-,\d]+)\}", head)
    for number in parse_cpus(found[1]) if found else (None,):
        here = head if found is None else head.replace(found[0], str(number))
        yield here, None if said is None else said.replace("{}", str(number))
