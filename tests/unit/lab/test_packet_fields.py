# SPDX-License-Identifier: Apache-2.0
"""Fields that change from packet to packet: what a lab may say, and what weir-dp is told."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from weir.lab.complaint import Complaint
from weir.lab.lab import Lab
from weir.lab.packet_fields import PacketFields
from weir.lab.traffic import Traffic
from weir.lab.traffic_check import traffic_complaints
from weir.plan.streams import packet_fields

LAB = {"weir": 1, "name": "x", "chain": [["f"]], "technology": "direct", "functions": {"f": {"nf": "l2fwd"}}}


def told(fields: dict[str, Any], *, back: bool = False, **traffic: Any) -> dict[str, dict[str, Any]]:
    made = packet_fields(Traffic(fields=PacketFields.model_validate(fields), **traffic), 5, back=back)
    return {one.field: one.model_dump(by_alias=True, exclude_defaults=True) for one in made}


def complaints(**traffic: Any) -> list[Complaint]:
    return list(traffic_complaints(Lab.model_validate({**LAB, "traffic": traffic})))


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"ttl": 0}, "ttl cannot be 0; expected 1 to 255"),
        ({"vlan": {"first": 4000, "last": 4095}}, "vlan cannot be 4095"),
        ({"priority": 8}, "expected 0 to 7"),
        ({"dscp": {"first": 4}}, "range without an end"),
        ({"src_port": {"first": 9, "last": 4}}, "the greater one last"),
        ({"dst_port": {"first": 1, "last": 2, "values": [3]}}, "in 2 ways"),
        ({"dst_port": {}}, "in 0 ways"),
        ({"dscp": {"values": [1], "weights": [1, 2]}}, "has 2 weights"),
        ({"dscp": {"values": [1], "weights": [1], "order": "in-turn"}}, "in random order"),
        ({"dscp": {"values": [1], "weights": [0]}}, "weights of 0 alone"),
        ({"src_ip": {"prefix": "10.0.0.1/8"}}, "without host bits"),
        ({"src_ip": {"values": ["10.0.0.1", "2001::1"]}}, "one version"),
        ({"src_ip": {"prefix": "2001:2::/64"}}, "above its last 32 bits"),
        ({"src_ip": {"first": "10.0.0.2", "last": "10.0.0.1"}}, "the greater one last"),
        ({"protocol": 17}, "Extra inputs are not permitted"),
    ],
)
def test_what_no_packet_can_have_is_refused(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        PacketFields.model_validate(fields)


def test_ranges_prefixes_lists_and_constants_are_told_as_numbers() -> None:
    found = told(
        {
            "src_ip": {"prefix": "198.18.0.0/16"},
            "dst_port": {"values": [53, 443], "weights": [1, 9]},
            "src_port": {"first": 2000, "last": 2999, "order": "in-turn"},
            "ttl": 9,
        }
    )
    assert (found["src_ip"]["from"], found["src_ip"]["count"]) == (0xC6120000, 65536)
    assert (found["dst_port"]["values"], found["dst_port"]["weights"]) == ((53, 443), (1, 9))
    assert (found["src_port"]["from"], found["src_port"]["count"]) == (2000, 1000)
    assert "order" not in found["src_port"]
    assert found["ttl"]["values"] == (9,)


def test_what_runs_back_is_exchanged_and_drawn_alike() -> None:
    fields = {"src_ip": {"prefix": "198.18.0.0/16"}, "dst_port": {"values": [53, 443]}, "ttl": 9}
    there, back = told(fields), told(fields, back=True)
    assert set(back) == {"dst_ip", "src_port", "ttl"}
    assert {**there["src_ip"], "field": "dst_ip"} == back["dst_ip"]
    assert {**there["dst_port"], "field": "src_port"} == back["src_port"]
    assert len({one["seed"] for one in there.values()}) == 3


def test_whom_an_end_sends_to_through_a_translation_stays() -> None:
    fields = {"src_ip": {"prefix": "198.18.0.0/16"}, "src_port": {"first": 1024, "last": 2047}}
    right = {"to_address": "203.0.113.1"}
    assert set(told(fields, back=True, right=right)) == {"dst_port"}
    assert set(told(fields, right=right)) == {"src_ip", "src_port"}


def test_seeds_are_the_labs_and_each_field_has_its_own() -> None:
    fields = {"src_port": {"first": 1, "last": 9}}
    one = packet_fields(Traffic(fields=PacketFields.model_validate(fields)), 5)[0].seed
    assert one != packet_fields(Traffic(fields=PacketFields.model_validate(fields)), 6)[0].seed


@pytest.mark.parametrize(
    ("traffic", "path", "said"),
    [
        ({"fields": {"vlan": 5}}, ("traffic", "fields", "vlan"), "frames have none"),
        ({"fields": {"priority": 5}}, ("traffic", "fields", "priority"), "frames have none"),
        ({"fields": {"src_ip": "2001:2:0:1::9"}}, ("traffic", "fields", "src_ip"), "of IPv6"),
        ({"ip": 6, "fields": {"src_ip": "2001:2:0:9::9"}}, ("traffic", "fields", "src_ip"), "/96"),
        ({"fields": {"dst_ip": "224.0.0.1"}}, ("traffic", "fields", "dst_ip"), "no other host's"),
        (
            {"left": {"to_address": "203.0.113.9"}, "flows": {"vary": ["dst_ip"]}},
            ("traffic", "flows", "vary"),
            "where the left end sends to",
        ),
        (
            {"fields": {"ttl": 5}, "capture": {"left": "x.pcap"}},
            ("traffic", "fields"),
            "fields of their own",
        ),
    ],
)
def test_fields_that_this_traffic_cannot_have_are_refused(
    traffic: dict[str, Any], path: tuple[str, ...], said: str
) -> None:
    found = [one for one in complaints(**traffic) if said in one.message]
    assert [one.path for one in found] == [path]


def test_fields_of_tagged_frames_of_either_version_are_taken() -> None:
    assert complaints(vlan=7, fields={"vlan": {"first": 1, "last": 9}, "priority": 3}) == []
    assert complaints(ip=6, fields={"src_ip": {"prefix": "2001:2:0:1::/96"}}) == []


def test_first_packets_of_flows_are_not_known_where_each_packet_has_its_own() -> None:
    measure = {"latency": {"first_packets": True}}
    for fields, found in (({"src_port": {"first": 1, "last": 9}}, 1), ({"ttl": 9}, 0)):
        lab = Lab.model_validate({**LAB, "traffic": {"fields": fields}, "measure": measure})
        assert len([one for one in traffic_complaints(lab) if "begin a flow" in one.message]) == found
