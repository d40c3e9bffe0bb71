# SPDX-License-Identifier: Apache-2.0
"""What programs in the place of l3fwd route."""

from __future__ import annotations

import ipaddress

from weir.catalogue.launch import routed

from .test_linux import ENDS

OWN_MAC = "02:00:00:00:00:99"


def test_the_testers_left_end_has_one_route_the_labs_where_it_has_one() -> None:
    left, rest = ipaddress.ip_network("198.18.0.0/24"), ipaddress.ip_network("2001:2::/64")
    assert [*routed({"route_list": f"{left} {OWN_MAC}"}, ENDS, "")] == [(rest, 0, None), (left, 0, OWN_MAC)]
    beyond = ipaddress.ip_network("203.0.113.0/24")
    assert [*routed({"route_list": f"{beyond} default"}, ENDS, "")] == [
        (left, 0, None),
        (rest, 0, None),
        (beyond, 1, None),
    ]
