# SPDX-License-Identifier: Apache-2.0
"""What users can mend. Every such error of Weir is one of these; anything else is a defect of Weir."""

from __future__ import annotations

from typing import ClassVar, Final

OK: Final = 0
FAILED: Final = 1  # a measurement or a service level failed
USAGE: Final = 2  # wrong usage, or a lab that cannot be used
ENVIRONMENT: Final = 3  # something is missing on this machine
UNJUDGED: Final = 4  # a service level could not be judged
INTERRUPTED: Final = 130


class WeirError(Exception):
    """Its text says what, where, what was expected and what to do."""

    exit_code: int = ENVIRONMENT
    located: ClassVar[bool] = False
    """Whether the text begins with a file's name, as a compiler's does."""


class ChainError(WeirError):
    """One chain could not be planned, built or asked: another one may."""

    def tell(self, text: str) -> None:
        """What it says from now on: who takes the chain down knows more than who found the error."""
        self.args = (text,)


class FabricError(ChainError):
    """Something could not be made or taken down. `message` says what and where, `fix` what to do."""

    def __init__(self, message: str, fix: str = "") -> None:
        super().__init__(f"{message}; {fix}" if fix else message)
        self.message = message
        self.fix = fix
