# SPDX-License-Identifier: Apache-2.0
"""Which keys of a lab differ between runs, and which of them a figure may depend on."""

from __future__ import annotations

from weir.comparison import lab_keys

LAB = {
    "title": "One",
    "technology": ["direct"],
    "traffic": {"frames": ["64"], "flows": {"count": 1}, "vlan": None},
    "variants": {"a": {"cores": 1}, "b": {"cores": 1}},
}
OTHER = {
    "title": "Two",
    "technology": ["direct", "ovs"],
    "traffic": {"frames": ["128"], "flows": {"count": 2}},
    "variants": {"a": {"cores": 1}, "b": {"cores": 2}},
    "measure": {"new": 1},
}


def test_every_key_that_differs_is_named_and_one_left_open_is_as_one_that_is_not_there() -> None:
    assert lab_keys.different(LAB, OTHER) == [
        "measure",
        "technology",
        "title",
        "traffic.flows.count",
        "traffic.frames",
        "variants.b.cores",
    ]
    assert lab_keys.different(LAB, LAB) == []


def test_a_figure_depends_on_no_other_variant_nor_on_what_else_is_measured() -> None:
    assert lab_keys.of_figure("a", LAB, OTHER, same_weir=True) == ["measure", "traffic.flows.count"]
    assert lab_keys.of_figure("b", LAB, OTHER, same_weir=True)[-1] == "variants.b.cores"


def test_a_key_that_one_version_of_weir_lacks_is_one_that_it_did_not_know() -> None:
    assert lab_keys.of_figure("a", LAB, OTHER, same_weir=False) == ["traffic.flows.count"]


def test_of_many_keys_four_are_named() -> None:
    assert lab_keys.named(list("abcd")) == "a, b, c, d"
    assert lab_keys.named(list("abcdef")) == "a, b, c, d and 2 more"
