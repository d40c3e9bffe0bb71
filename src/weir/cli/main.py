# SPDX-License-Identifier: Apache-2.0
"""The program `weir`. Commands import what they need when they run: `weir --help` must answer at once."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from typing import Annotated, Any

import typer

from weir.cli import (
    compare,
    deploy,
    destroy,
    doctor,
    examples,
    exec,
    explain,
    export,
    graph,
    inspect,
    ls,
    moved,
    nf_command,
    offer,
    report,
    rm,
    schema,
    serve,
    show,
    tag,
    trend,
    tune,
    validate,
)
from weir.cli.exits import reporting, with_output
from weir.cli.help import Command, Group
from weir.cli.image import image
from weir.planning.calibration import command as calibration
from weir.planning.fleet.command import fleet
from weir.planning.kernel_vnf.command import kernel_vnf
from weir.planning.placement import command as placement
from weir.procedures import PROCEDURES
from weir.verify import command as verification

app = typer.Typer(
    name="weir",
    cls=Group,
    help="NFV performance lab: builds a service chain, loads it, measures it, explains it.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

BUILD, PREDICT = "Build, look and work inside", "Predict and plan"
MEASURING = (
    getattr(import_module(f"weir.procedures.{one.name}.command"), one.command)
    for one in PROCEDURES
    if one.command
)
GROUPS: dict[str, tuple[Callable[..., Any], ...]] = {
    "Write a lab, check and tune": (
        examples.examples, schema.schema, validate.validate, doctor.doctor, tune.tune, offer.offer,
    ),
    "Measure": (*MEASURING, verification.verify),
    "Read what was measured": (report.report, explain.explain, compare.compare, trend.trend, serve.serve),
    "Keep what was measured": (ls.ls, show.show, tag.tag, rm.rm, export.export, export.import_runs),
    BUILD: (deploy.deploy, inspect.inspect, graph.graph, exec.exec, nf_command.command, destroy.destroy),
    PREDICT: (placement.plan,),
}  # fmt: skip
"""Commands by what they are for, as --help lists them."""
COMMANDS = tuple(command for commands in GROUPS.values() for command in commands)
# What stands behind the host's name is the command's, its options too: as in `ip netns exec` and `ssh`.
SETTINGS: dict[Callable[..., Any], dict[str, Any]] = {exec.exec: {"allow_interspersed_args": False}}
for group, commands in GROUPS.items():
    for command in commands:
        made = app.command(cls=moved.Moved, context_settings=SETTINGS.get(command), rich_help_panel=group)
        made(reporting(command))

model = typer.Typer(
    cls=Group,
    help="The cost model: calibrated here, or published.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
MODEL_COMMANDS = (calibration.calibrate, placement.predict, calibration.validate)
for model_command in MODEL_COMMANDS:
    model.command(cls=Command)(reporting(model_command))
model.add_typer(kernel_vnf, name="kernel-vnf")

app.add_typer(model, name="model", rich_help_panel=PREDICT)
app.add_typer(fleet, name="fleet", rich_help_panel=PREDICT)
app.add_typer(image, name="image", rich_help_panel=BUILD)
moved.register(app)


def _version(wanted: bool) -> None:
    if wanted:
        from weir.cli.versions import lines

        typer.echo("\n".join(lines()))
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            help="Print the versions of Weir's programs and exit.",
            callback=_version,
            is_eager=True,
        ),
    ] = False,
) -> None:
    """NFV performance lab: builds a service chain, loads it, measures it, explains it."""


def main() -> None:
    """Runs the command line; ends the process with its exit code."""
    _find_programs_of_root()
    with_output(app)


def _find_programs_of_root() -> None:
    """Debian leaves out of an ordinary user's PATH where Open vSwitch, nftables and tcpdump are: what is
    installed would be said to be missing."""
    known = os.environ.get("PATH", os.defpath).split(os.pathsep)
    added = [place for place in ("/usr/local/sbin", "/usr/sbin", "/sbin") if place not in known]
    os.environ["PATH"] = os.pathsep.join([*known, *added])
