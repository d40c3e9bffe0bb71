# SPDX-License-Identifier: Apache-2.0
"""What fabric cannot do, as a case of the local driver is told."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from weir.base.error import FabricError
from weir.verify.driver import CloudError


@contextmanager
def cloud_errors(server: str | None = None) -> Iterator[None]:
    """A FabricError of the body is a CloudError; of that server, where it is one's."""
    try:
        yield
    except FabricError as error:
        said = error.message if server is None else f"{server}: {error.message}"
        raise CloudError(said, error.fix) from error
