# SPDX-License-Identifier: Apache-2.0
"""What can go wrong between the lab and weir-dp."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from pydantic import ValidationError

from weir.base.error import ChainError


class DataPlaneError(ChainError):
    """weir-dp refused a command, or could not be asked. Says what, where, what was expected, what to do."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        where: str | None = None,
        expected: str | None = None,
        fix: str | None = None,
        request: str | None = None,
    ) -> None:
        """`request`: which weir-dp refused, by its name."""
        self.code = code
        self.request = request
        self.message = message
        self.where = where
        self.expected = expected
        self.fix = fix
        super().__init__(self._said())

    def _said(self) -> str:
        said = self.message if self.request is None else f"{self.request}: {self.message}"
        if self.where:
            said = f"{self.where}: {said}"
        if self.expected:
            said += f"; expected {self.expected}"
        if self.fix:
            said += f"; {self.fix}"
        return said

    def leave_out_request(self) -> None:
        """For a user who asked by another name."""
        self.request = None
        self.tell(self._said())

    def put_in_terms(self, keys: Mapping[str, str]) -> None:
        """Names the place as its user wrote it, where that is known: weir-dp knows its own names alone."""
        for place, key in keys.items():
            if self.where is not None and (self.where + ".").startswith(place + "."):
                self.where = key + self.where.removeprefix(place)
                self.tell(self._said())
                return


class DataPlaneLostError(DataPlaneError):
    """There is nobody to ask any more."""


class DataPlaneGoneError(DataPlaneLostError):
    """weir-dp ended, or was never there. Nothing more can be asked through this connection."""


class DataPlaneTimeoutError(DataPlaneLostError):
    """weir-dp did not answer in time. Says so if others load the CPUs, which is why most often."""

    def __init__(self, code: str, message: str, *, where: str | None = None, fix: str | None = None) -> None:
        super().__init__(code, f"{message}{_beside_others()}", where=where, fix=fix)


BESIDE = 1.0
"""Load above one of each CPU: weir-dp polls on all of its own."""


def _beside_others() -> str:
    load, cpus = os.getloadavg()[0], os.cpu_count() or 1
    if load < cpus + BESIDE:
        return ""
    return (
        f" (the load is {load:.1f} on {cpus} CPUs, so others may have its core: end them, or run this when "
        "they have ended; `weir doctor` names them)"
    )


@contextmanager
def refusing() -> Iterator[None]:
    """A request that cannot be made is a DataPlaneError, as if weir-dp had refused it."""
    try:
        yield
    except ValidationError as error:
        first = error.errors()[0]
        raise DataPlaneError(
            "bad_argument",
            f"{first['msg']}, and it is {str(first['input'])[:80]}",
            where=".".join((error.title, *(str(part) for part in first["loc"]))),
        ) from error
