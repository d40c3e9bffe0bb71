# SPDX-License-Identifier: Apache-2.0
"""`variants` of a lab: what each changes, and what a machine cannot run."""

from __future__ import annotations

from pathlib import Path

import pytest

from weir.base.cores import Cores
from weir.lab import load_lab
from weir.lab.of_tenants import has_tenants
from weir.lab.ways import Way, ways
from weir.technology.direct import DirectOptions

from .lab_text import GOOD, load, problem

ROOT = Path(__file__).resolve().parents[3]
SIXTEEN = tuple(range(16))
TWO = GOOD + (
    "host: {numa: 0, hugepages: none}\n"
    "cores: {tester: [0]}\n"
    "technologies: {direct: {wire: memory, cores: {functions: [0]}}}\n"
    "variants:\n"
    "  plain: {technology: direct}\n"
    "  tuned:\n"
    "    technology: direct\n"
    "    cores: {functions: [1]}\n"
    "    host: {hugepages: auto, rt: auto}\n"
)


def by_name(text: str, cpus: tuple[int, ...] = (0, 1)) -> dict[str, Way]:
    return {way.name: way for way in ways(load(text.replace(", ovs-dpdk", ""), cpus=cpus), cpus)}


def test_a_variant_changes_what_it_names_and_nothing_else() -> None:
    plain, tuned = by_name(TWO).values()
    assert (plain.lab.host.hugepages, tuned.lab.host.hugepages) == ("none", "auto")
    assert (plain.lab.host.numa, tuned.lab.host.numa) == (0, 0)
    assert (plain.lab.host.rt, tuned.lab.host.rt) == (False, "auto")
    for one in (plain, tuned):
        options = one.lab.options("direct")
        assert isinstance(options, DirectOptions)
        assert options.wire == "memory"


def test_cores_of_a_variant_go_before_those_of_the_technology() -> None:
    plain, tuned = by_name(TWO).values()
    assert plain.lab.cores_for("direct") == Cores(tester=(0,), functions=(0,), switch=(1,))
    assert tuned.lab.cores_for("direct") == Cores(tester=(0,), functions=(1,), switch=(1,))


def test_a_variant_may_have_functions_of_its_own() -> None:
    text = (
        GOOD
        + "variants: {slow: {technology: direct, functions: {default: {nf: l2fwd, workers: 2, "
        + ("architecture: dispatch}}}}\n")
    )
    (way,) = by_name(text).values()
    assert way.lab.functions["default"].architecture == "dispatch"


def test_a_file_that_only_a_variant_names_is_looked_for() -> None:
    text = GOOD + "variants: {v: {functions: {default: {nf: acl, options: {rules: no-such.rules}}}}}\n"
    assert problem(text).key == "variants.v.functions.default.options.rules"


def test_a_variant_of_several_technologies_is_compared_under_each() -> None:
    names = list(by_name(GOOD + "variants: {a: {}, b: {technology: direct}}\n"))
    assert names == ["a direct", "a linux-bridge", "b"]


def test_a_lab_without_variants_compares_its_technologies() -> None:
    assert list(by_name(GOOD)) == ["direct", "linux-bridge"]


def test_ratios_refer_to_a_variant() -> None:
    assert load(TWO).baseline == "plain"
    found = problem(TWO + "baseline: direct\n")
    assert (found.key, found.expected) == ("baseline", "one of plain, tuned")


def test_what_the_machine_lacks_for_a_variant_is_a_reason_and_no_error() -> None:
    text = TWO + "  large: {technology: direct, cores: {functions: [2, 3, 4]}}\n"
    large = by_name(text)["large"]
    assert large.refused == "needs CPUs 0,2-4, and this machine has CPUs 0-1 to give"
    assert by_name(text, SIXTEEN)["large"].refused is None


def test_a_variant_that_would_take_every_cpu_by_force_is_not_run_here() -> None:
    text = TWO + "  forced: {technology: direct, cores: {functions: [1]}, host: {isolation: partition}}\n"
    refused = by_name(text)["forced"].refused
    assert refused is not None
    assert refused.startswith("every CPU of this machine (0-1) polls under direct")
    assert by_name(text, SIXTEEN)["forced"].refused is None


@pytest.mark.parametrize(
    ("variant", "key"),
    [
        ("{technology: sr-iov}", "variants.bad.technology"),
        ("{technology: ovs-dpdk, host: {hugepages: none}}", "variants.bad.host.hugepages"),
        ("{host: {pinning: false, rt: auto}}", "variants.bad.host.rt"),
        ("{host: {hugepages: huge}}", "variants.bad.host.hugepages"),
        ("{traffic: {}}", "variants.bad.traffic"),
    ],
)
def test_what_no_machine_can_run_is_an_error_at_the_variant(variant: str, key: str) -> None:
    text = GOOD.replace("direct, linux-bridge, ovs-dpdk", "ovs-dpdk")
    assert problem(text + f"variants: {{bad: {variant}}}\n").key == key


@pytest.mark.parametrize(
    "path",
    [one for one in sorted(ROOT.glob("labs/*/lab.yml")) if not has_tenants(one)],
    ids=lambda path: path.parent.name,
)
@pytest.mark.parametrize("cpus", [(0, 1), SIXTEEN], ids=["two", "sixteen"])
@pytest.mark.parametrize("quick", [False, True], ids=["full", "quick"])
def test_every_lab_that_comes_with_weir_runs_in_some_way(
    path: Path, cpus: tuple[int, ...], quick: bool
) -> None:
    found = ways(load_lab(path, quick=quick, cpus=cpus), cpus)
    assert any(way.refused is None for way in found)
    if cpus == SIXTEEN:
        assert not [way.name for way in found if way.refused is not None]


CHAINED = TWO.replace("chain: PVP\n", "chain: [PVP, PVVP]\n")


def test_a_variant_may_name_the_chains_that_it_is_run_with() -> None:
    plain, tuned = by_name(CHAINED.replace("  tuned:\n", "  tuned:\n    chains: [PVVP]\n")).values()
    assert [chain.name for chain in plain.lab.chains()] == ["PVP", "PVVP"]
    assert [chain.name for chain in tuned.lab.chains()] == ["PVVP"]


def test_a_chain_that_the_lab_has_not_is_refused_with_those_that_it_has() -> None:
    text = CHAINED.replace(", ovs-dpdk", "").replace("  tuned:\n", "  tuned:\n    chains: [PVVVP]\n")
    found = problem(text)
    assert found.key == "variants.tuned.chains[0]"
    assert "PVP, PVVP" in str(found)


def test_steps_are_variants_of_the_lab_each_of_them_once() -> None:
    assert load(TWO + "steps: [plain, tuned]\n").steps == ("plain", "tuned")
    unknown = problem(TWO + "steps: [plain, tunned]\n")
    assert (unknown.key, unknown.message) == ("steps[1]", "tunned is not among the lab's variants")
    assert "did you mean tuned" in str(unknown)
    assert problem(TWO + "steps: [plain, plain]\n").message == "names plain twice"
    assert problem(TWO + "steps: [plain]\n").expected == "two or more, or none"
    assert problem(GOOD + "steps: [plain, tuned]\n").message == "are variants, and the lab has none"


def test_a_lab_that_a_variant_makes_has_no_steps_of_its_own() -> None:
    assert all(way.lab.steps == () for way in by_name(TWO + "steps: [plain, tuned]\n").values())
