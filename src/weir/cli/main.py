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
from weir.cli.image import image
from weir.planning.calibration import command as calibration
from weir.planning.fleet.command import fleet
from weir.planning.kernel_vnf.command import kernel_vnf
from weir.planning.placement import command as placement
from weir.procedures import PROCEDURES
from weir.verify import command as verification

app = typer.Typer(
    name="weir",
    help="NFV performance lab: builds a service chain, loads it, measures it, explains it.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

COMMANDS: tuple[Callable[..., Any], ...] = (
    *(
        getattr(import_module(f"weir.procedures.{one.name}.command"), one.command)
        for one in PROCEDURES
        if one.command
    ),
    placement.plan,
    report.report,
    compare.compare,
    trend.trend,
    serve.serve,
    ls.ls,
    show.show,
    tag.tag,
    rm.rm,
    export.export,
    export.import_runs,
    explain.explain,
    validate.validate,
    examples.examples,
    schema.schema,
    verification.verify,
    deploy.deploy,
    exec.exec,
    inspect.inspect,
    graph.graph,
    destroy.destroy,
    doctor.doctor,
    tune.tune,
)
# What stands behind the host's name is the command's, its options too: as in `ip netns exec` and `ssh`.
SETTINGS: dict[Callable[..., Any], dict[str, Any]] = {exec.exec: {"allow_interspersed_args": False}}
for command in COMMANDS:
    app.command(cls=moved.Moved, context_settings=SETTINGS.get(command))(reporting(command))

model = typer.Typer(
    help="The cost model: calibrated here, or published.", no_args_is_help=True, rich_markup_mode=None
)
MODEL_COMMANDS = (calibration.calibrate, placement.predict, calibration.validate)
for model_command in MODEL_COMMANDS:
    model.command()(reporting(model_command))
model.add_typer(kernel_vnf, name="kernel-vnf")

app.add_typer(model, name="model")
app.add_typer(fleet, name="fleet")
app.add_typer(image, name="image")
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
