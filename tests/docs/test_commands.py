# SPDX-License-Identifier: Apache-2.0
"""Commands in the documentation exist, with their options; harmless ones print what the page shows."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from weir.cli.main import app

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    path
    for pattern in ("*.md", "docs/*/*.md", "labs/*/README.md")
    for path in ROOT.glob(pattern)
    if path.parent.name != "reference"  # generated from the commands themselves
)


@dataclass(frozen=True)
class Shown:
    """A command as a page shows it, and what it prints there."""

    command: str
    output: str

    @property
    def harmless(self) -> bool:
        """Whether a test may run it: it needs no root, measures nothing, and reads and writes only here."""
        words = self.command.split()
        return words[0] == "sed" or words[:2] == ["weir", "validate"] or "--dry-run" in words


def console(text: str) -> Iterator[Shown]:
    """The commands of a page's console blocks, in order."""
    for block in re.findall(r"```console\n(.*?)```", text, re.DOTALL):
        for part in re.split(r"^(?=[$#] )", block, flags=re.MULTILINE):
            command, _, output = part.partition("\n")
            if command:
                yield Shown(command[2:], output)


@cache
def weir() -> Any:
    """All commands, which take a tenth of a second to put together."""
    return typer.main.get_command(app)


def named(words: list[str]) -> Any:
    """The command that these words begin with; None if there is none, or it is hidden."""
    command = weir()
    for word in words:
        if not hasattr(command, "commands") or word.startswith("-"):
            break  # its arguments, or options of its own, as of weir itself
        command = command.commands.get(word)
    return None if command is None or command.hidden else command


def mentioned(text: str) -> Iterator[str]:
    """Every `weir …` and `make …` of a page: in console blocks, in indented ones, and in the running text."""
    yield from (shown.command for shown in console(text))
    yield from re.findall(r"`((?:weir|make) [^`\n]+)`", text)
    yield from re.findall(r"^ {4}(?:sudo )?(weir .*)$", text, re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_and_options_exist(page: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for line in mentioned(page.read_text(encoding="utf-8")):
        program, *words = shlex.split(line, comments=True)
        if program == "make":
            assert words[0] in targets, line
        elif program == "weir":
            if "--" in words:  # what follows is another program's
                words = words[: words.index("--")]
            command = named(words)
            if command is not None and not command.context_settings.get("allow_interspersed_args", True):
                words = words[: len(command.params)]  # likewise, behind its own
            assert command is not None, line
            options = {name for one in command.params for name in one.opts} | {"--help"}
            assert {word.partition("=")[0] for word in words if word.startswith("-")} <= options, line


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_output_is_what_the_page_shows(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("weir.cli.labfile.machine_cpus", lambda: (0, 1))
    text = page.read_text(encoding="utf-8")
    for name, lab in re.findall(r"[Ss]ave this as `([\w.]+)`:\n\n```yaml\n(.*?)```", text, re.DOTALL):
        (tmp_path / name).write_text(lab, encoding="utf-8")
    for shown in filter(lambda shown: shown.harmless, console(text)):
        program, *words = shlex.split(shown.command)
        if program == "sed":
            subprocess.run([program, *words], check=True)
        elif any(Path(word).exists() for word in words):  # else the page says LAB, or some other lab
            assert without_ids(CliRunner().invoke(app, words).output) == without_ids(shown.output)


def without_ids(text: str) -> str:
    """The same without what is drawn anew for each deployment."""
    return re.sub(r"\b([a-z]+)-[0-9a-f]{8}\b", r"\1-ID", text)


def test_the_tutorial_shows_commands_whose_output_is_tested() -> None:
    tutorial = (ROOT / "docs" / "tutorial" / "first-lab.md").read_text(encoding="utf-8")
    assert sum(shown.harmless and bool(shown.output) for shown in console(tutorial)) >= 3
