# SPDX-License-Identifier: Apache-2.0
"""What a counterpart is set up by, and what it is told of the place where it stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from weir.base.error import USAGE, WeirError
from weir.lab.kernel import TABLE_PREFIX
from weir.lab.nf import Scalar, network_functions

Options = Mapping[str, Scalar]


class CatalogueError(WeirError):
    """Options that the counterpart cannot be set up from. `message` says what and where, `fix` what to do."""

    exit_code = USAGE

    def __init__(self, message: str, fix: str) -> None:
        super().__init__(f"{message}; {fix}")
        self.message = message
        self.fix = fix


@dataclass(frozen=True)
class Ends:
    """The function's two interfaces, and who is at the other ends of their links."""

    values: Mapping[str, str]
    """By the names of `weir.lab.kernel.PORT_VALUES`: left.name, right.gateway_mac …"""
    left_prefixes: tuple[str, ...] = ()
    """What is at the left: the tester's end."""

    def __getitem__(self, name: str) -> str:
        return self.values[name]


@dataclass(frozen=True)
class Setup:
    """In the order: settings, then programs."""

    programs: tuple[tuple[tuple[str, ...], str], ...] = ()
    """Words of a program, behind which the path of a file comes, and what is in that file."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """Of the network namespace, net.…; one that a kernel lacks is passed over."""


def given(nf: str, options: Options, key: str) -> Scalar | None:
    """What the lab says, or the function's default. KeyError for an option that it does not have."""
    option = network_functions()[nf].option(key)
    if option is None:
        raise KeyError(key)
    return options.get(key, option.default)


def lines(options: Options, list_key: str | None, file_key: str | None) -> Iterator[tuple[str, str]]:
    """(where, line) of a list that stands in the lab, or of a file; neither remarks nor empty lines."""
    if list_key is not None and options.get(list_key):
        for number, entry in enumerate(str(options[list_key]).split(","), 1):
            if entry.strip():
                yield f"{list_key}, entry {number}", entry.strip()
    elif file_key is not None and options.get(file_key):
        path = Path(str(options[file_key]))
        for number, line in enumerate(_text(path).splitlines(), 1):
            text = line.partition("#")[0].strip()
            if text:
                yield f"{path}, line {number}", text


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CatalogueError(f"cannot read {path}: {error}", "mend the file, or name another one") from error


def table(family: str, nf: str, body: list[str]) -> str:
    """A table of nftables, as `nft -f` reads it."""
    return "\n".join([f"table {family} {TABLE_PREFIX}{nf} {{", *(f"  {line}" for line in body), "}", ""])


NFT = ("nft", "-f")
CONNECTION_TRACKING = "net.netfilter.nf_conntrack_"
