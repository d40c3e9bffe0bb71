# SPDX-License-Identifier: Apache-2.0
"""A campaign over hosts that wait: what it asks for, and it as a program, over the nodes of a Ray cluster:

python -m tests.waiting_hosts.campaign --on ADDRESS --store PATH --setups N --rounds N --wait SECONDS

Twenty frame sizes of each set-up. It begins a campaign in that store, or goes on with it. Its last word on
standard output: seconds from when its hosts were there to its last point, and from beginning to end.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence

from tests.waiting_hosts.host import WEIR
from tests.waiting_hosts.program import setups
from weir.hosts.by_ray import RayHosts
from weir.lab.ways import Key
from weir.procedures.across_hosts import AcrossHosts
from weir.procedures.wanted import Wanted
from weir.results.campaign import SharedCampaign
from weir.results.result import Case, Result
from weir.store.store import Store

CAMPAIGN = "campaign-1"
FRAMES = 20
TOOK = "took_s"


class Told:
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.left_out = self.cases = 0

    def say(self, text: str) -> None:
        self.lines.append(text)

    def skipped(self, cases: int) -> None:
        self.left_out += cases

    def case(self, case: Case) -> None:  # noqa: ARG002
        self.cases += 1

    def planned(self, cases: int, budget_s: float | None = None) -> None: ...
    def at(self, host: str, what: str) -> None: ...
    def setup(self, name: str) -> None: ...


class _Printing(Told):
    def __init__(self) -> None:
        super().__init__()
        self.began_s = self.last_s = time.monotonic()

    def say(self, text: str) -> None:
        print(text, flush=True)

    def planned(self, cases: int, budget_s: float | None = None) -> None:  # noqa: ARG002
        self.began_s = time.monotonic()

    def case(self, case: Case) -> None:  # noqa: ARG002
        self.last_s = time.monotonic()


class _Some(RayHosts):
    """Not all nodes of the cluster."""

    hosts: int | None = None

    @property
    def names(self) -> Sequence[str]:
        return list(super().names)[: self.hosts]


def wanted(
    rounds: int,
    of: Sequence[Key],
    frames: Sequence[str] = ("64",),
    before: Sequence[Result] = (),
    budget_s: float | None = None,
) -> Wanted:
    """Each frame size of each set-up, so often."""
    points, spec = rounds * len(of) * len(frames), {"name": "switching", "measure": {"rounds": rounds}}
    shared = SharedCampaign(id=CAMPAIGN, host="", points=points, spec=spec)
    return Wanted(
        shared, of, frames, rounds, quick=True, before=before, budget_s=budget_s, budget_of_all_s=budget_s
    )


def stored(store: Store) -> list[Result]:
    """All its runs."""
    return store.runs_of_campaign(CAMPAIGN)


def loads(runs: Sequence[Result]) -> list[float]:
    """Of all trials: each point has one of its own."""
    return [one.intended_load_pps for run in runs for _, case in run.cases() for one in case.trials]


def main() -> None:
    """The program."""
    parser = argparse.ArgumentParser()
    for word, kind in {"on": str, "store": str, "setups": int, "rounds": int, "wait": float}.items():
        parser.add_argument(f"--{word}", type=kind, required=True)
    parser.add_argument("--hosts", type=int)
    asked = parser.parse_args()
    program = ("-m", "tests.waiting_hosts.program", str(asked.setups), str(asked.wait))
    hosts = _Some(asked.on, program)
    hosts.hosts = asked.hosts
    frames = [str(64 + number) for number in range(FRAMES)]
    with Store(asked.store) as store:
        began_s = time.monotonic()
        of = wanted(asked.rounds, setups(asked.setups), frames, stored(store))
        shown = _Printing()
        AcrossHosts(of, hosts, store, shown, WEIR).run()
        print(TOOK, shown.last_s - shown.began_s, time.monotonic() - began_s)


if __name__ == "__main__":
    main()
