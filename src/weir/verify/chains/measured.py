# SPDX-License-Identifier: Apache-2.0
"""A chain that stands, measured: each number of flows with each frame size."""

from __future__ import annotations

from collections.abc import Mapping

from weir.lab.performance import ChainName
from weir.lab.sla import Sla
from weir.measure.experiment import SearchedCase
from weir.measure.one_case import measured
from weir.results.chains import ChainLoad
from weir.results.result import Case, Ceiling, Trial
from weir.verify.case import Running
from weir.verify.driver import Chain, ChainWanted
from weir.verify.report.chains import found

Ceilings = Mapping[str, Ceiling]


def measure_chain(run: Running, name: ChainName, wanted: ChainWanted, sla: Sla, ceilings: Ceilings) -> None:
    """Builds it, loads it, takes it down; loads go to `run.chains`, also the one in which an error came."""
    traffic = wanted.performance.traffic
    with run.chain(f"build {name}, {wanted.technique}", wanted) as chain:
        for flows in traffic.flows:
            for frame in map(str, traffic.frames):
                with run.doing(_called(frame, flows)) as done:
                    measure = wanted.performance.measured(run.left_s())
                    on = chain.measured(ceilings, sla)
                    for case in measured(SearchedCase(measure, chain.traffic(frame, flows), on)):
                        run.chains.append(_load(name, wanted, flows, chain, case))
                    done.found = found(run.chains[-1])
                run.say(f"{run.chains[-1].title}: {done.found}")


def _called(frame: str, flows: int) -> str:
    size = f"{frame} B" if frame.isdigit() else frame
    return f"load it with {size}, {flows} {'flow' if flows == 1 else 'flows'}"


def _load(name: ChainName, wanted: ChainWanted, flows: int, chain: Chain, case: Case) -> ChainLoad:
    return ChainLoad(
        chain=name,
        technique=wanted.technique,
        vcpus=wanted.vcpus,
        flows=flows,
        datapath=chain.datapath,
        fidelity=list(chain.fidelity),
        bring_up_s=chain.bring_up_s,
        case=_without_slices(case),
    )


def _without_slices(case: Case) -> Case:
    """They are for a trial's verdict, which is made."""
    delays = [point.model_copy(update={"trials": _bare(point.trials)}) for point in case.delays]
    return case.model_copy(update={"trials": _bare(case.trials), "delays": delays})


def _bare(trials: list[Trial]) -> list[Trial]:
    return [trial.model_copy(update={"slices": None}) for trial in trials]
