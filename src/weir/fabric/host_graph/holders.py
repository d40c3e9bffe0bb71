# SPDX-License-Identifier: Apache-2.0
"""Who has taps open: proc_pid_fdinfo(5) of descriptors of /dev/net/tun names the interface. A QEMU has the
name of its virtual machine besides."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePath

from weir.fabric.host_graph.namespaces import command
from weir.fabric.program_log import printable

_TUN = "/dev/net/tun"
_NAMED = "iff:"
_NAME_OPTION = "-name"


@dataclass(frozen=True)
class Holder:
    """A process that has a tap open."""

    pid: int
    interface: str

    def __str__(self) -> str:
        machine = _machine(self.pid)
        return (
            f"{command(self.pid)} {machine} ({self.pid})" if machine else f"{command(self.pid)} ({self.pid})"
        )


def tap_holders(pids: Iterable[int]) -> list[Holder]:
    """Among these processes."""
    found = []
    for pid in pids:
        with suppress(OSError):
            names = {_interface(pid, descriptor) for descriptor in Path(f"/proc/{pid}/fd").iterdir()}
            found += [Holder(pid, name) for name in sorted(one for one in names if one is not None)]
    return found


def holder_of(name: str, here: Collection[int], holders: Sequence[Holder], *, only: bool) -> Holder | None:
    """Of the tap of that name in the namespace of the processes `here`. A process may have one of another
    namespace open: where `only` this namespace has a tap of that name, it is whoever has it."""
    named = [one for one in holders if one.interface == name]
    fallback = named[0] if only and named else None
    return next((one for one in named if one.pid in here), fallback)


def _machine(pid: int) -> str:
    """What a QEMU calls its virtual machine, as `-name NAME` or `-name guest=NAME,…`; empty: it is none."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return ""
    if not PurePath(words[0]).name.startswith("qemu-") or _NAME_OPTION not in words[:-1]:
        return ""
    name = words[words.index(_NAME_OPTION) + 1].partition(",")[0]
    return printable(name.removeprefix("guest="))


def _interface(pid: int, descriptor: Path) -> str | None:
    with suppress(OSError):
        if str(descriptor.readlink()) != _TUN:
            return None
        for line in Path(f"/proc/{pid}/fdinfo/{descriptor.name}").read_text().splitlines():
            if line.startswith(_NAMED):
                return line.removeprefix(_NAMED).strip()
    return None
