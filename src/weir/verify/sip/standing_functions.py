# SPDX-License-Identifier: Apache-2.0
"""The functions, started in servers that stand: whether they live, what they count, and registrations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from weir.lab.application import Application
from weir.verify.case import NotSoError, Running
from weir.verify.driver import CloudError, Hosts, HostsWanted, Program
from weir.verify.sip import functions, kamailio, scenarios, sipp
from weir.verify.sip.functions import CALLEE, CALLER, FIRST, KAMAILIO, PATHS, SERVERS, Function
from weir.verify.sip.kamailio import Counters
from weir.verify.sip.sipp import Unexpected
from weir.verify.sip.subscribers import Subscribers

RUN = "run"
"""Directory of a function's own output, in its server's."""
_ASK_S = 5.0
_READY_S = 30.0
_END_S = 3.0
_REGISTER = "register"


class StandingFunctions:
    """All of them, in servers of one network."""

    def __init__(self, run: Running, hosts: Hosts, vcpus: int) -> None:
        self.run, self.hosts, self.vcpus = run, hosts, vcpus
        self.application: Application = run.application
        self.first = FIRST[self.application.variant]
        self._subscribers = Subscribers(self.application.subscribers, self.application.variant)
        self._programs: dict[str, tuple[Function, Program]] = {}

    def start(self) -> None:
        """One after the other, until each is of use. CloudError names one that is not."""
        for one in functions.functions(self.application, self._subscribers):
            values = self._values(one.server)
            self.hosts.write(
                one.server, {name: functions.filled(text, values) for name, text in one.files.items()}
            )
            words = [functions.filled(word, values) for word in one.words]
            program = self.hosts.start(one.server, RUN, words, own_temporary=one.own_temporary)
            self._programs[one.server] = one, program
        deadline = self.run.took_s() + _READY_S
        for name in KAMAILIO[self.application.variant]:
            while not self._ready(name):
                self.require_alive()
                if self.run.took_s() > deadline:
                    raise NotSoError(f"{functions.TITLES[name]} is of no use after {_READY_S:g} s")
                self.run.left_s()
                self.run.pause()

    def _values(self, server: str) -> dict[str, str]:
        names = SERVERS[self.application.variant]
        return {
            **functions.constants(self.application),
            **{name: self.hosts.address(name) for name in names},
            "OWN": self.hosts.address(server),
            "NAME": server,
            "DIRECTORY": self.hosts.directory(server),
        }

    def _ready(self, name: str) -> bool:
        try:
            if functions.asks_subscriber_server(name):
                return kamailio.peers_open(self._ask(name, *kamailio.PEERS))
            self.counters(name)
        except CloudError:
            return False
        return True

    def _ask(self, name: str, *command: str) -> str:
        return self.hosts.run(name, kamailio.asked(self.hosts.directory(name), *command), _ASK_S)

    def counters(self, name: str) -> Counters:
        """Of a function. CloudError if it does not answer."""
        try:
            return kamailio.counters(self._ask(name, *kamailio.STATISTICS))
        except KeyError as error:
            raise CloudError(f"{functions.TITLES[name]} counts no {error}") from error

    def all_counters(self) -> dict[str, Counters]:
        """Of all, by name, in their order."""
        return {name: self.counters(name) for name in KAMAILIO[self.application.variant]}

    def require_alive(self) -> None:
        """CloudError names a function that has ended, with its last words."""
        for one, program in self._programs.values():
            code = program.exit_code()
            if code is not None:
                how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
                raise CloudError(f"{one.title} has ended {how}; last, it said: {program.said()}")

    def wait(self, program: Program, within_s: float, what: str) -> int:
        """Its exit code. CloudError if a function ends before it, or it does not end in time."""
        deadline = self.run.took_s() + within_s
        while (code := program.exit_code()) is None:
            self.require_alive()
            self.run.left_s()
            if self.run.took_s() > deadline:
                raise NotSoError(f"{what} has not come to its end within {within_s:.0f} s")
            self.run.pause()
        return code

    def register(self) -> int:
        """All subscribers; how many. NotSoError if one could not, with the first reason."""
        mine = self._subscribers
        done = sum(
            self._registered(server, users)
            for server, users in ((CALLER, mine.callers()), (CALLEE, mine.callees()))
        )
        counted = self.counters(self.first).registered
        if counted != done:
            raise NotSoError(
                f"SIPp counts {done} registrations, and {functions.TITLES[self.first]} {counted}"
            )
        return done

    def _registered(self, server: str, users: str) -> int:
        count = len(users.splitlines()) - 1
        rate_cps = min(self.application.register_rate_cps, count)
        files = {"register.xml": scenarios.register(self.application), "register.csv": users}
        self.hosts.write(server, {f"{_REGISTER}/{name}": text for name, text in files.items()})
        words = sipp.caller(
            self.hosts.address(server), self.hosts.address(self.first), _REGISTER,
            calls=count, rate_cps=rate_cps,
        )  # fmt: skip
        program = self.hosts.start(server, _REGISTER, words)
        within_s = count / rate_cps + 3 * sipp.ANSWER_MS / 1000
        try:
            code = self.wait(program, within_s, "registration")
        finally:
            program.end(_END_S)
        if code not in (0, 1):  # 1: a call has failed
            raise NotSoError(f"SIPp gave up: {self.why(server, _REGISTER) or program.said()}")
        found = sipp.counts(self.hosts.read(server, f"{_REGISTER}/{sipp.COUNTS}"))
        if found.successful != count:
            causes = sipp.with_names(found.causes, self.unexpected(server, _REGISTER, found))
            reasons = ", ".join(f"{times} × {cause}" for cause, times in causes.items())
            raise NotSoError(
                f"{found.successful} of {count} subscribers could register; the others: {reasons}"
            )
        return found.successful

    def why(self, server: str, name: str) -> str | None:
        """The first error that SIPp has written there."""
        try:
            return sipp.first_error(self.hosts.read(server, f"{name}/{sipp.ERRORS}"))
        except CloudError:
            return None

    def unexpected(self, server: str, name: str, found: sipp.CallCounts) -> Counter[Unexpected]:
        """Messages by which calls failed, as SIPp has named them; none where it has named more than it
        counts."""
        try:
            named = sipp.unexpected(self.hosts.read(server, f"{name}/{sipp.ERRORS}"))
        except CloudError:
            return Counter()
        return named if named.total() <= found.unexpected else Counter()


@contextmanager
def standing(run: Running, vcpus: int | None = None) -> Iterator[StandingFunctions]:
    """Functions that stand, with all subscribers registered; for the body. CloudError. `vcpus`: None: the
    first of the file."""
    application = run.application
    chosen = application.vcpus[0] if vcpus is None else vcpus
    wanted = HostsWanted(PATHS[application.variant], chosen)
    with run.hosts(f"make {len(wanted.names)} servers", wanted) as hosts:
        made = StandingFunctions(run, hosts, chosen)
        with run.doing("start the functions") as done:
            made.start()
            done.found = ", ".join(KAMAILIO[application.variant])
        with run.doing("register the subscribers") as done:
            done.found = f"{made.register()} registered"
        yield made
