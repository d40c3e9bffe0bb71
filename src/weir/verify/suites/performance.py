# SPDX-License-Identifier: Apache-2.0
"""What chains of a cloud's instances carry: from the test host through one instance (PVP) or two (PVVP) and
back, with the factors of the file (Chung and Wang, 3.1.2, 3.2 and Table 3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from weir.lab.application import Application
from weir.lab.performance import INSTANCES, ChainName
from weir.lab.sla import Sla
from weir.lab.sut import SutFile
from weir.verify.case import Case, Running, Suite
from weir.verify.chains.level import SUITE as NAME
from weir.verify.chains.level import require_carried
from weir.verify.chains.measured import measure_chain
from weir.verify.driver import ChainsDriver, ChainWanted, Driver

_WORDS = {"PVP": "an instance", "PVVP": "two instances in a row"}


def require(driver: Driver, _application: Application) -> None:
    """WeirError where nothing could be loaded."""
    if isinstance(driver, ChainsDriver):
        driver.require_tester()


def lacks(driver: Driver, *, wanted: ChainWanted) -> str | None:
    """What the chain takes and is not there."""
    if not isinstance(driver, ChainsDriver):
        return "this driver builds no chains yet"
    return driver.cannot_build(wanted)


def needs(driver: Driver) -> Sequence[str]:
    """Of its cloud and of this host."""
    return driver.chain_needs() if isinstance(driver, ChainsDriver) else ()


def carries(run: Running, *, name: ChainName, wanted: ChainWanted, sla: Sla) -> None:
    """One chain, under all of the file's traffic."""
    ceilings = run.tester_alone("measure the tester alone", wanted.performance)
    measure_chain(run, name, wanted, sla, ceilings)
    require_carried(run.chains)


def cases(sut: SutFile) -> tuple[Case, ...]:
    """One for each chain, technique and number of vCPUs."""
    return tuple(_cases(sut))


def _cases(sut: SutFile) -> Iterator[Case]:
    given = sut.performance
    for name in given.chains:
        for technique in given.techniques:
            for vcpus in given.vcpus:
                wanted = ChainWanted(INSTANCES[name], technique, vcpus, given)
                cpus = f"{vcpus}vcpu" if vcpus else ""
                yield Case(
                    "_".join(part for part in (name.lower(), technique, cpus) if part),
                    f"{_WORDS[name]} ({technique}{f', {vcpus} vCPU' if vcpus else ''}) "
                    f"{'carries' if name == 'PVP' else 'carry'} traffic from outside and back",
                    partial(carries, name=name, wanted=wanted, sla=sut.sla.chains),
                    partial(lacks, wanted=wanted),
                )


SUITE = Suite(
    NAME,
    "What do chains of instances carry?",
    (),
    planned=cases,
    require=require,
    needs=needs,
    fidelity=(
        "Chains are loaded in one direction, by a tester that measures itself first: rates within 10 % of "
        "its own are labelled tester-bound.",
    ),
    measures=True,
)
