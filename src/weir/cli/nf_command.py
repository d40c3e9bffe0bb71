# SPDX-License-Identifier: Apache-2.0
"""`weir command`: a change of a function of a deployed chain while packets flow, and which there are."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weir.cli.deployments import deployed
from weir.cli.exits import ENVIRONMENT, USAGE, CommandError

if TYPE_CHECKING:
    from weir.base.node import Node
    from weir.base.topology import Topology
    from weir.fabric import Deployment
    from weir.lab.nf import Command, Nf, Scalar

_ASKED = frozenset({"bad_argument", "bad_rule"})
"""Codes of weir-dp for what its user can say otherwise."""


@dataclass(frozen=True)
class _Stage:
    """A network function of a function of the lab, as weir-dp names it."""

    area: str
    """Or its dispatcher, which stands for all its workers."""
    name: str
    nf: Nf


def command(
    lab: Annotated[
        str,
        typer.Argument(
            metavar="DEPLOYMENT", help="Its ID, or the lab that is deployed: its name, file or directory."
        ),
    ],
    function: Annotated[
        str,
        typer.Argument(
            metavar="FUNCTION",
            help="As the lab names it, or its node, f1; with a stage, edge/nat2, where several have the "
            "command.",
        ),
    ],
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="COMMAND", help="What to change; absent: say what can be, and with which keys."
        ),
    ] = None,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="KEY=VALUE", help="Arguments of the command: prefix=192.0.2.0/24."),
    ] = None,
    *,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json",
            help="JSON: the function, the command and its arguments; without COMMAND all that there are.",
        ),
    ] = False,
) -> None:
    """Change a function of a deployed chain. While packets flow, without losing one: routes, rules, sessions.

    All workers of the function have the change, or none. Of functions in weir-dp; needs root, as deploying.
    """
    from weir import fabric

    fabric.require_root_to_command()
    deployment = deployed(lab)
    wanted, _, stage = function.partition("/")
    topology = deployment.topology
    if topology is None:
        raise CommandError(
            f"{deployment.id} is a cloud; expected a chain, whose functions take commands", USAGE
        )
    node = _node(deployment.id, topology, wanted)
    stages = _stages(topology, node, stage)
    if name is None:
        print(json.dumps(_listed(stages), indent=2) if as_json else "\n".join(_lines(stages)))
        return
    told, found = _with_command(wanted, stages, name)
    args = _arguments(found, words or [])
    _tell(deployment, told, name, args)
    if as_json:
        about = {"deployment": deployment.id, "function": node.function or node.name}
        print(json.dumps(about | _place(told) | {"command": name, "args": args}, indent=2))
        return
    whole = ", by all its workers" if node.has_workers else ""
    print(f"{told.area} ({told.name}): {name} is done{whole}")


def _node(deployment: str, topology: Topology, wanted: str) -> Node:
    """The function of that name. CommandError where it is none, several, or not weir-dp's here."""
    from weir.lab.problem import did_you_mean

    every = topology.functions()
    found = [one for one in every if one.function == wanted] or [one for one in every if one.name == wanted]
    if not found:
        named = [one.function or one.name for one in every]
        listed = ", ".join(dict.fromkeys(named))
        raise CommandError(
            f"{deployment} has no function {wanted!r}; it has {listed}{did_you_mean(wanted, named)}", USAGE
        )
    if found[1:]:
        listed = " and ".join(one.name for one in found)
        raise CommandError(f"{deployment} has {wanted} more than once; name one by its node: {listed}", USAGE)
    (node,) = found
    if node not in topology.here():
        raise CommandError(f"{wanted} is on host {node.host}; give the command there", USAGE)
    if not node.in_weir_dp:
        raise CommandError(
            f"{wanted} is {node.nf}, outside weir-dp; expected a function in weir-dp: what else forwards has "
            "means of its own",
            USAGE,
        )
    return node


def _stages(topology: Topology, node: Node, wanted: str) -> list[_Stage]:
    """In their order; `wanted`: that one alone."""
    from weir.lab.nf import network_functions
    from weir.lab.problem import did_you_mean
    from weir.plan.architecture import area_of, function_areas, stage_names

    areas, known = function_areas(topology, node).areas, network_functions()
    names = list(stage_names(one.nf for one in node.chain))
    if wanted and wanted not in names:
        raise CommandError(
            f"{node.function or node.name} has no stage {wanted!r}; it has {', '.join(names)}"
            f"{did_you_mean(wanted, names)}",
            USAGE,
        )
    return [
        _Stage(area_of(node.name, name, areas), name, known[one.nf])
        for name, one in zip(names, node.chain, strict=True)
        if wanted in ("", name)
    ]


def _with_command(function: str, stages: Sequence[_Stage], name: str) -> tuple[_Stage, Command]:
    """The stage that has it. CommandError where none has, or several: weir-dp is told one at a time."""
    from weir.lab.problem import did_you_mean

    found = [(stage, one) for stage in stages for one in stage.nf.commands if one.name == name]
    if not found:
        known = list(dict.fromkeys(one.name for stage in stages for one in stage.nf.commands))
        listed = f"it has {', '.join(known)}" if known else "it has none"
        raise CommandError(f"{function} has no command {name!r}; {listed}{did_you_mean(name, known)}", USAGE)
    if found[1:]:
        listed = ", ".join(f"{function}/{stage.name}" for stage, _ in found)
        raise CommandError(f"{function} has {name} in several stages; name one: {listed}", USAGE)
    return found[0]


def _arguments(command: Command, words: Sequence[str]) -> dict[str, Scalar]:
    """Of KEY=VALUE. Files are looked for here, not where weir-dp runs."""
    from weir.lab.complaint import show
    from weir.lab.problem import did_you_mean

    known = {one.name: one for one in command.arguments}
    listed = f"it has {', '.join(known)}" if known else "it has no keys"
    found: dict[str, Scalar] = {}
    for word in words:
        key, given, text = word.partition("=")
        if not given or key not in known:
            wrong = f"no key {key!r}" if given else f"{word!r} where KEY=VALUE is expected"
            raise CommandError(f"{command.name}: {wrong}; {listed}{did_you_mean(key, list(known))}", USAGE)
        if key in found:
            raise CommandError(f"{command.name}: {key} is given twice; expected it once", USAGE)
        try:
            value = known[key].typed(text)
        except ValueError as error:
            raise CommandError(f"{command.name}: {key} is {show(text)}; expected {error}", USAGE) from None
        found[key] = _file(command.name, key, text) if known[key].type == "file" else value
    return found


def _file(command: str, key: str, text: str) -> str:
    """Where weir-dp finds it: /dev/stdin is another file to each process. CommandError if it is none."""
    from weir.lab.files import no_file

    try:
        path = Path(text).resolve()
        why = no_file(path) and no_file(Path(text).absolute())  # a pipe has no path: said of its name
    except OSError as error:
        why = error.strerror or str(error)
    except RuntimeError:  # of Path.resolve, until Python 3.13
        why = "its links lead round in a circle"
    if why is not None:
        raise CommandError(f"{command}: {key} is {text!r}: {why}; expected a file", USAGE)
    return str(path)


def _tell(deployment: Deployment, told: _Stage, name: str, args: dict[str, Scalar]) -> None:
    """What weir-dp refuses is said in the words of the command line."""
    from weir.plan import SOCKET
    from weir.plan.architecture import native_options
    from weir.protocol import DataPlaneClient, DataPlaneError
    from weir.protocol.errors import DataPlaneLostError

    try:
        with DataPlaneClient(deployment.run_dir / SOCKET, connect_s=0) as client:
            client.command(told.area, told.name, name, native_options(args))
    except DataPlaneLostError:
        raise
    except DataPlaneError as error:
        error.put_in_terms({"args": f"{told.area} ({told.name}): {name}"})
        error.leave_out_request()
        raise CommandError(str(error), USAGE if error.code in _ASKED else ENVIRONMENT) from None


def _place(stage: _Stage) -> dict[str, str]:
    return {"area": stage.area, "stage": stage.name}


def _listed(stages: Sequence[_Stage]) -> list[dict[str, Any]]:
    return [
        _place(stage)
        | {"nf": stage.nf.name, "commands": [one.model_dump(mode="json") for one in stage.nf.commands]}
        for stage in stages
    ]


def _lines(stages: Sequence[_Stage]) -> Iterator[str]:
    for stage in stages:
        none = "" if stage.nf.commands else ": no commands"
        yield f"{stage.area} ({stage.name}){none}"
        for one in stage.nf.commands:
            yield f"  {one.name}: {one.help}"
            for key in one.arguments:
                absent = "" if key.default is None else f"; absent: {key.default}"
                yield f"    {key.name}=: {key.help.rstrip('.')}; {key.expected()}{absent}"
