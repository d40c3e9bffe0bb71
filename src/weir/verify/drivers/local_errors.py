# SPDX-License-Identifier: Apache-2.0
"""What fabric cannot do on this host, as a case is told: of an own cloud, or of the tester of another one."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from weir import fabric
from weir.base.cloud import CloudTopology
from weir.base.error import FabricError, WeirError
from weir.base.topology import Topology
from weir.fabric.deployment import NotGoneError
from weir.verify.driver import CannotRunError, CleanUp, CloudError


@contextmanager
def building(clean_up_s: Callable[[], float]) -> Iterator[None]:
    """For the body, which deploys something: a FabricError is a CloudError, and whatever ended it tells the
    clean-up. Ctrl-C stays one though something of it does not go."""
    try:
        yield
    except BaseException as error:
        failed, left = error, None
        if isinstance(error, NotGoneError):
            left, why = error.message, error.__context__
            failed = CloudError(f"{why}; and then: {left}" if why is not None else left, error.fix)
            if why is not None and not isinstance(why, WeirError):
                failed = why
        elif isinstance(error, FabricError) and not isinstance(error, CloudError):
            failed = CloudError(error.message, error.fix)
        CleanUp(clean_up_s(), left).told_by(failed)
        raise failed from None if failed is error else error


@contextmanager
def own_cores(topology: Topology | CloudTopology) -> Iterator[None]:
    """For the body, cores that nobody else has meanwhile. CannotRunError names who has one."""
    with ExitStack() as held:
        try:
            held.enter_context(fabric.claimed(fabric.taking_part(topology)))
        except FabricError as error:
            raise CannotRunError(error.message, error.fix) from error
        yield


@contextmanager
def cloud_errors(server: str | None = None) -> Iterator[None]:
    """A FabricError of the body is a CloudError; of that server, where it is one's."""
    try:
        yield
    except FabricError as error:
        said = error.message if server is None else f"{server}: {error.message}"
        raise CloudError(said, error.fix) from error


class Within:
    """Told of each step of building and undoing: none of building begins later than that, in seconds from
    now."""

    def __init__(self, within_s: float = math.inf) -> None:
        self._within_s = within_s
        self._began_s = time.monotonic()
        self._undoing_s: float | None = None

    def __call__(self, event: fabric.Event) -> None:
        """CloudError."""
        now_s = time.monotonic()
        if event.state == "undoing" and self._undoing_s is None:
            self._undoing_s = now_s
        if event.state == "doing" and now_s - self._began_s > self._within_s:
            raise CloudError(f"the cloud does not stand within {self._within_s:g} s; next, {event.step.text}")

    def clean_up_s(self) -> float:
        """Since the first step was undone."""
        return 0.0 if self._undoing_s is None else time.monotonic() - self._undoing_s
