# SPDX-License-Identifier: Apache-2.0
"""The parts of the HTML report: one module a section, `document` puts them together.

What a page carries in itself: styles, scripts, data; and the policy by which it may load nothing else.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
from collections.abc import Sequence
from importlib.resources import files

HERE = "weir.report.page"


def asset(name: str, room: str = HERE) -> str:
    """A file of a room's assets."""
    return (files(room) / "assets" / name).read_text(encoding="utf-8")


def joined(names: Sequence[str], room: str = HERE) -> str:
    """Several, one after the other."""
    return "\n".join(asset(name, room) for name in names)


def packed(json_text: str) -> str:
    """Data as pages carry them (unpacked.js reads them)."""
    return base64.b64encode(gzip.compress(json_text.encode(), 9, mtime=0)).decode()


def policy(script: str, connect: str = "") -> str:
    """No request at all, and only this script. `connect`: sources that it may ask for data."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    asks = f"connect-src {connect}; " if connect else ""
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; {asks}"
        "base-uri 'none'; form-action 'none'"
    )
