# SPDX-License-Identifier: Apache-2.0
"""The command line as manual pages (man(7)), from the typer application itself: weir.1, and one a command."""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime
from typing import Any

import typer

from tools.docs.cli_page import EXIT_CODES, JSON, PLACES, default, kind, leaves, prose, shown
from weir import __version__
from weir.cli.help import argument

ENVIRONMENT = {
    "WEIR_STORE": "The database of results: a path or URL.",
    "WEIR_DP": "The data plane to start, in the place of the one that is built or installed.",
    "WEIR_LEAN": "Likewise weir-lean.",
}


def pages(app: typer.Typer) -> dict[str, str]:
    """File name and text of each page."""
    group: Any = typer.main.get_command(app)
    commands = dict(leaves("weir", group))
    texts = {"weir.1": _overview(group, commands)}
    for path, command in commands.items():
        texts[f"{_name(path)}.1"] = _of_command(path, command)
    return texts


def roff(text: str) -> str:
    """Text as man(7) has it: what is between backticks is bold."""
    escaped = text.replace("\\", r"\(rs").replace("-", r"\-").replace("…", "...")
    parts = escaped.split("`")
    marked = "".join(part if at % 2 == 0 else rf"\fB{part}\fR" for at, part in enumerate(parts))
    return rf"\&{marked}" if marked.startswith((".", "'")) else marked


def _overview(group: Any, commands: dict[str, Any]) -> str:
    entries = [
        line
        for path, command in commands.items()
        for line in (".TP", f".BR {roff(_name(path))} (1)", roff(_summary(command)))
    ]
    return _joined(
        _head("weir", group),
        [".SH SYNOPSIS", ".B weir", r"\fICOMMAND\fR [\fIARGUMENTS\fR] [\fIOPTIONS\fR]"],
        [".SH DESCRIPTION", *_paragraphs(f"{group.help}\n\n{JSON}")],
        [".SH COMMANDS", *entries],
        _options(group),
        _exit_status(),
        [".SH ENVIRONMENT", *_tagged(ENVIRONMENT)],
        [".SH FILES", *_paragraphs(PLACES)],
        [".SH SEE ALSO", r".BR weir\-dp (8),", r".BR weir\-lean (8)"],
    )


def _of_command(path: str, command: Any) -> str:
    arguments = [one for one in shown(command) if one.param_type_name == "argument"]
    usage = [rf"\fI{roff(argument(one))}\fR" for one in arguments]
    if len(arguments) < len(shown(command)):
        usage.append(r"[\fIOPTIONS\fR]")
    return _joined(
        _head(path, command),
        [".SH SYNOPSIS", rf".B {roff(path)}", " ".join(usage)],
        [".SH DESCRIPTION", *_paragraphs(command.help)],
        _options(command),
        _exit_status(),
        [".SH SEE ALSO", ".BR weir (1)"],
    )


def _head(path: str, command: Any) -> list[str]:
    at_s = float(os.environ.get("SOURCE_DATE_EPOCH", datetime.now(UTC).timestamp()))
    name = roff(_name(path))
    return [
        r".\" Generated from the command line itself; do not edit.",
        f'.TH {name.upper()} 1 {datetime.fromtimestamp(at_s, UTC):%Y-%m-%d} "Weir {__version__}" "Weir"',
        ".SH NAME",
        rf"{name} \- {roff(_summary(command))}",
    ]


def _options(command: Any) -> list[str]:
    lines = []
    for parameter in shown(command):
        if parameter.param_type_name == "argument":
            names = rf"\fI{roff(argument(parameter))}\fR"
        else:
            names = ", ".join(rf"\fB{roff(one)}\fR" for one in [*parameter.opts, *parameter.secondary_opts])
            names += "" if parameter.is_flag else f" {roff(kind(parameter))}"
        said = prose(getattr(parameter, "help", None))
        absent = default(parameter)
        lines += [
            ".TP",
            names,
            roff(f"{said} Default: {absent}." if absent not in {"", "required"} else said),
        ]
    return [".SH OPTIONS", *lines] if lines else []


def _exit_status() -> list[str]:
    return [".SH EXIT STATUS", *_tagged({str(code): said for code, said in EXIT_CODES.items()})]


def _tagged(entries: dict[str, str]) -> list[str]:
    return [line for name, said in entries.items() for line in (".TP", f".B {name}", roff(said))]


def _name(path: str) -> str:
    """Of the page: weir-model-calibrate of `weir model calibrate`."""
    return path.replace(" ", "-")


def _summary(command: Any) -> str:
    """The first sentence, without its full stop: what `apropos` shows."""
    return re.split(r"\. ", prose(command.help).partition("\n")[0])[0].rstrip(".")


def _paragraphs(text: str | None) -> list[str]:
    lines = [line for part in prose(text).split("\n\n") for line in (".PP", roff(part))]
    return lines[1:]


def _joined(*sections: list[str]) -> str:
    return "\n".join(line for section in sections for line in section if line) + "\n"
