# SPDX-License-Identifier: Apache-2.0
"""What is alike on every command's line: flags, help, completion."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest
import typer.main

from weir.cli import exits
from weir.cli.main import app


def commands(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield words, command
    for name, below in getattr(command, "commands", {}).items():
        yield from commands(below, (*words, name))


MORE_THAN_ANY = 1 << 70
"""Than a number that a store, a timer or a file takes."""
EVERY = [(words, one) for words, one in commands(typer.main.get_command(app)) if not one.hidden]


def spellings() -> Iterator[tuple[str, str, str]]:
    """Command, flag, and its letter ("" without one)."""
    for words, command in EVERY:
        for option in command.params:
            for flag in (name for name in option.opts if name.startswith("--")):
                letters = [name for name in option.opts if not name.startswith("--")]
                yield " ".join(words), flag, "".join(letters)


def test_a_flag_has_the_same_letter_in_every_command_and_a_letter_means_one_flag() -> None:
    letters, flags = defaultdict(set), defaultdict(set)
    for _, flag, letter in spellings():
        letters[flag].add(letter)
        flags[letter].add(flag)
    assert {flag: has for flag, has in letters.items() if len(has) > 1} == {}
    assert {letter: of for letter, of in flags.items() if letter and len(of) > 1} == {}
    assert letters["--technology"] == {"-t"}
    assert letters["--chain"] == {"-c"}


def numbers() -> Iterator[tuple[tuple[str, ...], str, float | None]]:
    """Command, flag, and the greatest value of each option that takes a number."""
    for words, command in EVERY:
        for option in command.params:
            if option.param_type_name == "option" and option.type_descriptor.annotation in (int, float):
                yield words, option.opts[0], option.max


@pytest.mark.parametrize(
    ("words", "flag", "most"),
    list(numbers()),
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else str(value),
)
def test_a_number_above_an_options_greatest_is_refused_as_wrong_usage(
    words: tuple[str, ...], flag: str, most: float | None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert most is not None
    for given in (most + 1, MORE_THAN_ANY):
        with pytest.raises(SystemExit) as ended:
            app([*words, flag, str(given)], prog_name="weir")
        assert ended.value.code == exits.USAGE
        said = capsys.readouterr().err.splitlines()[-1]
        assert said.startswith(f"Error: Invalid value for '{flag}'")
        assert type(most)(said.rpartition(" ")[2]) == most


@pytest.mark.parametrize("words", [words for words, _ in EVERY], ids=lambda words: " ".join(("weir", *words)))
def test_h_is_help(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        app([*words, "-h"], prog_name="weir")
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith(" ".join(("Usage: weir", *words)))


def test_a_shell_completes_commands_and_flags() -> None:
    def offered(line: str) -> set[str]:
        asked = {
            "_WEIR_COMPLETE": "complete_bash",
            "COMP_WORDS": line,
            "COMP_CWORD": str(len(line.split(" ")) - 1),
        }
        program = "from weir.cli.main import app; app(prog_name='weir')"
        done = subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | asked,
            capture_output=True,
            text=True,
            check=True,
        )
        return set(done.stdout.split())

    assert offered("weir de") == {"deploy", "destroy"}
    assert "--technology" in offered("weir run --tech")
