# SPDX-License-Identifier: Apache-2.0
"""Virtual functions are bound for weir-dp and given back exactly, on a recorded machine."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any, cast

import pytest
from pydantic import ValidationError

from weir import plan
from weir.base.error import FabricError
from weir.fabric import data_plane, sriov
from weir.fabric.site import Site
from weir.fabric.sriov import SriovVf
from weir.lab import Lab
from weir.plan import Step
from weir.technology.sriov import SrIovOptions, TooFewFunctionsError

from .recorded_card import PARENT, KilledError, Machine, Settings

AUTO = SrIovOptions()
NAMED = SrIovOptions(parent=PARENT)


class Journalled(Site):
    """A site whose journal is a dictionary, and which starts nothing."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.facts: dict[str, dict[str, Any]] = {}
        self.argv: list[str] = []

    def at(self, step: Step) -> None:
        self._step = step.name
        self.facts.setdefault(step.name, {})

    def note(self, facts: dict[str, Any]) -> None:
        self.facts[self._step] |= facts

    def noted(self, key: str) -> list[Any]:
        return [facts[key] for facts in self.facts.values() if key in facts]

    def spawn(self, argv: list[str], **_options: Any) -> int:
        self.argv = argv
        return 1


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    Settings.kept = {number: {"mac": "00:00:00:00:00:00", "vlan": 0} for number in range(64)}
    return Machine(tmp_path / "sys")


@pytest.fixture
def site(tmp_path: Path) -> Journalled:
    return Journalled(tmp_path)


@pytest.fixture
def kind(machine: Machine) -> SriovVf:
    return of(machine)


def of(machine: Machine, *opened: str) -> SriovVf:
    """With the VFIO groups that programs have opened."""
    settings = cast(type[sriov.FunctionSettings], Settings)
    return SriovVf(machine.sysfs, machine.write, settings, lambda group: group.name in opened)


def steps(**options: Any) -> list[Step]:
    """Of a PVP: four functions in two networks."""
    lab = Lab.model_validate(
        {
            "weir": 1,
            "name": "small",
            "chain": "PVP",
            "technology": "sr-iov",
            "technologies": {"sr-iov": options},
            "cores": {"tester": [0], "functions": [1], "switch": [2]},
        }
    )
    topology = plan.build_topology(lab, "sr-iov", lab.chains()[0], "small-1a2b3c4d")
    return [step for step in plan.steps(topology, lab) if step.kind in ("sriov-vf", "weir-dp")]


def functions(**options: Any) -> list[Step]:
    return [step for step in steps(**options) if step.kind == "sriov-vf"]


def deploy(kind: SriovVf, site: Journalled, planned: list[Step]) -> None:
    for step in planned:
        site.at(step)
        site.note(kind.do(step, site))


def destroy(kind: SriovVf, site: Journalled, planned: list[Step]) -> None:
    for step in reversed(planned):
        if step.name in site.facts:
            site.at(step)
            kind.undo(step.params, site.facts[step.name], site)


def test_a_machine_that_has_all_lacks_nothing(machine: Machine) -> None:
    assert sriov.missing(machine.sysfs, AUTO) == sriov.missing(machine.sysfs, NAMED) == []


def test_what_is_missing_is_named(machine: Machine) -> None:
    device = machine.sysfs / "class/net" / PARENT / "device"
    other = SrIovOptions(parent="eth7")
    assert sriov.missing(machine.sysfs, other) == ["there is no interface eth7 (technologies.sr-iov.parent)"]
    (device / "sriov_totalvfs").write_text("0\n")
    assert sriov.missing(machine.sysfs, NAMED) == [
        "ens1f0 offers 0 virtual functions: its firmware has SR-IOV switched off"
    ]
    (device / "sriov_totalvfs").unlink()
    assert sriov.missing(machine.sysfs, NAMED) == ["ens1f0 has no SR-IOV capability (no sriov_totalvfs)"]
    shutil.rmtree(machine.sysfs / "kernel/iommu_groups")
    shutil.rmtree(machine.sysfs / "bus/pci/drivers/vfio-pci")
    assert sriov.missing(machine.sysfs, AUTO) == [
        "no network device has virtual functions (sriov_totalvfs), and the lab names none",
        "no IOMMU is switched on (no groups in /sys/kernel/iommu_groups)",
        "the vfio-pci driver is not loaded",
    ]


@pytest.mark.parametrize("options", [{}, {"parent": PARENT}])
def test_functions_are_made_bound_and_removed_again(
    options: dict[str, str], machine: Machine, site: Journalled, kind: SriovVf
) -> None:
    before, planned = machine.picture(), functions(**options)
    deploy(kind, site, planned)
    assert [machine.driver(number) for number in range(4)] == ["vfio-pci"] * 4
    assert site.noted("address") == [f"0000:3b:02.{number}" for number in range(4)]
    assert [Settings.kept[number]["vlan"] for number in range(4)] == [100, 100, 101, 101]
    assert Settings.kept[0]["mac"] == "02:57:1a:2b:00:00"
    destroy(kind, site, planned)
    assert machine.picture() == before


def test_functions_that_were_there_are_given_back_as_they_were(
    machine: Machine, site: Journalled, kind: SriovVf
) -> None:
    machine.write(machine.sysfs / "class/net" / PARENT / "device/sriov_numvfs", "6")
    Settings.kept[1] = {"mac": "52:54:00:12:34:56", "vlan": 7}
    before, kept = machine.picture(), dict(Settings.kept)
    planned = functions(parent=PARENT, functions=[1, 3, 4, 5])
    deploy(kind, site, planned)
    drivers = [machine.driver(number) for number in range(6)]
    assert drivers == ["iavf", "vfio-pci", "iavf", "vfio-pci", "vfio-pci", "vfio-pci"]
    destroy(kind, site, planned)
    assert machine.picture() == before
    assert Settings.kept == kept


@pytest.mark.parametrize("existing", [0, 6])
def test_killed_at_every_write(existing: int, tmp_path: Path) -> None:
    planned = functions(parent=PARENT, functions=[0, 1, 2, 3]) if existing else functions()
    for dies_at in range(1, 100):
        Settings.kept = {number: {"mac": "00:00:00:00:00:00", "vlan": 0} for number in range(64)}
        machine = Machine(tmp_path / f"sys{dies_at}")
        kind = of(machine)
        site = Journalled(tmp_path)
        if existing:
            machine.write(machine.sysfs / "class/net" / PARENT / "device/sriov_numvfs", str(existing))
        before, kept = machine.picture(), dict(Settings.kept)
        machine.dies_at = machine.writes + dies_at
        try:
            deploy(kind, site, planned)
            break
        except KilledError:
            machine.dies_at = None
        destroy(kind, site, planned)
        assert machine.picture() == before, dies_at
        if existing:
            assert Settings.kept == kept, dies_at
        destroy(kind, site, planned)
        assert machine.picture() == before, dies_at
    assert dies_at > 12  # a made or used function is unbound, overridden and bound


def test_a_card_with_too_few_functions_is_refused(machine: Machine, site: Journalled, kind: SriovVf) -> None:
    device = machine.sysfs / "class/net" / PARENT / "device"
    machine.write(device / "sriov_numvfs", "2")
    with pytest.raises(FabricError, match=r"ens1f0 has no virtual function 2, which technologies\.sr-iov"):
        deploy(kind, site, functions(parent=PARENT, functions=[0, 1, 2, 3]))
    machine.write(device / "sriov_numvfs", "0")
    (device / "sriov_totalvfs").write_text("3\n")
    with pytest.raises(FabricError, match="ens1f0 has 3 virtual functions, 4 are needed"):
        deploy(kind, site, functions(parent=PARENT))
    with pytest.raises(FabricError, match="no network card can have 4 virtual functions"):
        deploy(kind, site, functions())


def test_a_function_that_somebody_uses_is_left_alone(
    machine: Machine, site: Journalled, kind: SriovVf
) -> None:
    machine.write(machine.sysfs / "class/net" / PARENT / "device/sriov_numvfs", "4")
    (machine.sysfs / f"class/net/{PARENT}v2/operstate").write_text("up\n")
    before, planned = machine.picture(), functions(parent=PARENT, functions=[0, 1, 2, 3])
    with pytest.raises(FabricError, match=f"0000:3b:02.2 of {PARENT} is in use: {PARENT}v2 is up"):
        deploy(kind, site, planned)
    destroy(kind, site, planned)
    assert machine.picture() == before


def test_a_function_without_an_iommu_group_is_refused(
    machine: Machine, site: Journalled, kind: SriovVf
) -> None:
    machine.write(machine.sysfs / "class/net" / PARENT / "device/sriov_numvfs", "4")
    (machine.sysfs / "bus/pci/devices/0000:3b:02.0/iommu_group").unlink()
    with pytest.raises(FabricError, match="of ens1f0 is in no IOMMU group"):
        deploy(kind, site, functions(parent=PARENT, functions=[0, 1, 2, 3]))


def test_functions_that_others_made_are_left_alone_unless_the_lab_names_them(
    machine: Machine, site: Journalled, kind: SriovVf
) -> None:
    machine.write(machine.sysfs / "class/net" / PARENT / "device/sriov_numvfs", "6")
    before, planned = machine.picture(), functions()
    with pytest.raises(FabricError, match="ens1f0 has 6 virtual functions that Weir did not make; name"):
        deploy(kind, site, planned)
    destroy(kind, site, planned)
    assert machine.picture() == before


def test_a_function_that_a_virtual_machine_has_is_refused(machine: Machine, site: Journalled) -> None:
    machine.write(machine.sysfs / "class/net" / PARENT / "device/sriov_numvfs", "4")
    function = machine.sysfs / "bus/pci/devices/0000:3b:02.1"
    machine.write(function / "driver_override", "vfio-pci")
    machine.write(function / "driver/unbind", function.name)
    machine.write(machine.sysfs / "bus/pci/drivers/vfio-pci/bind", function.name)
    before, planned = machine.picture(), functions(parent=PARENT, functions=[0, 1, 2, 3])
    busy = of(machine, "81")
    with pytest.raises(FabricError, match=r"02\.1 of ens1f0 is in use: a program has opened its VFIO"):
        deploy(busy, site, planned)
    destroy(busy, site, planned)
    assert machine.picture() == before
    deploy(of(machine), site, planned)


def test_a_function_whose_interface_is_in_a_pod_is_refused(
    machine: Machine, site: Journalled, kind: SriovVf
) -> None:
    machine.write(machine.sysfs / "class/net" / PARENT / "device/sriov_numvfs", "4")
    shutil.rmtree(machine.sysfs / "bus/pci/devices/0000:3b:02.3/net")
    planned = functions(parent=PARENT, functions=[0, 1, 2, 3])
    with pytest.raises(FabricError, match=r"02\.3 .* bound to iavf, and its interface is in another network"):
        deploy(kind, site, planned)


def test_a_group_that_only_one_may_open_tells_that_it_is_open(tmp_path: Path) -> None:
    assert not sriov.opened(tmp_path / "none")


def test_functions_need_their_card_and_must_be_enough() -> None:
    with pytest.raises(ValidationError, match="are numbers on one card: name it, as `parent`"):
        functions(functions=[0, 1])
    with pytest.raises(TooFewFunctionsError, match="names 2 virtual functions of ens1f0, and PVP needs 4"):
        functions(parent=PARENT, functions=[0, 1])


def test_weir_dp_may_open_the_functions_and_nothing_else(
    site: Journalled, kind: SriovVf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data_plane, "built", lambda _program: Path("weir-dp"))
    monkeypatch.setattr(data_plane, "wait_for", lambda *_: None)
    planned = steps()
    deploy(kind, site, planned[:-1])
    site.at(planned[-1])
    data_plane.WeirDp().do(planned[-1], site)
    allowed = [site.argv[index + 1] for index, word in enumerate(site.argv) if word == "--pci"]
    assert allowed == [f"0000:3b:02.{number}" for number in range(4)]
