# SPDX-License-Identifier: Apache-2.0
"""`router` of a lab: what it is made of, and what is refused with its place."""

from __future__ import annotations

import pytest

from weir.lab.function import FunctionOptions
from weir.lab.router import RouterOptions

from .lab_text import GOOD, problem, problems

TENANTS = "tenants: [{prefix: 10.1.0.0/24}, {prefix: 10.2.0.0/24, next_hop: '02:00:00:00:00:0b'}]"
EXTERNAL = "external: 203.0.113.0/28"
FORWARDS = "forwards: [{port: 80, to: 10.1.0.5}, {external: 203.0.113.2, port: 80, to: 10.2.0.5}]"


def router(text: str, way: str = "") -> str:
    return GOOD + f"functions:\n  default: {{router: {{{text}}}{way}}}\n"


@pytest.mark.parametrize("way", ["", ", architecture: pipeline", ", architecture: dispatch, fastpath: true"])
def test_tenants_and_an_external_network_make_a_router(way: str) -> None:
    assert not problems(router(f"{TENANTS}, {EXTERNAL}, {FORWARDS}, isolate: true, sessions: 1000", way))


@pytest.mark.parametrize(
    ("text", "key", "said"),
    [
        (f"{TENANTS}", "functions.default.router.external", "is missing"),
        (f"tenants: [], {EXTERNAL}", "functions.default.router.tenants", "1 to 64 items"),
        (
            f"tenants: [{{prefix: 10.1.0.0/24, address: 10.1.0.255}}], {EXTERNAL}",
            "functions.default.router.tenants[0].address",
            "no host of 10.1.0.0/24",
        ),
        (
            f"{TENANTS}, {EXTERNAL}, address: 10.2.0.1/16",
            "functions.default.router.address",
            "overlaps 10.2.0.0/24",
        ),
        (f"{TENANTS}, {EXTERNAL}, address: 192.0.2.1", "functions.default.router.address", "length of its"),
        (f"{TENANTS}, {EXTERNAL}, gateway: 192.0.2.1", "functions.default.router.gateway", "in no network"),
        (
            f"{TENANTS}, {EXTERNAL}, address: 192.0.2.2/24, gateway: 192.0.3.1",
            "functions.default.router.gateway",
            "an address of 192.0.2.0/24",
        ),
        (
            f"{TENANTS}, {EXTERNAL}, address: 192.0.2.2/24, gateway: 192.0.2.1,"
            " next_hop: '02:00:00:00:00:0b'",
            "functions.default.router.gateway",
            "stands beside next_hop",
        ),
        (
            f"tenants: [{{prefix: 10.1.0.0/24, prefix6: 2001:db8::1/64}}], {EXTERNAL}",
            "functions.default.router.tenants[0].prefix6",
            "without host bits",
        ),
        (
            f"tenants: [{{prefix: 10.1.0.0/24, address6: '2001:db8::1'}}], {EXTERNAL}",
            "functions.default.router.tenants[0].address6",
            "stands without prefix6",
        ),
        (
            "tenants: [{prefix: 10.1.0.0/24, prefix6: '2001:db8::/64', address6: '2001:db8::'}],"
            f" {EXTERNAL}",
            "functions.default.router.tenants[0].address6",
            "no host of 2001:db8::/64",
        ),
        (
            "tenants: [{prefix: 10.1.0.0/24, prefix6: '2001:db8::/64'},"
            f" {{prefix: 10.2.0.0/24, prefix6: '2001:db8::/48'}}], {EXTERNAL}",
            "functions.default.router.tenants[1].prefix6",
            "2001:db8::/48 overlaps 2001:db8::/64",
        ),
        (
            f"{TENANTS}, {EXTERNAL}, address6: '2001:db8::1/64', gateway6: '2001:db8:1::1'",
            "functions.default.router.gateway6",
            "an address of 2001:db8::/64",
        ),
        (
            f"{TENANTS}, {EXTERNAL}, isolated: true",
            "functions.default.router.isolated",
            "did you mean isolate",
        ),
        (f"{TENANTS}, external: 203.0.113.1/28", "functions.default.router.external", "without host bits"),
        (f"{TENANTS}, external: 203.0.0.0/16", "functions.default.router.external", "length 22 or more"),
        (f"{TENANTS}, external: 10.1.0.0/28", "functions.default.router.tenants[0].prefix", "overlaps"),
        (
            f"tenants: [{{prefix: 10.1.0.0/24}}, {{prefix: 10.0.0.0/8}}], {EXTERNAL}",
            "functions.default.router.tenants[1].prefix",
            "10.0.0.0/8 overlaps 10.1.0.0/24",
        ),
        (
            f"tenants: [{{prefix: 10.1.0.0/24, next_hop: 'ff:ff:ff:ff:ff:ff'}}], {EXTERNAL}",
            "functions.default.router.tenants[0].next_hop",
            "one station",
        ),
        (
            f"{TENANTS}, {EXTERNAL}, forwards: [{{port: 80, to: 10.3.0.1}}]",
            "functions.default.router.forwards[0].to",
            "no tenant's",
        ),
        (
            f"{TENANTS}, {EXTERNAL}, forwards: [{{external: 203.0.113.99, port: 80, to: 10.1.0.1}}]",
            "functions.default.router.forwards[0].external",
            "none of the router's",
        ),
        (
            f"{TENANTS}, {EXTERNAL}, forwards: [{{port: 80, to: 10.1.0.1}}, {{port: 80, to: 10.1.0.2}}]",
            "functions.default.router.forwards[1]",
            "203.0.113.0:80/tcp",
        ),
        (
            f"{TENANTS}, {EXTERNAL}, floating: [{{external: 203.0.113.1, to: 10.1.0.1}}]",
            "functions.default.router.floating[0].external",
            "an address of others",
        ),
        (
            f"{TENANTS}, {EXTERNAL}, floating: [{{external: 192.0.2.5, to: 10.3.0.1}}]",
            "functions.default.router.floating[0].to",
            "no tenant's",
        ),
        (
            f"{TENANTS}, {EXTERNAL}, floating: [{{external: 192.0.2.5, to: 10.1.0.1}},"
            " {external: 192.0.2.6, to: 10.1.0.1}]",
            "functions.default.router.floating[1].to",
            "10.1.0.1 is in floating[0] too",
        ),
    ],
)
def test_what_cannot_be_is_refused_where_it_stands(text: str, key: str, said: str) -> None:
    found = problem(router(text))
    assert found.key == key
    assert said in str(found)
    assert found.line > 1


def test_floating_addresses_are_nats_pairs_and_answered_for_outside() -> None:
    made = RouterOptions.model_validate(
        {
            "tenants": [{"prefix": "10.1.0.0/24", "address": "10.1.0.1"}],
            "external": "203.0.113.0/30",
            "address": "192.0.2.1/24",
            "floating": [{"external": "192.0.2.5", "to": "10.1.0.5"}],
        }
    )
    nat, l3fwd = (options for _, options in made.stages())
    assert nat["addresses"] == "192.0.2.5 10.1.0.5"
    assert l3fwd["answers_for"] == "203.0.113.0/30, 192.0.2.5/32"


def test_a_router_stands_alone() -> None:
    found = problem(router(f"{TENANTS}, {EXTERNAL}", ", nf: l3fwd"))
    assert (found.key, found.message) == ("functions.default.router", "stands beside nf")


@pytest.mark.parametrize(
    ("isolate", "nfs", "inbound"),
    [(False, ["nat", "l3fwd"], (0, 1)), (True, ["acl", "nat", "l3fwd"], (1, 2))],
)
def test_what_comes_in_is_translated_and_then_routed(
    isolate: bool, nfs: list[str], inbound: tuple[int, ...]
) -> None:
    function = FunctionOptions.model_validate(
        {"router": {"tenants": [{"prefix": "10.1.0.0/24"}], "external": "203.0.113.1/32", "isolate": isolate}}
    )
    assert [one.nf for one in function.nfs()] == nfs
    assert function.inbound() == inbound


def test_a_router_with_addresses_is_a_station_that_translates_its_errors() -> None:
    function = FunctionOptions.model_validate(
        {
            "router": {
                "tenants": [
                    {"prefix": "10.1.0.0/24", "address": "10.1.0.1"},
                    {"prefix": "10.2.0.0/25", "address": "10.2.0.1", "next_hop": "02:00:00:00:00:0b"},
                    {"prefix": "10.3.0.0/24"},
                ],
                "external": "203.0.113.4/32",
                "address": "203.0.113.2/24",
                "gateway": "203.0.113.1",
            }
        }
    )
    options = function.nfs()[-1].options
    assert options["inbound_addresses"] == "10.1.0.1/24, 10.2.0.1/25"
    assert options["addresses"] == "203.0.113.2/24"
    assert options["answers_for"] == "203.0.113.4/32"
    assert options["errors_pass_all"] is True
    assert options["route_list"] == (
        "0.0.0.0/0 via 203.0.113.1, 10.2.0.0/25 02:00:00:00:00:0b 1, 10.3.0.0/24 default 1"
    )


STATION = "nf: l3fwd, options: {addresses: 192.0.2.1/24}"


@pytest.mark.parametrize(
    ("way", "refused"),
    [
        ("", False),
        (", architecture: pipeline", False),
        (", architecture: separated", False),
        (", architecture: dispatch, workers: 1", False),
        (", architecture: dispatch", True),
        (", architecture: separated, state_cores: 2", True),
    ],
)
def test_a_station_is_not_shared_by_workers(way: str, refused: bool) -> None:
    text = GOOD + f"functions:\n  default: {{{STATION}{way}}}\n"
    if not refused:
        assert not problems(text)
        return
    found = problem(text)
    assert found.key == "functions.default.architecture"
    assert "hear every neighbour" in found.message


def test_of_several_routers_in_a_function_none_is_a_station() -> None:
    text = GOOD + f"functions:\n  default: {{chain: [{{{STATION}}}, {{nf: l3fwd}}]}}\n"
    assert "has several l3fwd" in problem(text).message
