# SPDX-License-Identifier: Apache-2.0
"""A cloud that is made up, with servers in which made-up SIPps and functions run: they write and say what the
real ones do, of calls that a test decides on."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatch

from weir.base.error import FabricError
from weir.verify.driver import CannotRunError, CloudError, Hosts, HostsWanted, Program

from .made import MadeCloud

COLUMNS = (
    "StartTime", "CurrentTime", "TotalCallCreated", "CurrentCall", "SuccessfulCall(C)", "FailedCall(C)",
    "FailedMaxUDPRetrans(C)", "FailedTimeoutOnRecv(C)", "FailedTimeoutOnSend(C)",
    "FailedUnexpectedMessage(C)", "FailedCallRejected(C)", "FailedCannotSendMessage(C)",
    "FailedOutboundCongestion(C)", "FailedTcpConnect(C)", "FailedTcpClosed(C)", "Retransmissions(C)",
)  # fmt: skip


START_S, STEP_S = 0.01, 0.252
"""As SIPp has them on a real machine: until its first row, and from then on between two."""


def rows_file(created: Sequence[tuple[float, int]], failed: int = 0) -> str:
    """As SIPp's counts: calls created by each time since its first row; of the last row also what became of
    them, of calls that did not get an answer in time where they failed."""
    lines = [";".join(COLUMNS)]
    for number, (seconds, calls) in enumerate(created, 1):
        ended, lost = (calls - failed, failed) if number == len(created) else (0, 0)
        values: dict[str, object] = dict.fromkeys(COLUMNS, 0) | {
            "StartTime": "d\tt\t100.0", "CurrentTime": f"d\tt\t{100 + START_S + seconds:.6f}",
            "TotalCallCreated": calls, "CurrentCall": calls - ended - lost,
            "SuccessfulCall(C)": ended, "FailedCall(C)": lost, "FailedTimeoutOnRecv(C)": lost,
        }  # fmt: skip
        lines.append(";".join(str(values[one]) for one in COLUMNS))
    return "\n".join(lines) + "\n"


def at_a_pace(calls: int, seconds: float) -> list[tuple[float, int]]:
    """Rows of calls that are made in that time, the first of them when it is due, and that last 1.7 s."""
    looks = range(math.ceil((seconds + 1.7) / STEP_S) + 1)
    return [(n * STEP_S, min(calls, int(calls * n * STEP_S / seconds + 1e-9))) for n in looks]


def counts_file(calls: int, failed: int, seconds: float = 1.0) -> str:
    """Of a whole load."""
    return rows_file(at_a_pace(calls, seconds), failed)


@dataclass
class MadeSip(MadeCloud):
    """`capacity_cps`: of what is offered beyond that, calls fail. `caller_cps`: what its SIPp can keep."""

    capacity_cps: float = 1e9
    caller_cps: float = 1e9
    cpus: int = 64
    """Of its host; servers cannot have more."""
    lost_by_callee: int = 0
    """Calls of each load that it does not count."""
    not_registered: int = 0
    ends: str = ""
    """Server whose function ends as soon as calls come,"""
    ends_at_load: int = 1
    """in this load of a case."""
    delays: str = "Date_ms;response_time_ms;rtd_no\n1;5;request\n"
    """What SIPp writes of its calls' request delays; nothing: it has no such file."""
    gives_up: str = ""
    """What a SIPp says that cannot go on."""
    lacks_programs: str = ""
    hosted: list[HostsWanted] = field(default_factory=list)

    def require_programs(self, programs: Mapping[str, str]) -> None:
        if self.lacks_programs:
            raise FabricError(f"there is no {self.lacks_programs} here", programs[self.lacks_programs])

    @contextmanager
    def hosts(self, wanted: HostsWanted) -> Iterator[Hosts]:
        if wanted.vcpus > self.cpus:
            raise CannotRunError(f"servers can have {self.cpus} CPUs, not {wanted.vcpus}")
        self.hosted.append(wanted)
        self.standing += 1
        yield MadeHosts(self, wanted)
        self.standing -= 1


@dataclass
class MadeProgram:
    code: int | None
    words: str = "nothing"

    def exit_code(self) -> int | None:
        return self.code

    def said(self) -> str:
        return self.words

    def end(self, patience_s: float, *, quietly: bool = False) -> None:  # noqa: ARG002
        self.code = 0 if self.code is None else self.code


@dataclass
class MadeHosts:
    cloud: MadeSip
    wanted: HostsWanted
    files: dict[str, str] = field(default_factory=dict)
    functions: dict[str, MadeProgram] = field(default_factory=dict)
    registered: int = 0
    invited: int = 0
    answered: int = 0

    def address(self, server: str) -> str:
        return f"10.0.0.{self.wanted.names.index(server) + 3}"

    def directory(self, server: str) -> str:
        return f"/run/{server}"

    def write(self, server: str, files: Mapping[str, str]) -> None:
        assert not [text for text in files.values() if "@OWN@" in text or "@REALM@" in text]
        self.files |= {f"{server}/{name}": text for name, text in files.items()}

    def read(self, server: str, name: str) -> str:
        found = [text for path, text in self.files.items() if fnmatch(path, f"{server}/{name}")]
        if not found:
            raise CloudError(f"{server} has no file {name}")
        return found[-1]

    def start(self, server: str, name: str, words: Sequence[str], *, own_temporary: bool = False) -> Program:  # noqa: ARG002
        if words[0] != "sipp":
            self.functions[server] = MadeProgram(None, "core was generated")
            return self.functions[server]
        if "-m" not in words:  # the callee
            return MadeProgram(None)
        calls, rate_cps = int(words[words.index("-m") + 1]), float(words[words.index("-r") + 1])
        return (
            self._register(server, name, calls) if name == "register" else self._call(name, calls, rate_cps)
        )

    def _register(self, server: str, name: str, calls: int) -> Program:
        failed = self.cloud.not_registered
        self.registered += calls - failed
        self.files[f"{server}/{name}/counts.csv"] = counts_file(calls, failed)
        return self._ended(server, name, failed)

    def _call(self, name: str, calls: int, rate_cps: float) -> Program:
        failed = max(0, round(calls * (1 - self.cloud.capacity_cps / rate_cps)))
        self.invited += calls
        self.answered += calls - failed
        seconds = calls / min(rate_cps, self.cloud.caller_cps)
        self.files[f"caller/{name}/counts.csv"] = counts_file(calls, failed, seconds)
        rang = calls - failed - self.cloud.lost_by_callee
        self.files[f"callee/{name}/counts.csv"] = counts_file(rang, 0, seconds)
        self.files[f"callee/{name}/calls.log"] = "".join(f"{number}-7@caller\n" for number in range(rang))
        if self.cloud.delays:
            self.files[f"caller/{name}/caller_7_rtt.csv"] = self.cloud.delays
        if self.cloud.ends and name == f"load-{self.cloud.ends_at_load}":
            self.functions[self.cloud.ends].code = -11
            return MadeProgram(None)
        return self._ended("caller", name, failed)

    def _ended(self, server: str, name: str, failed: int) -> Program:
        if self.cloud.gives_up:
            self.files[f"{server}/{name}/errors.log"] = f"d\tt\t1.0: {self.cloud.gives_up}\n"
            return MadeProgram(255)
        return MadeProgram(1 if failed else 0)

    def run(self, server: str, words: Sequence[str], within_s: float) -> str:
        assert within_s > 0
        assert server in self.functions
        if words[-1] == "cdp.list_peers":
            return "Peers: {\n\tState: I_Open\n}\n"
        numbers = {
            "script:registered": self.registered, "script:invited": self.invited,
            "script:answered": self.answered, "script:refused": self.invited - self.answered,
            "script:cancelled": 0, "tmx:active_transactions": 0,
        }  # fmt: skip
        return "".join(f"{name} = {value}\n" for name, value in numbers.items())
