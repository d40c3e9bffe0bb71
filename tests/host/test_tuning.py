# SPDX-License-Identifier: Apache-2.0
"""What a lab changes of its host, on recorded ones: undone exactly, overlapping, killed at every write."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from weir.base.error import FabricError
from weir.base.step import StepKind
from weir.fabric.host.isolated import holding
from weir.fabric.host.partition import Partition
from weir.fabric.host.settings import Governor, HostSettings, Interrupts, RtThrottle
from weir.fabric.site import Site
from weir.plan import Step

from .recorded_machine import planted

CGROUPS = "sys/fs/cgroup"
KINDS: dict[str, type[HostSettings]] = {
    "interrupts": Interrupts,
    "governor": Governor,
    "rt-throttle": RtThrottle,
}


class KilledError(BaseException):
    """What stands for `kill -9`: nothing of Weir catches it."""


class Machine:
    """A recorded machine; some of its files refuse, and one write may be the last."""

    def __init__(self, root: Path, name: str = "two-socket-server") -> None:
        self.root = planted(name, root)
        self.keeps: set[str] = set()
        self.writes = 0
        self.dies_at: int | None = None

    def write(self, path: Path, text: str) -> None:
        self.writes += 1
        if self.writes == self.dies_at:
            raise KilledError
        if str(path.relative_to(self.root)) in self.keeps:
            raise OSError(5, "Input/output error")
        path.write_text(text + "\n")

    def picture(self) -> dict[str, str]:
        files = [path for path in self.root.rglob("*") if path.is_file()]
        return {str(path.relative_to(self.root)): path.read_text().strip() for path in files}

    def text(self, path: str) -> str:
        return (self.root / path).read_text().strip()


class Journalled(Site):
    """A site whose notes stay, as a journal's do, among other deployments."""

    def __init__(self, others: Sequence[Journalled] = (), deployment: str = "lab-1a2b3c4d") -> None:
        self.deployment = deployment
        self.facts: dict[str, Any] = {}
        self.others = others

    def note(self, facts: dict[str, Any]) -> None:
        self.facts |= facts

    @contextmanager
    def alone(self, *, everywhere: bool = False) -> Iterator[None]:  # noqa: ARG002
        yield

    def elsewhere(
        self,
        kind: str,  # noqa: ARG002
        *,
        everywhere: bool = False,  # noqa: ARG002
        without: str | None = None,  # noqa: ARG002
    ) -> list[dict[str, Any]]:
        return [other.facts for other in self.others if other is not self]


def step(kind: StepKind, cpus: Sequence[int], **params: str) -> Step:
    return Step(kind=kind, name=kind, params={"cpus": list(cpus), **params}, text=f"do {kind}", undo_text="")


STEPS = (
    step("interrupts", [4, 5, 6]),
    step("governor", [4, 5, 6], governor="performance"),
    step("rt-throttle", [4, 5, 6]),
)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_interrupts_keep_what_does_not_poll_and_else_get_the_rest(machine: Machine) -> None:
    before, site = machine.picture(), Journalled()
    kind = Interrupts(machine.root, machine.write)
    kind.do(STEPS[0], site)
    assert machine.text("proc/irq/0/smp_affinity_list") == "0-3,7-15"
    assert machine.text("proc/irq/41/smp_affinity_list") == "0-3,7-15"
    assert machine.text("proc/irq/42/smp_affinity_list") == "0"
    assert machine.text("proc/irq/default_smp_affinity") == "0000ff8f"
    kind.undo({}, site.facts, site)
    assert machine.picture() == before
    kind.undo({}, site.facts, site)
    assert machine.picture() == before


def test_an_interrupt_that_the_kernel_keeps_is_named_and_the_others_move(machine: Machine) -> None:
    machine.keeps = {"proc/irq/41/smp_affinity_list"}
    before, site = machine.picture(), Journalled()
    kind = Interrupts(machine.root, machine.write)
    assert kind.do(STEPS[0], site) == {"refused": ["proc/irq/41/smp_affinity_list"]}
    assert machine.text("proc/irq/43/smp_affinity_list") == "0-3,7-15"
    kind.undo({}, site.facts, site)
    assert machine.picture() == before


@pytest.mark.parametrize("error", [PermissionError(13, "refused"), OSError(24, "too many open files")])
def test_a_file_that_cannot_be_read_for_once_is_given_back_the_next_time(
    machine: Machine, error: OSError, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, site = machine.picture(), Journalled()
    kind = Interrupts(machine.root, machine.write)
    kind.do(STEPS[0], site)
    read, unreadable = Path.read_text, machine.root / "proc/irq/41/smp_affinity_list"

    def refusing(path: Path, **options: Any) -> str:
        if path == unreadable:
            raise error
        return read(path, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "read_text", refusing)
        with pytest.raises(OSError, match=error.strerror or ""):
            kind.undo({}, site.facts, site)
    assert machine.picture() != before
    kind.undo({}, site.facts, site)
    assert machine.picture() == before


def test_a_governor_is_set_where_there_is_one(machine: Machine) -> None:
    site = Journalled()
    Governor(machine.root, machine.write).do(STEPS[1], site)
    governors = [machine.text(f"sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor") for cpu in (3, 4)]
    assert governors == ["powersave", "performance"]
    assert len(site.facts) == 3


def test_a_value_that_somebody_else_has_set_meanwhile_stays(machine: Machine) -> None:
    site, kind = Journalled(), RtThrottle(machine.root, machine.write)
    kind.do(STEPS[2], site)
    assert machine.text("proc/sys/kernel/sched_rt_runtime_us") == "-1"
    (machine.root / "proc/sys/kernel/sched_rt_runtime_us").write_text("900000\n")
    kind.undo({}, site.facts, site)
    assert machine.text("proc/sys/kernel/sched_rt_runtime_us") == "900000"


def test_what_is_as_wanted_is_neither_written_nor_noted(tmp_path: Path) -> None:
    machine, site = Machine(tmp_path, "sriov-server"), Journalled()
    Governor(machine.root, machine.write).do(step("governor", [2, 3], governor="performance"), site)
    RtThrottle(machine.root, machine.write).do(step("rt-throttle", [2, 3]), site)
    assert (machine.writes, site.facts) == (0, {})


def test_overlapping_ones_go_in_any_order_and_the_last_restores(machine: Machine) -> None:
    before, kind = machine.picture(), Interrupts(machine.root, machine.write)
    for order in itertools.permutations(range(3)):
        standing: list[Journalled] = []
        for cpus in ([4], [4, 5], [6, 7]):
            standing.append(Journalled(standing))
            kind.do(step("interrupts", cpus), standing[-1])
        for site in [standing[number] for number in order]:
            assert machine.text("proc/irq/0/smp_affinity_list") != "0-15"
            kind.undo({}, site.facts, site)
            standing.remove(site)
        assert machine.picture() == before, order


def test_who_tunes_after_somebody_has_set_a_value_gives_that_one_back(machine: Machine) -> None:
    """In whatever order they go, and the one before writes nothing more."""
    path = "sys/devices/system/cpu/cpu2/cpufreq/scaling_governor"
    asked, handler = step("governor", [2], governor="performance"), Governor(machine.root, machine.write)
    for first in (0, 1, 2):
        machine.write(machine.root / path, "powersave")
        sites: list[Journalled] = []
        for number in range(3):
            sites.append(Journalled(list(sites), f"lab-0000000{number}"))
            handler.do(asked, sites[-1])
            if number == 0:
                machine.write(machine.root / path, "ondemand")
        for at in (first, *({0, 1, 2} - {first})):
            left = [one for one in sites if one is not sites[at]]
            sites[at].others = left
            handler.undo(asked.params, sites[at].facts, sites[at])
        assert machine.text(path) == "ondemand"


def test_killed_at_every_write(machine: Machine) -> None:
    before = machine.picture()
    kinds = [KINDS[one.kind](machine.root, machine.write) for one in STEPS]
    for dies_at in range(1, 100):
        sites = [Journalled() for _ in STEPS]
        machine.dies_at = machine.writes + dies_at
        try:
            for one, kind, site in zip(STEPS, kinds, sites, strict=True):
                kind.do(one, site)
            break
        except KilledError:
            machine.dies_at = None
        for kind, site in zip(reversed(kinds), reversed(sites), strict=True):
            kind.undo({}, site.facts, site)
        assert machine.picture() == before, dies_at
    assert (
        dies_at == 9
    )  # four interrupts and their default, three governors, one throttle: less one that stays


def test_undoing_killed_at_every_write_is_undone_by_the_next_one(machine: Machine) -> None:
    before, kind = machine.picture(), Interrupts(machine.root, machine.write)
    for dies_at in range(1, 100):
        site = Journalled()
        kind.do(STEPS[0], site)
        machine.dies_at = machine.writes + dies_at
        try:
            kind.undo({}, dict(site.facts), site)
            break
        except KilledError:
            machine.dies_at = None
        kind.undo({}, dict(site.facts), site)
        assert machine.picture() == before, dies_at
    assert dies_at == 5


@pytest.mark.parametrize(
    ("kind", "cpus", "machine_name", "why"),
    [
        (Governor, [1], "virtual-machine", "CPU 1 has no frequency control"),
        (Interrupts, [0, 1], "virtual-machine", "no CPU is left that does not poll"),
        (Partition, [1], "virtual-machine", "needs cgroup v2 .* here cgroup v1 has the cpuset controller"),
        (Partition, list(range(16)), "two-socket-server", "no CPU would be left to the system"),
    ],
)
def test_what_a_machine_cannot_do_is_refused_before_anything_is_touched(
    kind: Callable[..., Any], cpus: list[int], machine_name: str, why: str, tmp_path: Path
) -> None:
    machine = Machine(tmp_path, machine_name)
    with pytest.raises(FabricError, match=why):
        kind(machine.root, machine.write).do(step("governor", cpus, governor="performance"), Journalled())
    assert machine.writes == 0


def test_a_governor_that_the_driver_does_not_have_is_refused(machine: Machine) -> None:
    offered = machine.root / "sys/devices/system/cpu/cpu4/cpufreq/scaling_available_governors"
    offered.write_text("powersave schedutil\n")
    why = Governor(machine.root).lacking({"cpus": [4], "governor": "performance"})
    assert why == "CPU 4 has no governor performance, but powersave schedutil"


class Cgroups:
    """A cgroup file system's manners: files come and go with their directory; writes are answered."""

    def __init__(self, machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
        self._machine = machine
        self.answer = "isolated"
        self.top = machine.root / CGROUPS
        for name, text in (("cgroup.subtree_control", ""), ("cgroup.threads", ""), ("cgroup.procs", "")):
            (self.top / name).write_text(text)
        make, remove = Path.mkdir, Path.rmdir

        def mkdir(path: Path, *arguments: Any, **options: Any) -> None:
            make(path, *arguments, **options)
            if path.parent == self.top:
                (path / "cgroup.threads").write_text("")
                (path / "cpuset.cpus.partition").write_text("member\n")

        def rmdir(path: Path) -> None:
            for file in path.iterdir():
                file.unlink()
            remove(path)

        monkeypatch.setattr(Path, "mkdir", mkdir)
        monkeypatch.setattr(Path, "rmdir", rmdir)

    def write(self, path: Path, text: str) -> None:
        self._machine.write(path, self.answer if text == "isolated" else text)
        if path == self.top / "cgroup.subtree_control":
            path.write_text("cpuset\n" if text == "+cpuset" else "")
        if path == self.top / "cgroup.threads":
            path.write_text("")


ISOLATION = step("isolation", [4, 5])


@pytest.fixture
def cgroups(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Cgroups:
    return Cgroups(machine, monkeypatch)


def test_cpus_are_isolated_in_a_partition_of_the_deployments_own(machine: Machine, cgroups: Cgroups) -> None:
    before, site = machine.picture(), Journalled()
    kind = Partition(machine.root, cgroups.write)
    kind.do(ISOLATION, site)
    made = cgroups.top / "weir-lab-1a2b3c4d"
    assert (made / "cgroup.type").read_text().strip() == "threaded"
    assert (made / "cpuset.cpus").read_text().strip() == "4-5"
    assert holding([3, 4, 5], machine.root) == {4: made, 5: made}
    other = Journalled([site], "lab-2b3c4d5e")
    kind.do(step("isolation", [4, 5]), other)
    assert other.facts == {}
    (made / "cgroup.threads").write_text("4711\n")
    kind.undo({}, site.facts, site)
    assert machine.picture() == before


def test_the_controller_stays_where_somebody_has_limited_cpus_with_it_meanwhile(
    machine: Machine, cgroups: Cgroups
) -> None:
    site, kind = Journalled(), Partition(machine.root, cgroups.write)
    kind.do(ISOLATION, site)
    pod = cgroups.top / "pod.slice"
    pod.mkdir()
    (pod / "cpuset.cpus").write_text("0-1\n")
    (pod / "cpuset.mems").write_text("\n")
    kind.undo({}, site.facts, site)
    assert (cgroups.top / "cgroup.subtree_control").read_text() == "cpuset\n"
    assert (pod / "cpuset.cpus").read_text() == "0-1\n"
    assert not (cgroups.top / "weir-lab-1a2b3c4d").exists()


def test_a_partition_that_the_kernel_calls_invalid_is_refused_with_its_reason(
    machine: Machine, cgroups: Cgroups
) -> None:
    before, site = machine.picture(), Journalled()
    cgroups.answer = "isolated invalid (Cpu list in cpuset.cpus not exclusive)"
    with pytest.raises(FabricError, match=re.escape("the kernel says: isolated invalid (Cpu list in")):
        Partition(machine.root, cgroups.write).do(ISOLATION, site)
    Partition(machine.root, cgroups.write).undo({}, site.facts, site)
    assert machine.picture() == before


def test_an_older_kernel_is_told_from_a_taken_cpu(machine: Machine, cgroups: Cgroups) -> None:
    machine.keeps = {f"{CGROUPS}/weir-lab-1a2b3c4d/cpuset.cpus.partition"}
    with pytest.raises(FabricError, match=r"no isolated partitions .*; Linux 6\.1 has them"):
        Partition(machine.root, cgroups.write).do(ISOLATION, Journalled())


def test_isolating_killed_at_every_write(machine: Machine, cgroups: Cgroups) -> None:
    before, kind = machine.picture(), Partition(machine.root, cgroups.write)
    for dies_at in range(1, 20):
        site = Journalled()
        machine.dies_at = machine.writes + dies_at
        try:
            kind.do(ISOLATION, site)
            break
        except KilledError:
            machine.dies_at = None
        kind.undo({}, site.facts, site)
        assert machine.picture() == before, dies_at
    assert dies_at == 5
