# SPDX-License-Identifier: Apache-2.0
"""Exit codes, and how an error becomes one: a message on stderr, no traceback for what users can mend."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import typer

from weir.base.error import ENVIRONMENT, FAILED, INTERRUPTED, OK, USAGE, WeirError

__all__ = ["ENVIRONMENT", "FAILED", "INTERRUPTED", "OK", "USAGE", "CommandError", "reporting"]

Parameters = ParamSpec("Parameters")
Value = TypeVar("Value")


class CommandError(WeirError):
    """What the user asked for cannot be done. The message says what, why, and what to do."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.exit_code = code


def reporting(command: Callable[Parameters, Value]) -> Callable[Parameters, Value]:
    """`command`, with errors that users can mend turned into messages and exit codes. A defect of Weir keeps
    its traceback."""

    @functools.wraps(command)
    def run(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Value:
        try:
            return command(*args, **kwargs)
        except KeyboardInterrupt:
            print("weir: interrupted", file=sys.stderr)
            raise typer.Exit(INTERRUPTED) from None
        except WeirError as error:
            print(error if error.located else f"weir: {error}", file=sys.stderr)
            raise typer.Exit(error.exit_code) from None

    return run
