# SPDX-License-Identifier: Apache-2.0
"""`kernel`, `program` and `container` of a function: a network namespace in which Linux, or a program,
forwards; commands, and the names in braces that stand in them for what Weir chooses."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, get_args

from pydantic import Field

from weir.base.node import ProgramPorts
from weir.base.record import LabSection
from weir.lab.counterparts import PROGRAMS, LinuxBy, ProgramName
from weir.lab.units import Seconds

Word = Annotated[str, Field(max_length=4096, pattern=r"^[^\x00]*$")]
CommandForm = Word | Annotated[tuple[Word, ...], Field(min_length=1, max_length=256)]
"""A line, split as a shell splits it, or a list of words. No shell runs it."""

PORT_VALUES: Mapping[str, str] = {
    "name": "name of the network interface",
    "mac": "its MAC address",
    "address": "its IPv4 address, with the length of its prefix",
    "address6": "its IPv6 address, likewise",
    "gateway": "IPv4 address of the next hop on that side",
    "gateway6": "its IPv6 address",
    "gateway_mac": "its MAC address",
    "tester": "address of the tester's end on that side, of the lab's version of IP",
}
"""What there is of each port, `left` and `right`."""
SIDES = ("left", "right")


PORT_NAMES = tuple(f"{side}.{value}" for side in SIDES for value in PORT_VALUES)
SOCKET_VALUES: Mapping[str, str] = {
    "vdev": "what --vdev of a DPDK program makes the port of",
    "socket": "path of its socket",
}
"""What there is besides of each port of a program."""
EAL = "eal"
"""Stands alone as a word, for all arguments of DPDK's environment (EAL): cores, memory, ports."""
RUNTIME = "runtime_directory"
"""A directory that is the program's own, and ends with it."""
_OF_PROGRAMS = ("cores", "memory_mb", "file_prefix", RUNTIME, EAL)
PROGRAM_NAMES = (
    *PORT_NAMES,
    *(f"{side}.{value}" for side in SIDES for value in SOCKET_VALUES),
    *_OF_PROGRAMS,
)
FILE_PREFIX = "file."
_NAME = re.compile(rf"\{{([a-z0-9_]+\.[a-zA-Z0-9_-]+|{'|'.join(_OF_PROGRAMS)})\}}")

NftCounter = Annotated[
    str,
    Field(
        pattern=r"^(ip|ip6|inet|arp|bridge|netdev) [a-zA-Z]\S* [a-zA-Z]\S*$", examples=["inet filter refused"]
    ),
]


ROOT = "root"
"""As a program's user: it keeps all capabilities."""
ContainerRuntime = Literal["runc", "crun"]
CONTAINER_RUNTIMES: tuple[ContainerRuntime, ...] = get_args(ContainerRuntime)


class KernelOptions(LabSection):
    """A network namespace with two interfaces, left and right, between which Linux forwards."""

    counterpart: LinuxBy | None = Field(
        default=None,
        description="by what Linux does the function of `nf`, or the one of `chain`, that this can: ipvs, "
        "as lb; xdp, as l2fwd or l3fwd; absent: routes, nftables and tc",
    )
    addressing: Literal["routed", "none"] = Field(
        default="routed",
        description="routed: both interfaces have addresses of IPv4 and IPv6, Linux forwards both, and there "
        "are routes and static neighbours towards the tester's ends; none: the interfaces are up with their "
        "MAC addresses, IPv6 and forwarding are off, and all else is left to `sysctls` and `commands`",
    )
    sysctls: dict[str, int | str] = Field(
        default={}, max_length=256, description="settings of the namespace, net.…, after Weir's own"
    )
    commands: tuple[CommandForm, ...] = Field(
        default=(),
        max_length=256,
        description="run in the namespace before measuring, one after the other: each a line, or a list of "
        "words; names in braces such as {right.gateway} stand for what Weir chose",
    )
    commands_time_limit_s: Seconds = Field(
        default=30.0, gt=0, le=3600, description="longest time that all commands together may take"
    )
    directory: str | None = Field(
        default=None, min_length=1, description="where the commands run; absent: the lab file's directory"
    )
    drop_counters: tuple[NftCounter, ...] = Field(
        default=(),
        max_length=64,
        description="named counters of nftables (family, table, counter) that count packets which a rule "
        "drops, each packet in one of them: reasons in the account of packets",
    )
    rps: bool = Field(
        default=True,
        description="receive packet steering: the kernel takes what comes in on the function's cores; "
        "false: on the core of whoever sends",
    )


class ProgramOptions(LabSection):
    """A program that takes packets from one port and sends them out of the other: interfaces of a network
    namespace, by AF_PACKET, AF_XDP or whatever else it has, or ports of DPDK at sockets."""

    command: CommandForm | None = Field(
        default=None,
        description="what is started in the namespace, without a shell: a line, or a list of words; names in "
        "braces such as {left.name} stand for what Weir chose, {cores} for its cores, {file.NAME} for the "
        "path of one of `files`, {runtime_directory} for a directory of its own, the word {eal} for what "
        "DPDK's environment is told: cores, memory, ports",
    )
    counterpart: ProgramName | None = Field(
        default=None,
        description="instead of `command`: a program that is set up to do what `nf` and its `options` say",
    )
    path: str | None = Field(
        default=None,
        min_length=1,
        max_length=4096,
        description="of `counterpart`: the program, such as an example of DPDK's that was built; absent: the "
        "one that is installed by that name",
    )
    ports: ProgramPorts = Field(
        default="interface",
        description="interface: of the kernel, by veth pairs; virtio-user: ports of DPDK at sockets that the "
        "program makes, and to which vhost-user connects; vhost-user: sockets that it makes, to which "
        "virtio-user connects; memif: likewise; any: interfaces where the technology joins them, else "
        "virtio-user",
    )
    memory_mb: int = Field(
        default=512, ge=64, le=65536, description="of {eal}: in hugepages where enough are free"
    )
    commands: tuple[CommandForm, ...] = Field(
        default=(), max_length=256, description="run there before it, one after the other, likewise"
    )
    commands_time_limit_s: Seconds = Field(
        default=30.0, gt=0, le=3600, description="longest time that all of them together may take"
    )
    files: dict[Annotated[str, Field(pattern=r"^[a-zA-Z0-9][a-zA-Z0-9_-]{0,63}$")], str] = Field(
        default={},
        max_length=64,
        description="written before it starts: texts, in which names stand likewise",
    )
    environment: dict[Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")], Word] = Field(
        default={}, max_length=256, description="variables that it gets besides Weir's own environment"
    )
    directory: str | None = Field(
        default=None, min_length=1, description="where it runs; absent: the lab file's directory"
    )
    ready: str | None = Field(
        default=None,
        min_length=1,
        max_length=1024,
        description="a regular expression: the program is ready when a line that it prints matches; absent: "
        "when it has run for half a second",
    )
    ready_socket: Word | None = Field(
        default=None,
        min_length=1,
        description="path of a Unix socket, in which names stand likewise: the program is ready when that "
        "takes connections, and when `ready` matches, if both are there",
    )
    ready_packets: bool = Field(
        default=False,
        description="it is ready when, after all that, a packet of the lab's traffic (of a capture without "
        "`stamp` twenty frames) has come through the chain in each direction",
    )
    ready_time_limit_s: Seconds = Field(default=30.0, gt=0, le=3600, description="longest time until then")
    user: str | None = Field(
        default=None,
        pattern=r"^[a-z_][a-z0-9_-]{0,31}$",
        description="whom it runs as, with CAP_NET_RAW and CAP_NET_ADMIN in its namespace; absent: a user of "
        "its own, whom nobody else is; root: that one, with all that it may",
    )
    stop_signal: Literal["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"] = Field(
        default="SIGTERM", description="what ends it"
    )
    stop_time_limit_s: Seconds = Field(
        default=5.0, gt=0, le=600, description="how long it may take to end; then it is killed"
    )
    output_mb: int = Field(
        default=64, ge=1, le=4096, description="of its output so much is kept, from the beginning"
    )
    memory_limit_mb: int | None = Field(
        default=None,
        ge=16,
        le=1 << 20,
        description="most memory that it may have, with all that it starts, hugepages besides; absent: half "
        "of what this machine has available when it is started",
    )
    processes: int = Field(
        default=1024, ge=1, le=1 << 20, description="most processes and threads that it may be at one time"
    )

    def started(self) -> str:
        """What is executed: a path, or a name."""
        if self.command is not None:
            return words_of(self.command)[0]
        return self.path or PROGRAMS[self.counterpart or "testpmd"].program


class ContainerOptions(LabSection):
    """An OCI bundle (OCI Runtime Specification 1.0) that joins the function's network namespace."""

    bundle: str = Field(
        min_length=1, description="the directory with its config.json; relative to the lab file's"
    )
    runtime: ContainerRuntime | None = Field(
        default=None, description="what runs it; absent: runc, or crun where there is no runc"
    )


def words_of(command: str | Sequence[str]) -> tuple[str, ...]:
    """The words of one command. ValueError for a line with a quote that does not end."""
    return tuple(shlex.split(command)) if isinstance(command, str) else tuple(command)


def names_in(command: str | Sequence[str]) -> list[str]:
    """What stands in braces as names do, in its order: some may be the command's own."""
    return [
        name for word in ([command] if isinstance(command, str) else command) for name in _NAME.findall(word)
    ]


def filled(words: Sequence[str], values: Mapping[str, str]) -> list[str]:
    """The words with each name that is among `values` replaced by its value, which is never split."""
    return [_NAME.sub(lambda match: values.get(match[1], match[0]), word) for word in words]
