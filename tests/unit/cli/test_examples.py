# SPDX-License-Identifier: Apache-2.0
"""`weir examples` and `weir offer`, as they are read."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from weir.cli.main import app
from weir.fabric import offer
from weir.results.host_offer import HostOffer

runner = CliRunner()
ROOT = Path(__file__).parents[3]


def test_examples_are_listed_with_the_command_that_each_is_for_and_its_title() -> None:
    head, *lines = runner.invoke(app, ["examples"]).stdout.splitlines()
    assert head.startswith("In ")
    found = {line.split()[0]: line for line in lines}
    assert set(found) == {path.name for path in (ROOT / "labs").iterdir() if path.is_dir()}
    assert "weir verify      A cloud that is verified" in found["cloud"]
    assert "weir fleet plan  Tenants' chains in two sites" in found["fleet"]
    assert "weir run         Throughput of a service chain under four" in found["switching"]


def test_what_technologies_lack_alike_is_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made = HostOffer.model_construct(
        node="edge", architecture="x86_64", weir="1", cpus=[0, 1], hugepages_2m_free=3,
        technologies={"direct": None, "ovs": "no root", "linux-bridge": None, "sr-iov": "no root"},
    )  # fmt: skip
    monkeypatch.setattr(offer, "offer", lambda: made)
    said = runner.invoke(app, ["offer"]).stdout.splitlines()
    assert said[3:] == ["direct, linux-bridge: work", "ovs, sr-iov: no root"]
