# SPDX-License-Identifier: Apache-2.0
"""What the local driver tells of a cloud that did not come to stand, did not all go, or has no cores."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager, nullcontext
from types import SimpleNamespace
from typing import cast

import pytest

from weir import fabric
from weir.base.cloud import CloudTopology
from weir.base.error import FabricError
from weir.fabric.deployment import NotGoneError
from weir.verify.driver import CannotRunError, CleanUp, CloudError
from weir.verify.drivers.local_errors import building, own_cores

STAYS = "own-cloud-1 is not all gone: bridge: Device or resource busy"


def ended_by(error: BaseException) -> BaseException:
    """As `building` tells it; with what stays, as a deployment raises that."""
    with pytest.raises(BaseException) as told, building(lambda: 20.0):  # noqa: PT011, PT012 - of any kind
        try:
            raise error
        finally:
            raise NotGoneError(STAYS, "mend that and destroy again")
    return told.value


def test_what_stays_of_a_cloud_that_was_not_built_is_told_with_why_it_was_not() -> None:
    told = ended_by(FabricError("cannot make the bridge"))
    assert isinstance(told, CloudError)
    assert told.message == f"cannot make the bridge; and then: {STAYS}"
    assert CleanUp.of(told) == CleanUp(20.0, STAYS)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), KeyError("mac")])
def test_ctrl_c_and_a_defect_stay_that_though_something_of_the_cloud_does_not_go(
    error: BaseException,
) -> None:
    told = ended_by(error)
    assert told is error
    assert CleanUp.of(told) == CleanUp(20.0, STAYS)


def test_of_a_cloud_that_went_nothing_stays() -> None:
    with pytest.raises(CloudError, match=r"^cannot make the bridge$") as told, building(lambda: 20.0):
        raise FabricError("cannot make the bridge")
    assert CleanUp.of(told.value) == CleanUp(20.0)


@contextmanager
def taken(cores: Collection[int]) -> Iterator[None]:
    """In place of a claim."""
    assert cores == {0, 1}
    raise FabricError("lab-1 polls on core 0", "take it down with `weir destroy lab-1`")
    yield


ON_TWO_CORES = cast(CloudTopology, SimpleNamespace(working_cores=lambda: {0, 1}))


def test_cores_that_somebody_else_has_are_no_fault_of_the_clouds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fabric, "claimed", taken)
    with pytest.raises(CannotRunError) as told, own_cores(ON_TWO_CORES):
        pytest.fail("they are free")
    assert str(told.value) == "lab-1 polls on core 0; take it down with `weir destroy lab-1`"


def test_an_error_on_cores_of_ones_own_is_no_reason_to_skip(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fabric, "claimed", lambda _: nullcontext())
    with pytest.raises(FabricError) as told, own_cores(ON_TWO_CORES):
        raise FabricError("nothing comes through")
    assert not isinstance(told.value, CannotRunError)
