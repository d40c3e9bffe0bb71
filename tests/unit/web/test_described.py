# SPDX-License-Identifier: Apache-2.0
"""Whatever is asked of an address of the pages, as its description says or against it, has an answer that is
described; none is a defect. Schemathesis asks."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from starlette.types import Receive, Scope, Send

from weir.web.app import application
from weir.web.guard import Access, Guard
from weir.web.reading import Reading

from .described import description
from .stored import HERE

schemathesis = pytest.importorskip("schemathesis", reason="it is of requirements-dev.lock: make setup")


def pages(place: Path) -> Guard:
    return application(Reading(str(place)), Access(frozenset({HERE})))


class Asked:
    """The pages, of which there is a store only when tests run."""

    pages: Guard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.pages(scope, receive, send)


ASKED = Asked()
API = schemathesis.openapi.from_dict(description())
API.app = ASKED
# What is no text of ours becomes one in an address, "null" too, and forms send fields that are empty.
LOOSE = [import_module("schemathesis.specs.openapi.checks").negative_data_rejection]


@pytest.fixture(scope="session")
def asked(place: Path) -> None:
    ASKED.pages = pages(place)


@pytest.mark.long
@API.parametrize()  # type: ignore[untyped-decorator]
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_every_answer_is_one_that_is_described(case: Any, asked: None) -> None:  # noqa: ARG001
    case.call_and_validate(excluded_checks=LOOSE)


def test_every_address_is_described(place: Path) -> None:
    there = {route.path.replace(":path", "") for route in pages(place)._app.routes}  # type: ignore[attr-defined]
    assert there == set(description()["paths"])
