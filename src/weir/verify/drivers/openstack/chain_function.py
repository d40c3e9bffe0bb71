# SPDX-License-Identifier: Apache-2.0
"""A server of a chain, whose counters are read by SSH."""

from __future__ import annotations

from typing import Protocol

from weir.base.error import FabricError
from weir.verify.driver import CloudError

from .chain_counts import Passed

_READ_S = 15.0
_FIND = """for one in /sys/class/net/*; do
	read -r mac <"$one/address"
	[ "$mac" = {} ] && port=${{one##*/}}
done
"""
_READ = """for way in rx tx; do
	read -r count <"/sys/class/net/$port/statistics/${way}_packets"
	echo "$count"
done"""
"""By what a shell does itself: another program takes an emulated server's time."""


class Shell(Protocol):
    """One that stays logged in."""

    def said(self, command: str, within_s: float) -> str: ...


class ReadFunction:
    """`mac`: of its port at the tester's network."""

    def __init__(self, name: str, mac: str, shell: Shell) -> None:
        self.name = name
        self._shell = shell
        self._command = _FIND.format(mac) + _READ

    def passed(self) -> Passed:
        """By its kernel's counters. CloudError if it does not answer, or has no such port."""
        try:
            words = self._shell.said(self._command, _READ_S).split()
            received, sent = map(int, words)
        except FabricError as error:
            raise CloudError(f"{self.name}: {error.message}", error.fix) from error
        except ValueError as error:
            raise CloudError(
                f"{self.name} says {words[:4]} where its port's counters were asked for"
            ) from error
        return Passed(received, sent)
