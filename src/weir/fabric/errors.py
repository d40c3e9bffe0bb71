# SPDX-License-Identifier: Apache-2.0
"""What goes wrong while the system is touched."""

from __future__ import annotations

from weir.base.error import ChainError


class FabricError(ChainError):
    """Something could not be made or taken down. `message` says what and where, `fix` what to do."""

    def __init__(self, message: str, fix: str = "") -> None:
        super().__init__(f"{message}; {fix}" if fix else message)
        self.message = message
        self.fix = fix
