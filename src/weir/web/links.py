# SPDX-License-Identifier: Apache-2.0
"""Addresses of pages. Names come from results, which others may have made: every one is quoted whole."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import quote, urlencode

FRONT = "/"
LABS = "/labs/"
RUNS = "/runs/"
CAMPAIGNS = "/campaigns/"
COMPARE = "/compare"
DATA = "/data"
DRAWN = "/drawn"
EVENTS = "/events"
MODEL = "/model"
_STEPS = frozenset({"", ".", ".."})
"""Browsers take these for steps in a path, quoted or not; and paths here have no ends of lines."""


def lab(name: str, **query: str) -> str:
    """Its page."""
    return _page(LABS, name, query)


def run(run_id: str, **query: str) -> str:
    """Its page."""
    return _page(RUNS, run_id, query)


def campaign(name: str) -> str:
    """The page of one over several hosts."""
    return _page(CAMPAIGNS, name, {})


def data(run_id: str) -> str:
    """Its result, whole."""
    return f"{DATA}?" + urlencode({"name": run_id})


def drawn(run_id: str) -> str:
    """What the charts of its page are drawn of."""
    return f"{DRAWN}?" + urlencode({"name": run_id})


def events(run_id: str) -> str:
    """What comes of a run that is still measured."""
    return f"{EVENTS}?" + urlencode({"name": run_id})


def compare(sides: Iterable[str]) -> str:
    """Of runs; the first is what the others are compared with."""
    return f"{COMPARE}?" + urlencode([("side", one) for one in sides])


def _page(place: str, name: str, query: dict[str, str]) -> str:
    if _STEPS & set(name.split("/")) or not name.isprintable():
        return place + "?" + urlencode({"name": name, **query})
    return place + quote(name, safe="") + ("?" + urlencode(query) if query else "")
