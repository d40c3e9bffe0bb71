# SPDX-License-Identifier: Apache-2.0
"""A server's store that goes away in the middle of a run is told with what goes on, if anything does."""

from __future__ import annotations

import pytest

from weir.cli.stored import going_on_after
from weir.store.connection import StoreError


def said(place: str, run: str | None) -> str:
    with pytest.raises(StoreError) as raised, going_on_after(place, "weir soak --resume", lambda: run):
        raise StoreError("the connection was lost")
    return str(raised.value)


def test_a_run_that_is_in_the_store_can_be_gone_on_with_by_its_id() -> None:
    assert said("postgresql://there", "s-1") == (
        "the connection was lost; when it is there again, `weir soak --resume s-1` with the same --store"
        " goes on"
    )


def test_one_that_never_got_there_cannot_and_a_file_does_not_come_back() -> None:
    assert said("postgresql://there", None) == "the connection was lost"
    assert said("results.db", "s-1") == "the connection was lost"
