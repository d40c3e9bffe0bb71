# SPDX-License-Identifier: Apache-2.0
"""Exit codes, and how an error becomes one: a message on stderr, no traceback for what users can mend."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import typer

from weir.base.error import ENVIRONMENT, FAILED, INTERRUPTED, OK, USAGE, WeirError

__all__ = ["ENVIRONMENT", "FAILED", "INTERRUPTED", "OK", "USAGE", "CommandError", "exit_code", "reporting"]

Parameters = ParamSpec("Parameters")
Value = TypeVar("Value")


class CommandError(WeirError):
    """What the user asked for cannot be done. The message says what, why, and what to do."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.exit_code = code


def exit_code(error: BaseException) -> int | None:
    """The exit code of an error that users can mend; None for a defect of Weir, which keeps its traceback."""
    if isinstance(error, WeirError):
        return error.exit_code
    return INTERRUPTED if isinstance(error, KeyboardInterrupt) else None


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
            located = isinstance(error, WeirError) and error.located
            print(message if located else f"weir: {message}", file=sys.stderr)
            raise typer.Exit(code) from None

    return run
