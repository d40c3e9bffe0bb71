# SPDX-License-Identifier: Apache-2.0
"""A chain that stands, measured: each number of flows with each frame size."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from weir.lab.performance import ChainName
from weir.lab.sla import Sla
from weir.measure.experiment import SearchedCase
from weir.measure.one_case import measured
from weir.results.chains import ChainLoad
from weir.results.result import Case, Ceiling, Trial
from weir.verify.case import Running
from weir.verify.driver import Chain, ChainWanted

Ceilings = Mapping[str, Ceiling]


def measure_chain(run: Running, name: ChainName, wanted: ChainWanted, sla: Sla, ceilings: Ceilings) -> None:
    """Builds it, loads it, takes it down; loads go to `run.chains`, also the one in which an error came."""
    traffic = wanted.performance.traffic
    with run.chain(f"build {name}, {wanted.technique}", wanted) as chain:
        for flows in traffic.flows:
            for frame in map(str, traffic.frames):
                with run.doing(_called(frame, flows)) as done:
                    loaded = _Loaded(name, wanted, flows, chain)
                    _search(run, loaded, frame, sla, ceilings)
                    done.found = found(run.chains[-1])
                run.say(f"{run.chains[-1].title}, {flows} flows: {done.found}")


def _called(frame: str, flows: int) -> str:
    size = f"{frame} B" if frame.isdigit() else frame
    return f"load it with {size}, {flows} {'flow' if flows == 1 else 'flows'}"


class _Loaded:
    """Who is loaded, with how many flows."""

    def __init__(self, name: ChainName, wanted: ChainWanted, flows: int, chain: Chain) -> None:
        self.chain, self.flows = chain, flows
        self._name, self._wanted = name, wanted

    def record(self, case: Case) -> ChainLoad:
        """With that."""
        return ChainLoad(
            chain=self._name,
            technique=self._wanted.technique,
            vcpus=self._wanted.vcpus,
            flows=self.flows,
            datapath=self.chain.datapath,
            fidelity=list(self.chain.fidelity),
            bring_up_s=self.chain.bring_up_s,
            case=_without_slices(case),
        )

    def measure(self, time_limit_s: float) -> Any:
        """Within that."""
        return self._wanted.performance.measured(time_limit_s)


def _search(run: Running, loaded: _Loaded, frame: str, sla: Sla, ceilings: Ceilings) -> None:
    chain = loaded.chain
    on = chain.measured(ceilings, sla)
    one = SearchedCase(loaded.measure(run.left_s()), chain.traffic(frame, loaded.flows), on)
    for case in measured(one):
        run.chains.append(loaded.record(case))


def _without_slices(case: Case) -> Case:
    """They are for a trial's verdict, which is made."""
    bare: Callable[[Trial], Trial] = lambda trial: trial.model_copy(update={"slices": None})  # noqa: E731
    delays = [
        point.model_copy(update={"trials": [bare(trial) for trial in point.trials]}) for point in case.delays
    ]
    return case.model_copy(update={"trials": [bare(trial) for trial in case.trials], "delays": delays})


def found(load: ChainLoad) -> str:
    """ "NDR 11,240 pps, PDR 12,003 pps"; an answer that is none by its reason."""
    if load.case.problem is not None:
        return load.case.problem
    return ", ".join(
        f"{one.goal} {one.load_pps:,.0f} pps" if one.load_pps is not None else f"no {one.goal}"
        for one in load.case.throughput
    )
