# SPDX-License-Identifier: Apache-2.0
"""One request to a cloud and its answer, as they are kept: without secrets, and without the cloud's address.

A recording is a file of JSON lines, one exchange each, in the order in which they happened.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from pydantic import Field

from weir.base.record import FixedRecord

RECORDED = Path(__file__).parent / "recorded"
HIDDEN = "(hidden)"
TOKEN = "gAAAAABrecorded-in-place-of-the-real-token"
"""In recordings, as a real one looks."""
PASSWORD = "recorded-in-place-of-the-real-password"
CLOUD = "http://cloud.test"
"""In place of the cloud's address; the path begins with the service's name."""
HEADERS = (
    "Content-Type",
    "Location",
    "X-Subject-Token",
    "OpenStack-API-Version",
    "X-OpenStack-Nova-API-Version",
)
_FAR = "2099-01-01T00:00:00.000000Z"


class Exchange(FixedRecord):
    """`sent` and `said`: what the bodies were, JSON or text."""

    method: str
    path: str
    """With the query, its keys in order: "/network/v2.0/networks?name=x"."""
    sent: Any = None
    status: int
    headers: dict[str, str] = Field(default_factory=dict)
    said: Any = None


def path_of(url: str) -> str:
    """Of a URL, or a path with a query."""
    parts = urlsplit(url)
    query = urlencode(sorted(parse_qsl(parts.query, keep_blank_values=True)))
    return f"{parts.path.rstrip('/') or '/'}{'?' if query else ''}{query}"


def body(data: bytes | str | None) -> Any:
    """JSON where it is some, text otherwise."""
    if not data:
        return None
    text = data.decode(errors="replace") if isinstance(data, bytes) else data
    try:
        return json.loads(text)
    except ValueError:
        return text


def scrubbed(found: Any) -> Any:
    """Without what opens anything, and what is another one each time."""
    if isinstance(found, Mapping):
        return {key: _scrubbed_value(str(key), value) for key, value in found.items()}
    if isinstance(found, list):
        return [scrubbed(one) for one in found]
    return found


def _scrubbed_value(key: str, value: Any) -> Any:
    if key in ("adminPass", "public_key", "fingerprint"):
        return HIDDEN
    if key == "password" and isinstance(value, str):
        return PASSWORD
    if key == "expires_at" and isinstance(value, str):
        return _FAR
    return scrubbed(value)


def rebased(found: Any, bases: Iterable[tuple[str, str]]) -> Any:
    """With addresses in all its texts replaced."""
    text = json.dumps(found)
    for old, new in bases:
        text = re.sub(rf"{re.escape(old)}(?![\d])", new, text)
    return json.loads(text)


def read(name: str) -> list[Exchange]:
    """A recording."""
    lines = (RECORDED / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [Exchange.model_validate_json(line) for line in lines]


def write(name: str, found: Iterable[Exchange]) -> None:
    """A recording, anew."""
    RECORDED.mkdir(exist_ok=True)
    text = "".join(one.model_dump_json(exclude_defaults=True) + "\n" for one in found)
    (RECORDED / f"{name}.jsonl").write_text(text, encoding="utf-8")
