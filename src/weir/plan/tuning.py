# SPDX-License-Identifier: Apache-2.0
"""Steps for what a lab asks of its host, within a deployment or, by `weir tune`, before any. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

from weir.base.cores import named_cpus
from weir.base.step import Param, Step, StepKind
from weir.base.topology import Topology, deployment_id
from weir.lab.host import Host
from weir.lab.lab import Lab
from weir.plan.memory import hugepages_mb
from weir.plan.topology import build_topology


class Tuning(BaseModel):
    """A host tuned for a lab: what the journal says of it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    lab: str
    deployment: str  # "<lab>-<8 hex digits>", as a chain's
    cpus: tuple[int, ...]  # where loops will poll


def tuning(lab: Lab, token: str) -> Tuning:
    """For all technologies and chains of the lab together. `token` as for `deployment_id`."""
    cpus = {cpu for technology in lab.technology for cpu in lab.polling_cpus(technology)}
    return Tuning(lab=lab.name, deployment=deployment_id(lab.name, token), cpus=tuple(sorted(cpus)))


def tuning_steps(lab: Lab, cpus: Sequence[int]) -> list[Step]:
    """All that the lab does not forbid. A step is `required` if the lab asks for it by name."""
    wishes = lab.host.model_copy(
        update={
            key: getattr(lab.host, key) or best
            for key, best in (("isolation", "partition"), ("interrupts", "away"), ("governor", "performance"))
        }
    )
    if not lab.host.pinning:
        wishes = wishes.model_copy(update={"isolation": lab.host.isolation})
    topologies = [
        build_topology(lab, technology, chain, deployment_id(lab.name, "00000000"))
        for technology in lab.technology
        for chain in lab.chains()
    ]
    most = max(topologies, key=lambda one: hugepages_mb(one, lab))
    return [*hugepages(most, lab, promised=True), *host_steps(wishes, lab.host, cpus)]


def deployment_steps(topology: Topology, lab: Lab) -> list[Step]:
    """What the lab asks for by name."""
    return host_steps(lab.host, lab.host, lab.polling_cpus(topology.technology))


def isolated_cpus(lab: Lab, technology: str) -> tuple[int, ...]:
    """Those that a deployment puts into a partition, where the machine can."""
    return lab.polling_cpus(technology) if lab.host.isolation in ("partition", "auto") else ()


def hugepages(topology: Topology, lab: Lab, *, promised: bool = False) -> list[Step]:
    """Pages for weir-dp, switch and machines, where their cores are; none where the lab wants 4 KiB.
    `promised`: to deployments that come later."""
    if lab.host.hugepages == "none":
        return []
    total_mb = hugepages_mb(topology, lab)
    cpus = list(lab.polling_cpus(topology.technology))
    return [
        Step(
            kind="hugepages",
            name="hugepages",
            params={
                "memory_mb": total_mb,
                "cpus": cpus,
                "required": lab.host.hugepages == "required",
                "promised": promised,
            },
            text=f"make sure that {total_mb} MiB of 2 MiB hugepages are free",
            undo_text="set the number of hugepages to what it was",
        )
    ]


def host_steps(wishes: Host, said: Host, cpus: Sequence[int]) -> list[Step]:
    """Least disruptive first; isolation last, because it moves everybody else away. `said`: the lab's own."""
    on = named_cpus(cpus)
    plan = []

    def add(kind: StepKind, text: str, undo_text: str, required: bool, **params: Param) -> None:
        own: dict[str, Param] = {"cpus": list(cpus), "required": required, **params}
        plan.append(Step(kind=kind, name=kind, params=own, text=text, undo_text=undo_text))

    if wishes.interrupts in ("away", "auto"):
        add(
            "interrupts", f"move interrupts away from {on}", "move interrupts back",
            said.interrupts == "away",
        )  # fmt: skip
    if wishes.governor in ("performance", "auto"):
        add(
            "governor", f"set the governor of {on} to performance", "set the governor that was there",
            said.governor == "performance", governor="performance",
        )  # fmt: skip
    if wishes.rt:
        add(
            "rt-throttle",
            "lift the throttle of realtime threads",
            "throttle realtime threads as before",
            said.rt is True,
        )
    if wishes.isolation in ("partition", "auto"):
        add(
            "isolation", f"isolate {on} in a cpuset partition", "give them back to the scheduler",
            said.isolation == "partition",
        )  # fmt: skip
    return plan
