# SPDX-License-Identifier: Apache-2.0
"""Commands of the user's that no shell runs, and that nothing could run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from weir.lab.complaint import Complaint
from weir.lab.kernel import words_of
from weir.lab.source import KeyPath


def commands_complaints(path: KeyPath, commands: Sequence[str | Sequence[str]]) -> Iterator[Complaint]:
    """What is wrong with some of these."""
    for index, command in enumerate(commands):
        yield from command_complaints((*path, index), command)


def command_complaints(path: KeyPath, command: str | Sequence[str]) -> Iterator[Complaint]:
    """What is wrong with one."""
    try:
        words = words_of(command)
    except ValueError as error:
        yield Complaint(path, f"cannot be split into words: {error}", "quotes in pairs, or a list of words")
        return
    if not words or not words[0]:
        yield Complaint(path, "names no program", "a program and its arguments")
