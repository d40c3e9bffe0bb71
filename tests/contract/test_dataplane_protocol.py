# SPDX-License-Identifier: Apache-2.0
"""The protocol as documented is the one that weir-dp speaks and that plans use."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any, get_args

import jsonschema
import pytest

from tests.weir_dp_protocol import check_request
from tools.docs.dataplane_schema import COMMANDS, Failure
from weir.lab import load_lab
from weir.plan import Plan, build_topology
from weir.protocol.client import PROTOCOL_VERSION
from weir.protocol.configuration import PortConfig

ROOT = Path(__file__).resolve().parents[2]
LAB = load_lab(ROOT / "labs" / "switching" / "lab.yml")
BUILT = [
    build_topology(LAB, technology, chain, "switching-0badcafe")
    for technology in LAB.technology
    for chain in LAB.chains()
]


@pytest.fixture(scope="module")
def described() -> dict[str, Any]:
    binary = os.environ.get("WEIR_DP") or next(
        (str(path) for path in [ROOT / "build/native/weir-dp"] if path.is_file()), None
    )
    if binary is None:
        pytest.skip("weir-dp is not built: run 'make native'")
    done = subprocess.run([binary, "--describe"], capture_output=True, text=True, check=True, timeout=60)
    described: dict[str, Any] = json.loads(done.stdout)
    return described


def test_documented_commands_are_those_of_weir_dp(described: dict[str, Any]) -> None:
    assert [command.name for command in COMMANDS] == [command["name"] for command in described["commands"]]
    assert described["protocol"] == PROTOCOL_VERSION


def test_documented_failures_are_those_that_native_code_tells() -> None:
    call = re.compile(r'weir_fail\(\s*[^,()]+,\s*("?\w+"?),')
    sources = [path.read_text() for path in (ROOT / "native").rglob("*.c") if path.name != "error.c"]
    told = {code for source in sources for code in call.findall(source)}
    assert sum(source.count("weir_fail(") for source in sources) == sum(len(call.findall(s)) for s in sources)
    documented = set(get_args(Failure.model_fields["code"].annotation))
    assert {f'"{code}"' for code in documented} == told


def test_documented_port_kinds_are_those_of_weir_dp(described: dict[str, Any]) -> None:
    kinds = PortConfig.model_json_schema()["properties"]["kind"]["anyOf"][0]["enum"]
    assert sorted(kinds) == sorted(described["port_kinds"])


@pytest.mark.parametrize("topology", BUILT, ids=lambda topology: f"{topology.technology}-{topology.chain}")
def test_what_a_plan_configures_is_a_valid_request(topology: Any) -> None:
    check_request("configure", Plan.of(topology, LAB).opened("/run/weir/x").arguments())


@pytest.mark.parametrize("frame", LAB.traffic.frames)
def test_what_a_plan_sends_is_a_valid_request(frame: str) -> None:
    check_request("traffic.configure", Plan.of(BUILT[0], LAB).streams[str(frame)].arguments())


def test_an_unknown_key_is_no_valid_request() -> None:
    with pytest.raises(jsonschema.ValidationError):
        check_request("announce", {"count": 3, "often": True})
