# SPDX-License-Identifier: Apache-2.0
"""A cloud that is replayed, and a Weir that knows it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from weir import fabric
from weir.base.error import FabricError
from weir.fabric.cloud.system import ssh
from weir.lab.sut import SutFile
from weir.results.verification import CaseResult, Verification
from weir.verify.drivers.openstack import OpenStackDriver, chains, removal
from weir.verify.drivers.tester_alone import TesterAlone
from weir.verify.suites import SUITES

from . import exchange, scenario
from .made_attached import MadeTester
from .made_routers import whole_lists
from .replay import Fault, Replay, playing

CLOUDS = """clouds:
  recorded:
    region_name: RegionOne
    auth:
      auth_url: {base}/identity/v3
      username: {user}
      password: {password}
      project_name: {project}
      user_domain_name: Default
      project_domain_name: Default
"""
sleep = time.sleep


@dataclass
class Played:
    """A replay, and a driver for it."""

    replay: Replay
    scenario: scenario.Scenario
    driver: OpenStackDriver
    file: SutFile
    tester: MadeTester
    """Of chains."""

    def run(self) -> Verification:
        """The scenario's cases."""
        return scenario.run(self.scenario, self.driver, self.file)

    def case(self) -> CaseResult:
        """Of the only one."""
        (found,) = self.run().suites[0].cases
        return found


Playing = Callable[..., AbstractContextManager[Played]]


@pytest.fixture
def journals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where they are."""
    place = tmp_path / "journals"
    monkeypatch.setenv("WEIR_CLOUD_JOURNALS", str(place))
    return place


@pytest.fixture
def played(tmp_path: Path, journals: Path, monkeypatch: pytest.MonkeyPatch) -> Playing:
    """`played(NAME, case=…, faults=…, limit_s=…)`: a recording, at a speed that nobody waits for."""
    assert not journals.exists()
    monkeypatch.setattr(time, "sleep", lambda _: sleep(0.001))
    monkeypatch.setattr(ssh, "said", answered)
    monkeypatch.setattr(removal, "LIMIT_S", 4.0)
    monkeypatch.setattr(removal, "UNSURE_S", 0.1)
    monkeypatch.setattr(removal, "REQUEST_S", 0.1)
    monkeypatch.setattr(TesterAlone, "measured", lambda *_: {})
    monkeypatch.setattr(fabric, "check", lambda _technology: None)
    monkeypatch.setattr(fabric, "lacking", lambda _step: None)
    monkeypatch.setattr(fabric, "claimed", lambda _cores: nullcontext())

    @contextmanager
    def play(
        name: str, *, case: str | None = None, faults: Sequence[Fault] = (), limit_s: float = 30.0
    ) -> Iterator[Played]:
        wanted = scenario.SCENARIOS[name]
        recorded = exchange.read(name)
        if case is not None:
            recorded, wanted = only(recorded, wanted, case)
        asked = {one.path for one in recorded}
        absent = [one for one in exchange.read("absent") if one.path not in asked]
        with playing([*recorded, *whole_lists(recorded), *absent], faults) as replay:
            known(tmp_path, replay, wanted, monkeypatch)
            image = tmp_path / "image"
            image.write_bytes(b"an image")
            file = scenario.sut(wanted, "recorded", image, limit_s)
            tester = MadeTester()
            monkeypatch.setattr(chains, "Session", tester.session)
            driver = OpenStackDriver(file, tmp_path, scenario.counted(), tester.attach)
            yield Played(replay, wanted, driver, file, tester)

    return play


def known(folder: Path, replay: Replay, wanted: scenario.Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    """Writes its clouds.yaml."""
    user, project = ("member", "members") if wanted.member else ("admin", "admin")
    text = CLOUDS.format(base=replay.base, user=user, project=project, password=exchange.PASSWORD)
    (folder / "clouds.yaml").write_text(text)
    monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", str(folder / "clouds.yaml"))


def only(
    recorded: list[exchange.Exchange], wanted: scenario.Scenario, case: str
) -> tuple[list[exchange.Exchange], scenario.Scenario]:
    """A scenario of one of its cases; names are counted from the first again."""
    known = [one.name for one in SUITES[wanted.suite].of(scenario.sut(wanted, "a", Path("b"))).cases]
    stacks = [one for one in known if one not in WITHOUT_STACK and one in (wanted.cases or known)]
    number = stacks.index(case) + 1
    id_, first = f"c0ffee{number:06}", "c0ffee000001"
    kept = [
        one
        if number == 1
        else exchange.Exchange.model_validate_json(one.model_dump_json().replace(id_, first))
        for one in recorded
        if id_ in (text := one.model_dump_json()) or "c0ffee" not in text
    ]
    from dataclasses import replace

    return kept, replace(wanted, cases=(case,))


WITHOUT_STACK = ("connection_check",)


def answered(_netns: None, to: str, command: str, **how: Any) -> str:
    """In place of SSH: what servers say whose network works."""
    assert how["user"] == "root"
    assert how["within_s"] > 0
    if not to.startswith("198.51.100."):
        raise FabricError(f"nothing answers by SSH at {to}")
    if command.startswith("echo "):
        return f"{command.split()[1].rstrip(';')}\nLinux 6.1\n9.0\n"
    return "3 packets transmitted, 3 packets received, 0% packet loss\n" if "ping" in command else ""
