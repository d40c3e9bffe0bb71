# SPDX-License-Identifier: Apache-2.0
"""Where it is: its directory, its addresses, its secrets."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

STATE = Path(os.environ.get("WEIR_OPENSTACK", "/var/tmp/weir-openstack"))
"""All that it writes."""
LOGS = STATE / "log"
READY = STATE / "ready"
"""There once all services answer; its text is how long that took."""
FAILED = STATE / "failed"
CLOUDS = STATE / "clouds.yaml"
CLOUD = "weir-test"
"""Its administrator, in that file; and a user of no such rights."""
MEMBER_CLOUD = "weir-test-member"
IMAGE_FILE = STATE / "tiny.img"
IMAGE, FLAVOR, EXTERNAL = "weir-tiny", "weir-tiny", "public"

LINK, INNER_LINK = "weir-os0", "eth0"
"""This host's end of the wire to it, and the other one. Addresses are those for documentation (RFC 5737)."""
TESTER_LINK, INNER_TESTER_LINK = "weir-os1", "tst0"
"""Likewise of a wire to its network outside, for a tester: without addresses."""
OUTER_ADDRESS, HOST = "203.0.113.1", "203.0.113.2"
FLOATING, FLOATING_GATEWAY = "198.51.100.0/24", "198.51.100.1"
FLOATING_POOL = ("198.51.100.10", "198.51.100.200")
TUNNEL = "10.255.0.1"


def password() -> str:
    """Of all its users; made once, and of no use anywhere else."""
    path = STATE / "password"
    if not path.is_file():
        path.touch(mode=0o600)
        path.write_text(secrets.token_hex(16))
    return path.read_text()
