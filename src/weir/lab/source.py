# SPDX-License-Identifier: Apache-2.0
"""YAML text with the place of each key and value, so that every later complaint can name its line.

The tree of nodes is composed by ruamel.yaml and turned into plain values here, because its loader stops at
the first duplicate key and does not keep the places of scalars in sequences of scalars.
"""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.constructor import ConstructorError, SafeConstructor
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from weir.lab.named_functions import EXAMPLE, lab_of_functions
from weir.lab.problem import LabFileError, Problem, nearest

MAX_FILE_BYTES = 1 << 20
MAX_VALUES = 100_000  # aliases multiply: a small file can stand for more than memory holds
MAX_DEPTH = 64
KeyPath = tuple[str | int, ...]
_MERGE = "<<"
_SCALARS = ("null", "bool", "int", "float", "str")


@dataclass(frozen=True)
class FileKind:
    """How errors call a file."""

    name: str
    """ "a lab": what it describes."""
    file: str
    """Its name in a directory of its own."""
    keys: str
    """With which it begins."""


COMMANDS = {"lab.yml": "weir run", "sut.yml": "weir verify", "fleet.yml": "weir fleet plan"}
"""What is done with a directory, by the file that it has."""
_OWN_KEYS = {
    "lab.yml": frozenset({"chain", "technology", "tenants", "cloud"}),
    "sut.yml": frozenset({"driver"}),
    "fleet.yml": frozenset({"hosts"}),
}
"""One of which each cannot be without; of several the first: a lab may have hosts, too."""
LAB = FileKind("a lab", "lab.yml", "weir, name, chain, technology, …")


@dataclass(frozen=True)
class Place:
    """Where something stands in the file, and its dotted key there. Lines and columns count from 1."""

    line: int
    column: int
    key: str


@dataclass
class Source:
    """The values of a file, and the place of each path into them."""

    file: str
    values: Any = None
    places: dict[KeyPath, Place] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def place(self, path: KeyPath) -> Place:
        """The place of `path`, or of the nearest thing around it that the file has."""
        for length in range(len(path), -1, -1):
            if path[:length] in self.places:
                return self.places[path[:length]]
        return Place(1, 1, "")

    def under(self, path: KeyPath) -> Iterator[tuple[KeyPath, Place]]:
        """Every path from `path` inwards, relative to it, with its place."""
        for candidate, place in self.places.items():
            if candidate[: len(path)] == path:
                yield candidate[len(path) :], place

    def complain(
        self, path: KeyPath, message: str, expected: str | None = None, nearest: str | None = None
    ) -> None:
        """Adds a problem at the place of `path`."""
        place = self.place(path)
        self.problems.append(
            Problem(self.file, place.line, place.column, dotted(path), message, expected, nearest)
        )


def dotted(path: KeyPath) -> str:
    """A path as users write it: traffic.frames[1]."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def read_source(path: Path, kind: FileKind = LAB) -> Source:
    """Reads a YAML file; of a lab, functions may be named in its place. LabFileError if there is no text or
    no mapping; the source has smaller problems."""
    file = str(path)
    text = _text(path, kind)
    source = Source(file)
    yaml = YAML(typ="rt", pure=True)
    try:
        node = yaml.compose(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        said = ": ".join(part for part in (error.context, error.problem) if part)
        problem = Problem(file, line, column, "", f"not valid YAML: {said}", _instead(error))
        raise LabFileError([problem]) from None
    except RecursionError:
        raise LabFileError([Problem(file, 1, 1, "", "is nested too deeply", "YAML")]) from None
    except (YAMLError, ValueError) as error:
        said = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise LabFileError([Problem(file, 1, 1, "", f"not valid YAML: {said}", "YAML")]) from None
    if node is None:
        raise LabFileError([Problem(file, 1, 1, "", "is empty", f"{kind.name}: {kind.keys}")])
    if not isinstance(node, MappingNode):
        raise LabFileError([Problem(file, 1, 1, "", "is not a mapping", "keys and values: weir: 1, name: …")])
    source.values = _Reader(source).value(node, ())
    return source


def require_kind(source: Source, kind: FileKind) -> None:
    """LabFileError of a file that another command takes: all its keys would be unknown."""
    values = source.values
    file = next((name for name, own in _OWN_KEYS.items() if own & values.keys()), kind.file)
    if file != kind.file:
        wanted = f"{kind.name}: {kind.keys}; this is for `{COMMANDS[file]}`"
        raise LabFileError([Problem(source.file, 0, 0, "", f"is no {kind.name.removeprefix('a ')}", wanted)])


def _instead(error: MarkedYAMLError) -> str:
    """What to write in place of what is no YAML."""
    if r"'\t'" in str(error.problem):
        return "spaces, not tabs"
    began = f"of line {error.context_mark.line + 1}" if error.context_mark else ""
    for context, mark, end in (
        ("a flow sequence", "`[`", "`]`"),
        ("a flow mapping", "`{`", "`}`"),
        ("a quoted scalar", "quote", "quote"),
    ):
        if began and context in str(error.context):
            return f"the {mark} {began} closed with a {end}"
    return "YAML"


_piped: dict[tuple[int, int], bytes] = {}
"""What came out of pipes, `<(…)` of a shell's: it comes once, and commands read a lab more than once."""


def _read(path: Path) -> bytes:
    """So much of it as tells that it is too large. OSError."""
    known = path.stat()
    file_id = known.st_dev, known.st_ino
    if file_id in _piped and stat.S_ISFIFO(known.st_mode):
        return _piped[file_id]
    with path.open("rb") as file:
        raw = file.read(MAX_FILE_BYTES + 1)  # a device, or a pipe, has no size
    if stat.S_ISFIFO(known.st_mode):
        _piped[file_id] = raw
    return raw


def _text(path: Path, kind: FileKind) -> str:
    def fail(message: str, expected: str, near: str | None = None) -> LabFileError:
        return LabFileError([Problem(str(path), 0, 0, "", message, expected, near)])

    try:
        if path.is_dir():
            other = next(
                (
                    f"; its {name} is for `{for_}`"
                    for name, for_ in COMMANDS.items()
                    if (path / name).is_file()
                ),
                "",
            )
            raise fail(
                f"is a directory without {kind.file}",
                f"{kind.name} file, or a directory that holds one as {kind.file}{other}",
            )
        raw = _read(path)
        if len(raw) > MAX_FILE_BYTES:
            raise fail("is too large", f"{kind.name} file of at most {MAX_FILE_BYTES} bytes")
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        raise fail("is not text", f"{kind.name} file: YAML in UTF-8") from None
    except FileNotFoundError:
        if kind is not LAB:
            raise fail("does not exist", f"the path of {kind.name} file", _neighbour(path)) from None
        named = lab_of_functions(str(path))
        if named is None:
            wanted = f"the path of {kind.name} file, or {EXAMPLE}"
            raise fail("does not exist", wanted, _neighbour(path)) from None
        return named
    except (OSError, ValueError) as error:
        said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise fail(f"cannot be read: {said}", f"{kind.name} file") from None


def _neighbour(path: Path) -> str | None:
    """What stands beside it under a name that is nearly the same."""
    try:
        near = nearest(path.name, [one.name for one in path.parent.iterdir()])
    except OSError:
        return None
    return str(path.with_name(near)) if near else None


class _Reader:
    """Turns nodes into plain values, noting places and problems in a source."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.count = 0
        self.scalars: SafeConstructor = YAML(typ="safe", pure=True).constructor

    def value(self, node: Node, path: KeyPath) -> Any:
        self.count += 1
        if not path:
            self._note(path, node)
        self._refuse_too_much(path)
        if isinstance(node, MappingNode):
            return self._mapping(node, path)
        if isinstance(node, SequenceNode):
            items = []
            for index, item in enumerate(node.value):
                self._note((*path, index), item)
                items.append(self.value(item, (*path, index)))
            return items
        return self._scalar(node, path)

    def _refuse_too_much(self, path: KeyPath) -> None:
        if len(path) > MAX_DEPTH or self.count > MAX_VALUES:
            self.source.complain(path, "is nested too deeply, or too large", "a file of ordinary size")
            raise LabFileError(self.source.problems)

    def _mapping(self, node: MappingNode, path: KeyPath) -> dict[str, Any]:
        values: dict[str, Any] = {}
        first_lines: dict[str, int] = {}
        for key_node, value_node in [*node.value, *self._merged(node, path)]:
            if key_node.value == _MERGE and key_node.style is None:
                continue
            key = _text_of(key_node) if isinstance(key_node, ScalarNode) else None
            if key is None:
                self._note((*path, "?"), key_node)
                self.source.complain((*path, "?"), "is a key that is not a name", "a plain name")
                continue
            if key in values:
                before = self.source.places[(*path, key)]
                self._note((*path, key), key_node)
                self.source.complain(
                    (*path, key), f"appears twice, first in line {first_lines[key]}", "each key once"
                )
                self.source.places[(*path, key)] = before
                continue
            self._note((*path, key), key_node)
            first_lines[key] = key_node.start_mark.line + 1
            values[key] = self.value(value_node, (*path, key))
        return values

    def _merged(
        self, node: MappingNode, path: KeyPath, within: tuple[Node, ...] = ()
    ) -> list[tuple[Node, Node]]:
        """What merge keys add: keys of other mappings that this one does not have, the first one's first
        (https://yaml.org/type/merge.html)."""
        own = {str(key.value) for key, _ in node.value}
        found: list[tuple[Node, Node]] = []
        for key_node, value_node in node.value:
            if key_node.value != _MERGE or key_node.style is not None:
                continue
            others = value_node.value if isinstance(value_node, SequenceNode) else [value_node]
            for other in others:
                if not isinstance(other, MappingNode) or other in (node, *within):
                    self._note((*path, _MERGE), key_node)
                    self.source.complain(
                        (*path, _MERGE), "merges what is no mapping", "<<: *NAME of a mapping"
                    )
                    continue
                self.count += len(other.value)
                self._refuse_too_much(path)
                pairs = [*other.value, *self._merged(other, path, (node, *within))]
                found += [(key, value) for key, value in pairs if str(key.value) not in own]
                own |= {str(key.value) for key, _ in pairs}
        return found

    def _scalar(self, node: Node, path: KeyPath) -> Any:
        kind = str(node.tag).rpartition(":")[2]
        text = _text_of(node)
        if text is None:
            self.source.complain(path, f"is {node.value!r}, which is no text", "whole characters")
            return None
        if kind not in _SCALARS:
            if str(node.tag).startswith("tag:yaml.org,2002:"):
                return text  # dates and the like are texts here
            self.source.complain(path, f"has the tag {node.tag}", "a plain value")
            return None
        read: Callable[[Node], Any] = {
            "null": lambda _: None,
            "bool": self.scalars.construct_yaml_bool,
            "int": self._whole,
            "float": self.scalars.construct_yaml_float,
            "str": lambda _: text,
        }[kind]
        try:
            return read(node)
        except (ConstructorError, ValueError, KeyError, IndexError):
            self.source.complain(path, f"is {node.value!r}, tagged as {kind}", f"a value that is {kind}")
            return None

    def _whole(self, node: Node) -> Any:
        """ValueError of one with more digits than Python writes."""
        found = self.scalars.construct_yaml_int(node)
        str(found)
        return found

    def _note(self, path: KeyPath, node: Node) -> None:
        mark = node.start_mark
        self.source.places[path] = Place(mark.line + 1, mark.column + 1, dotted(path))


def _text_of(node: Node) -> str | None:
    """With characters whole that JSON, which is YAML, writes in two halves; None: a half stands alone. Where
    a text was folded the reader leaves marks, which are none of it."""
    text = str(node.value)
    try:
        return (
            (text.replace("\a", "") if getattr(node, "style", None) == ">" else text)
            .encode("utf-16", "surrogatepass")
            .decode("utf-16")
        )
    except UnicodeDecodeError:
        return None


def file_of(path: str | Path, kind: FileKind) -> Path:
    """The file itself, of a directory that has one of that kind."""
    path = Path(path)
    return path / kind.file if path.is_dir() and (path / kind.file).is_file() else path
