# SPDX-License-Identifier: Apache-2.0
"""Exit codes, and how an error becomes one: a message on stderr, no traceback for what users can mend."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import typer

OK = 0
FAILED = 1  # a measurement or a service level failed
USAGE = 2  # wrong usage, or a lab that cannot be used
ENVIRONMENT = 3  # something is missing on this machine
INTERRUPTED = 130

Parameters = ParamSpec("Parameters")
Value = TypeVar("Value")

# By module and name: a module that was never imported cannot have raised its error.
_ERRORS: tuple[tuple[str, str, int], ...] = (
    ("weir.spec.problem", "SpecError", USAGE),
    ("weir.plan", "PlanError", ENVIRONMENT),
    ("weir.fabric", "FabricError", ENVIRONMENT),
    ("weir.dataplane.errors", "DataPlaneError", ENVIRONMENT),
    ("weir.store.database", "UnknownRunError", USAGE),  # before the error that it is a kind of
    ("weir.store.database", "StoreError", ENVIRONMENT),
)


class CommandError(Exception):
    """What the user asked for cannot be done. The message says what, why, and what to do."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


def exit_code(error: BaseException) -> int | None:
    """The exit code of an error that users can mend; None for a defect of Weir, which keeps its traceback."""
    if isinstance(error, CommandError):
        return error.code
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED
    for module, name, code in _ERRORS:
        kind = getattr(sys.modules.get(module), name, None)
        if kind is not None and isinstance(error, kind):
            return code
    return None


def reporting(command: Callable[Parameters, Value]) -> Callable[Parameters, Value]:
    """`command`, with its errors turned into messages and exit codes."""

    @functools.wraps(command)
    def run(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Value:
        try:
            return command(*args, **kwargs)
        except (Exception, KeyboardInterrupt) as error:
            code = exit_code(error)
            if code is None:
                raise
            message = "interrupted" if isinstance(error, KeyboardInterrupt) else str(error)
            located = code == USAGE and not isinstance(error, CommandError)  # begins with the file's name
            print(message if located else f"weir: {message}", file=sys.stderr)
            raise typer.Exit(code) from None

    return run
