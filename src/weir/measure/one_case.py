# SPDX-License-Identifier: Apache-2.0
"""How a case ends: measured, or with what stopped it and the trials that were finished by then."""

from __future__ import annotations

from collections.abc import Generator
from typing import Protocol

from weir.measure.trial import PortGoneError
from weir.results.result import Case


class OneCase(Protocol):
    """A case while it is measured."""

    def measure(self) -> None:
        """Runs its trials."""

    def finished(self, problem: str | None = None) -> Case:
        """What there is of it."""


def told(case: OneCase) -> Generator[Case, None, bool]:
    """Measures it and yields what came of it. False: a port is gone, and no other case can be measured.

    What Ctrl-C or an error ended is yielded first; the next step raises that KeyboardInterrupt or error.
    """
    try:
        case.measure()
    except PortGoneError as gone:
        yield case.finished(problem=str(gone))
        return False
    except KeyboardInterrupt:
        yield case.finished(problem="Interrupted before it was finished.")
        raise
    except Exception as error:
        yield case.finished(problem=str(error))
        raise
    yield case.finished()
    return True
