# SPDX-License-Identifier: Apache-2.0
"""What stands around every measurement, on a fabric and a data plane that are none."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, Self

import pytest

from weir import fabric
from weir.fabric import standing_deployment
from weir.fabric.counters import Counter
from weir.fabric.standing_deployment import StandingDeployment
from weir.lab import Lab, load_lab
from weir.procedures import driver
from weir.procedures.driver import RunningChain, planned, refusal, running
from weir.procedures.elsewhere import NOTHING
from weir.protocol import DataPlaneError
from weir.results.result import Setup

ROOT = Path(__file__).resolve().parents[3]


class Fabric:
    """Makes deployments of nothing, and writes down what is done to them."""

    def __init__(self, run_dir: Path) -> None:
        self.run_dir = run_dir
        self.devices: dict[str, str] = {}
        self.done: list[str] = []
        self.in_kernel = False

    def deploy(self, _steps: object, _topology: object) -> Self:
        self.done.append("deploy")
        return self

    def settle(self) -> None:
        self.done.append("settle")

    def keep_logs(self, error: BaseException) -> None:
        self.done.append(f"keep logs of {error}")

    def destroy(self) -> None:
        self.done.append("destroy")

    def core_watch(self) -> Any:
        return SimpleNamespace(close=lambda: self.done.append("close watch"))

    def interface_watch(self) -> Any:
        return SimpleNamespace()

    def datapath(self) -> str:
        return "userspace"

    def kernel_forwards(self) -> bool:
        return self.in_kernel

    def emulated(self) -> list[str]:
        return ["f1"]

    def steered(self) -> list[str]:
        return []

    def unlimited(self) -> dict[str, list[str]]:
        return {}

    def refused(self) -> dict[str, str]:
        return {}

    def versions(self) -> dict[str, str]:
        return {"ovs": "3.1"}


class Client:
    """Of a weir-dp that does all that it is told."""

    def __init__(self, _socket: Path) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None: ...

    def hello(self) -> Any:
        return SimpleNamespace(dpdk="22.11", memory="hugepages", tsc_hz=2_000_000_000)

    def configure(self, _config: object) -> None: ...

    def start(self) -> None: ...


@pytest.fixture
def lab() -> Lab:
    return load_lab(ROOT / "labs" / "switching", quick=True)


@pytest.fixture
def nothing_deployed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fabric:
    made = Fabric(tmp_path)
    monkeypatch.setattr(fabric, "Deployment", made)
    monkeypatch.setattr(fabric, "possible", lambda _steps: ([], {}))
    monkeypatch.setattr(driver, "DataPlaneClient", Client)
    return made


def test_a_setup_says_what_was_deployed_and_what_was_emulated(lab: Lab, nothing_deployed: Fabric) -> None:
    setup = Setup(technology="direct", chain="PVP", datapath="none")
    with running(lab, planned(lab, "direct", lab.chains()[0])) as chain:
        chain.describe(setup)
        assert not chain.tester().shares_cores
        nothing_deployed.in_kernel = True
        assert chain.tester().shares_cores
        assert chain.versions() == {"dpdk": "22.11", "ovs": "3.1"}
        assert chain.fingerprint().versions["ovs"] == "3.1"
    assert setup.datapath == "userspace"
    assert setup.bring_up_s is not None
    assert setup.topology == chain.topology
    assert any(sentence.startswith("Emulated: the processor of f1") for sentence in setup.fidelity)
    assert nothing_deployed.done == ["deploy", "settle", "close watch", "destroy"]


@pytest.mark.parametrize(
    ("error", "kept"),
    [
        (DataPlaneError("gone", "weir-dp has ended"), ["keep logs of weir-dp has ended"]),
        (KeyboardInterrupt(), []),
    ],
)
def test_whatever_ends_the_measurement_all_is_taken_down(
    lab: Lab, nothing_deployed: Fabric, error: BaseException, kept: list[str]
) -> None:
    with pytest.raises(type(error)), running(lab, planned(lab, "direct", lab.chains()[0])):
        raise error
    assert nothing_deployed.done == ["deploy", "settle", "close watch", *kept, "destroy"]


def test_deployments_of_one_lab_have_names_of_their_own(lab: Lab) -> None:
    chain = lab.chains()[0]
    one, other = planned(lab, "direct", chain), planned(lab, "direct", chain)
    assert one.deployment != other.deployment
    assert one.model_copy(update={"deployment": ""}).chain == other.chain


def test_a_machine_that_cannot_deploy_it_says_what_is_missing(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = fabric.Refusal("no such switch", "install it")
    monkeypatch.setattr(fabric, "check", lambda *_args, **_options: missing)
    assert refusal(lab, "ovs", lab.chains()[0]) is missing


@pytest.mark.parametrize("under_load", [True, False])
def test_a_function_that_is_asked_what_it_lost_knows_whether_packets_are_on_their_way(
    *, under_load: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Function:
        def counters(self, _topology: object, site: Any, _outside: object) -> list[Counter]:
            return [Counter("f1/program", "asked_under_load", "drop", int(site.under_load))]

    monkeypatch.setattr(standing_deployment, "kernel_counters", lambda *_: [])
    monkeypatch.setattr(StandingDeployment, "require_alive", lambda _: None)
    monkeypatch.setattr(StandingDeployment, "_openvswitch", lambda _: False)
    deployment = StandingDeployment.__new__(StandingDeployment)
    vars(deployment).update(topology=object(), _counting=SimpleNamespace(), _counters=[Function()])
    client = SimpleNamespace(ledger=lambda: SimpleNamespace(ports=()))
    chain: Any = SimpleNamespace(client=client, deployment=deployment, elsewhere=NOTHING)
    (told,) = RunningChain.counters(chain, under_load=under_load)
    assert told.value == under_load
