# SPDX-License-Identifier: Apache-2.0
"""The committed schemas of fleet file and placement fit what the code reads and writes."""

from __future__ import annotations

import json
import time
from pathlib import Path

import jsonschema
from ruamel.yaml import YAML

from tests.unit.planning.fleet import referee
from weir.lab.fleet_load import load_fleet
from weir.planning.fleet.answer import placement_of
from weir.planning.fleet.instance import fleet_of
from weir.planning.fleet.search import Search
from weir.planning.fleet.stop import Stop

ROOT = Path(__file__).parents[2]
FLEET = ROOT / "labs" / "fleet" / "fleet.yml"


def schema(name: str) -> dict[str, object]:
    loaded: dict[str, object] = json.loads((ROOT / "schema" / name).read_text(encoding="utf-8"))
    return loaded


def test_the_schema_accepts_the_fleet_that_comes_with_weir() -> None:
    jsonschema.validate(YAML(typ="safe").load(FLEET), schema("fleet.schema.json"))


def test_a_placement_is_of_its_schema_and_has_each_chain_once() -> None:
    file = load_fleet(FLEET)
    search = Search(fleet_of(file), Stop(20, time.monotonic), gap=0.2, seed=1, tell=lambda _: None)
    answer = search.run(5)
    placement = placement_of(file, answer, 1)
    jsonschema.validate(json.loads(placement.model_dump_json()), schema("placement.schema.json"))
    assert referee.broken(answer.room.fleet, referee.places(answer.room)) == []
    nodes = [node for host in placement.hosts for node in host.nodes]
    stand = [(name, number) for node in nodes for name, numbers in node.chains.items() for number in numbers]
    wanted = [(name, number + 1) for name, chain in file.chains.items() for number in range(chain.count)]
    assert sorted(stand) == sorted(wanted)
    assert placement.uses.cores.used == sum(node.uses.cores.used for node in nodes)
