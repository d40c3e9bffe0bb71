# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from weir.lab import load_lab
from weir.lab.check import complaints
from weir.plan.memory import TABLES, entries, learning_packets
from weir.plan.random_labs import (
    FASTPATH,
    FRUITLESS_MAX,
    FUNCTIONS_MAX,
    Drawn,
    FruitlessError,
    Known,
    drawn,
)

CPUS = (0, 1)
KNOWN = Known(
    technology="direct",
    technologies={"wire": "memory"},
    functions={
        "nat": {"external": "192.0.2.0/24"},
        "acl": {"default": "permit"},
        "dpi": {},
        "l3fwd": {},
        "lb": {"services": "198.19.0.1:1024/udp 198.19.1.1:1024"},
    },
    entries_max={"acl": 400, "l3fwd": 200, "lb": 64},
    fastpath=True,
)


def series(count: int, seed: int = 1, known: Known = KNOWN) -> list[Drawn]:
    return list(itertools.islice(drawn(known, CPUS, seed), count))


@pytest.fixture(scope="module")
def many() -> list[Drawn]:
    return series(400)


def ways(draws: list[Drawn]) -> Counter[str]:
    first = [draw.lab.functions["f1"] for draw in draws]
    return Counter(FASTPATH if one.fastpath else one.architecture for one in first)


def test_every_architecture_comes_and_fast_paths_too(many: list[Drawn]) -> None:
    found = ways(many)
    assert set(found) == {"run-to-completion", "pipeline", "dispatch", "separated", FASTPATH}
    assert min(found.values()) > 0.1 * len(many)


def test_every_function_comes_in_every_length_of_chain(many: list[Drawn]) -> None:
    nfs = Counter(
        one.nf for draw in many for function in draw.lab.functions.values() for one in function.nfs()
    )
    assert set(nfs) == set(KNOWN.functions)
    assert min(nfs.values()) > 0.1 * sum(nfs.values())
    lengths = Counter(sum(len(one.nfs()) for one in draw.lab.functions.values()) for draw in many)
    assert set(lengths) == set(range(1, FUNCTIONS_MAX + 1))


def test_numbers_of_flows_come_from_every_decade(many: list[Drawn]) -> None:
    decades = Counter(len(str(draw.lab.traffic.flows.count)) for draw in many)
    assert min(decades[digits] for digits in range(1, 7)) > 0.1 * len(many)


def test_tester_and_functions_share_a_core_have_their_own_or_both(many: list[Drawn]) -> None:
    cores = [draw.lab.cores for draw in many]
    found = Counter(
        (set(one.functions or ()) == set(one.tester or ()), len(one.functions or ())) for one in cores if one
    )
    assert set(found) == {(True, 1), (False, 1), (False, 2)}
    assert min(found.values()) > 0.2 * len(many)


def test_frames_are_usual_sizes_others_and_mixes_in_both_directions(many: list[Drawn]) -> None:
    frames = [str(draw.lab.traffic.frames[0]) for draw in many]
    assert any(frame.startswith("imix:") for frame in frames)
    assert any(frame in ("64", "1518") for frame in frames)
    assert any(frame.isdigit() and int(frame) % 64 for frame in frames)
    assert {draw.lab.tester.direction for draw in many} == {"left-to-right", "bidirectional"}


def test_every_draw_is_a_lab_without_complaints(many: list[Drawn]) -> None:
    assert [draw.number for draw in many if list(complaints(draw.lab, CPUS))] == []


def test_the_text_of_a_draw_is_its_lab(many: list[Drawn], tmp_path: Path) -> None:
    path = tmp_path / "random.yml"
    for draw in many[:40]:
        path.write_text(draw.text)
        assert load_lab(path, cpus=CPUS) == draw.lab


def test_the_same_seed_draws_the_same_and_another_one_others(many: list[Drawn]) -> None:
    again, other = series(20), series(20, seed=2)
    assert [one.text for one in again] == [one.text for one in many[:20]]
    assert [one.text for one in other] != [one.text for one in many[:20]]


def test_tables_have_room_for_all_flows_and_dpi_decides_within_seconds(many: list[Drawn]) -> None:
    for draw in many:
        streams = 2 if draw.lab.tester.direction == "bidirectional" else 1
        flows = draw.lab.traffic.flows.count * streams
        for function in draw.lab.functions.values():
            for one in function.nfs():
                assert all(entries(one, table) >= flows for table in TABLES.get(one.nf, ()))
        assert learning_packets(draw.lab) <= max(flows, 400_000)


def test_what_would_be_dropped_is_drawn_again_and_counted_with_why() -> None:
    nat = replace(KNOWN, functions={"nat": KNOWN.functions["nat"]})
    draws = series(60, known=nat)
    assert {draw.lab.tester.direction for draw in draws} == {"left-to-right"}
    refused = Counter(why for draw in draws for why in draw.refused)
    assert 30 < refused["nat drops what comes back to no request of the tester's"] < 120


def test_lists_are_no_longer_than_what_was_measured(many: list[Drawn]) -> None:
    lists = [
        str(one.options["rule_list"]).count(",") + 1
        for draw in many
        for function in draw.lab.functions.values()
        for one in function.nfs()
        if "rule_list" in one.options
    ]
    assert max(lists) <= 400
    assert len([entries_ for entries_ in lists if entries_ > 40]) > 5


def test_a_model_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="the model knows no function"):
        next(drawn(replace(KNOWN, functions={}), CPUS, 1))


def test_a_polling_switch_has_a_core_that_nobody_else_has() -> None:
    known = replace(KNOWN, technology="ovs-dpdk", technologies={}, fastpath=False)
    for draw in series(20, known=known):
        cores = draw.lab.cores
        assert cores is not None
        assert cores.switch == (1,)
        assert cores.tester == cores.functions == (0,)


def test_where_every_draw_is_refused_it_ends_with_the_reason() -> None:
    with pytest.raises(FruitlessError, match=f"{FRUITLESS_MAX} draws in a row .* the last one since "):
        next(drawn(replace(KNOWN, technology="ovs-dpdk", technologies={}, fastpath=False), (0,), 1))
