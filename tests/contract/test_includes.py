# SPDX-License-Identifier: Apache-2.0
"""Which of C's rooms may know which, by #include lines. Python: test_imports.py."""

from __future__ import annotations

import re
from pathlib import Path

from tests.circle import circle_in
from tests.each_file import each_file

NATIVE = Path(__file__).parents[2] / "native"
C_MAY_INCLUDE: dict[str, frozenset[str]] = {
    "packet": frozenset(),
    "engine": frozenset({"packet"}),
    "toolkit": frozenset({"packet", "engine"}),
    "nf": frozenset({"packet", "engine", "toolkit"}),
    "traffic": frozenset({"packet", "engine"}),
    "port": frozenset({"packet", "engine"}),
    "control": frozenset({"packet", "engine", "toolkit", "nf", "traffic", "port"}),
    "lean": frozenset({"packet", "engine", "toolkit", "nf", "traffic", "port", "control"}),
    "app": frozenset({"packet", "engine", "toolkit", "nf", "traffic", "port", "control", "lean"}),
}
C_FILES = sorted(path for path in NATIVE.rglob("*") if path.suffix in (".c", ".h"))


def name(path: Path) -> str:
    """Below native/."""
    return str(path.relative_to(NATIVE))


@each_file(C_FILES)
def test_c_rooms_include_only_what_lies_below_them(path: Path) -> None:
    room = path.relative_to(NATIVE).parts
    if room[0] not in C_MAY_INCLUDE:
        return
    for line in path.read_text(encoding="utf-8").splitlines():
        found = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
        if found is None:
            continue
        target = resolved(path, found[1])
        if target is None:
            continue
        if target[0] == room[0] == "nf":
            assert target[1] == room[1], f"{name(path)}: a network function includes another one: {found[1]}"
            continue
        allowed = C_MAY_INCLUDE[room[0]] | {room[0]}
        if path.stem.endswith(("_test", "_fuzz", "_bench")):
            allowed = allowed | {"testing"}
        assert target[0] in allowed, f"{name(path)}: {room[0]} must not include {found[1]}"


def resolved(path: Path, included: str) -> tuple[str, ...] | None:
    """The path under native/ of an included file; None if it is not ours."""
    for base in (path.parent, NATIVE, *(NATIVE / part for part in C_MAY_INCLUDE)):
        candidate = (base / included).resolve()
        if candidate.is_file() and candidate.is_relative_to(NATIVE):
            return candidate.relative_to(NATIVE).parts
    return None


def test_c_files_include_each_other_in_no_circle() -> None:
    """A .c and its .h are one node."""
    includes: dict[str, set[str]] = {}
    for path in C_FILES:
        node = str(path.relative_to(NATIVE).with_suffix(""))
        found = re.findall(r'^\s*#\s*include\s+"([^"]+)"', path.read_text(encoding="utf-8"), re.MULTILINE)
        targets = [target for target in (resolved(path, line) for line in found) if target is not None]
        includes.setdefault(node, set()).update(str(Path(*target).with_suffix("")) for target in targets)
        includes[node].discard(node)
    assert circle_in(includes) is None


def test_a_circle_is_seen() -> None:
    assert circle_in({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c", "b"]


def test_what_is_below_the_functions_never_names_one() -> None:
    functions = [path.name for path in (NATIVE / "nf").iterdir() if path.is_dir()]
    assert functions
    for path in C_FILES:
        if path.relative_to(NATIVE).parts[0] in ("packet", "engine", "toolkit"):
            code = re.sub(r"/\*.*?\*/|//[^\n]*", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
            words = set(re.findall(r"[a-z0-9]+", code.lower()))
            assert not words & set(functions), f"{name(path)} names a network function"
