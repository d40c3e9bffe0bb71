# SPDX-License-Identifier: Apache-2.0
"""Names of what a deployment makes: all of them have its token, so that nothing else is ever taken down."""

from __future__ import annotations

import re

from weir.base.topology import Side, Topology

_DEPLOYMENT = re.compile(r"(?P<lab>[a-z][a-z0-9-]{0,31})-(?P<token>[0-9a-f]{8})")


def deployment_id(lab_name: str, token: str) -> str:
    """The name of a deployment. `token`: 8 hex digits that no other deployment on the machine has."""
    name = f"{lab_name}-{token}"
    token_of(name)
    return name


def token_of(deployment: str) -> str:
    """Of a deployment. ValueError if that is no name of one."""
    match = _DEPLOYMENT.fullmatch(deployment)
    if match is None:
        raise ValueError(f"not a deployment id: {deployment!r}; expected <lab>-<8 hex digits>")
    return match["token"]


def namespace(token: str, suffix: str) -> str:
    """A network namespace: "t" for the tester, "sw" for the switch, a function's name."""
    return f"weir-{token}-{suffix}"


def switch_namespace(topology: Topology) -> str:
    """The network namespace of the switch."""
    return namespace(token_of(topology.deployment), "sw")


def mac(token: str, node: int, side: Side) -> str:
    """02:57 (locally administered, W), two bytes of the deployment, the node, the side."""
    return f"02:57:{token[0:2]}:{token[2:4]}:{node:02x}:{'00' if side == 'left' else '01'}"
