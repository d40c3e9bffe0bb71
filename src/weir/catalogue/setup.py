# SPDX-License-Identifier: Apache-2.0
"""What a counterpart is set up by, and what it is told of the place where it stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from weir.base.error import USAGE, WeirError
from weir.base.read_file import read_text
from weir.lab.counterparts import TABLE_PREFIX
from weir.lab.nf import Scalar, entries, network_functions

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
    number: int = 1
    """Which one of its name it is in the function's chain."""

    def __getitem__(self, name: str) -> str:
        return self.values[name]


@dataclass(frozen=True)
class XdpProgram:
    """A program of eBPF that the kernel runs on each packet of both interfaces."""

    source: Path
    """In C, with a section xdp_left and one xdp_right: what is done with packets that come in there."""
    defines: Mapping[str, str] = field(default_factory=dict)
    """Macros besides LEFT_INDEX and RIGHT_INDEX, the numbers of both interfaces."""


@dataclass(frozen=True)
class Setup:
    """In the order: settings, then programs."""

    programs: tuple[tuple[tuple[str, ...], str | None], ...] = ()
    """Words of a program, behind which the path of a file comes, and what is in that file; None: there is no
    file."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """Of the network namespace, net.…; one that a kernel lacks is passed over."""
    xdp: XdpProgram | None = None
    """Behind all of these: what has each packet first."""


def given(nf: str, options: Options, key: str) -> Scalar | None:
    """What the lab says, or the function's default. KeyError for an option that it does not have."""
    option = network_functions()[nf].option(key)
    if option is None:
        raise KeyError(key)
    return options.get(key, option.default)


def lines(
    options: Options, list_key: str | None, file_key: str | None, *, commas: bool = False
) -> Iterator[tuple[str, str]]:
    """(where, line) of a list that stands in the lab, or of a file; neither remarks nor empty lines.

    `commas`: they part entries of a file, too, and a remark takes those to its line's end with it.
    """
    if list_key is not None and options.get(list_key):
        listed = str(options[list_key])
        parted = entries(listed) if commas else map(_without_remark, listed.replace(",", "\n").split("\n"))
        yield from ((f"{list_key}, entry {number}", entry) for number, entry in enumerate(parted, 1) if entry)
    elif file_key is not None:
        for where, line in file_lines(options, file_key):
            parted = entries(line) if commas else [_without_remark(line)]
            yield from ((where, entry) for entry in parted if entry)


def _without_remark(line: str) -> str:
    return line.partition("#")[0].strip()


def file_lines(options: Options, key: str) -> Iterator[tuple[str, str]]:
    """(where, line) of the file that the option names, if it does: all but empty ones."""
    if options.get(key):
        path = Path(str(options[key]))
        for number, line in enumerate(_text(path).split("\n"), 1):
            if line.strip():
                yield f"{path}, line {number}", line.strip()


def _text(path: Path) -> str:
    try:
        return read_text(path)
    except (OSError, UnicodeDecodeError) as error:
        raise CatalogueError(f"cannot read {path}: {error}", "mend the file, or name another one") from error


def table(family: str, nf: str, body: list[str], number: int = 1) -> str:
    """A table of nftables, as `nft -f` reads it. `number`: a second one needs a table of its own; in that of
    the first it would stand behind a rule that decides."""
    name = f"{TABLE_PREFIX}{nf}{number if number > 1 else ''}"
    return "\n".join([f"table {family} {name} {{", *(f"  {line}" for line in body), "}", ""])


NFT = ("nft", "-f")
IP_BATCH = ("ip", "-batch")
CONNECTION_TRACKING = "net.netfilter.nf_conntrack_"


def tcp_timeouts(beginning: str, open_: str, closed: str) -> dict[str, str]:
    """Of connection tracking's states, by the options for connections that begin, are open, and are closed. A
    connection is open until both ends have sent a FIN, whatever waits to be acknowledged."""
    return {
        **{f"tcp_timeout_{one}": beginning for one in ("syn_sent", "syn_recv")},
        **{
            f"tcp_timeout_{one}": open_
            for one in ("established", "fin_wait", "close_wait", "unacknowledged", "max_retrans")
        },
        **{f"tcp_timeout_{one}": closed for one in ("last_ack", "time_wait", "close")},
    }


NAPT_TIMEOUTS = {
    **tcp_timeouts("tcp_transitory_timeout_s", "tcp_established_timeout_s", "tcp_transitory_timeout_s"),
    "udp_timeout": "udp_timeout_s",
    "udp_timeout_stream": "udp_timeout_s",
    "icmp_timeout": "icmp_timeout_s",
    "icmpv6_timeout": "icmp_timeout_s",
}
"""Of connection tracking, by the options of Weir's firewall and nat."""


def timeouts(nf: str, options: Options, by_setting: Mapping[str, str]) -> dict[str, str]:
    """Settings of connection tracking, from the function's options or their defaults."""
    return {f"{CONNECTION_TRACKING}{key}": str(given(nf, options, own)) for key, own in by_setting.items()}


def without_ipv6(nf: str) -> str:
    """A table that drops IPv6, counted, of a function that knows IPv4 alone."""
    body = [
        "counter ipv6 { }",
        "chain forward {",
        "  type filter hook forward priority filter; policy accept;",
    ]
    return table("ip6", nf, [*body, "  counter name ipv6 drop", "}"])
