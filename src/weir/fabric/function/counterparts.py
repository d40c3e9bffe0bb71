# SPDX-License-Identifier: Apache-2.0
"""Step kind counterparts: Linux set up to do what functions of Weir's would (`weir.catalogue`)."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from weir.base.error import FabricError
from weir.base.si import MS_PER_S
from weir.catalogue import CONNECTION_TRACKING, CatalogueError, Ends, Setup, linux
from weir.fabric.function import dpdk, xdp
from weir.fabric.function.commands import run
from weir.fabric.links import set_in_namespace
from weir.fabric.site import Facts, Site
from weir.plan import Step

_MEND = "what the file has is made from the function's options; see docs/how-to/test-your-own-function.md"


class Counterparts:
    """Inside first: the settings of each, then its programs. What they read lies in the deployment's
    directory, as NODE.NUMBER-NF.PLACE.PROGRAM."""

    def do(self, step: Step, site: Site) -> Facts:
        """FabricError for options that Linux cannot be set up from, and for a program that refuses them."""
        params = step.params
        every = _set_up(params)
        limit_s = int(str(params["time_limit_ms"])) / MS_PER_S
        deadline = time.monotonic() + limit_s
        settings = _settings(str(params["function"]), every)
        for number, (nf, made) in enumerate(every, 1):
            for place, (words, text) in enumerate(made.programs, 1):
                file = site.directory / f"{params['node']}.{number}-{nf}.{place}.{words[0]}"
                argv = [*words]
                if text is not None:
                    file.write_text(text, encoding="utf-8")
                    argv.append(str(file))
                what = f"`{' '.join(argv)}` of {params['function']}"
                started = run(params, site, argv, f"{file.name}.log")
                started.wait(what, deadline, limit_s, "kernel.commands", _MEND)
            if made.xdp is not None:
                for words_of_it, started in xdp.loading(params, site, made.xdp, _values(params)):
                    what = f"`{words_of_it}` of {params['function']}"
                    started.wait(what, deadline, limit_s, "kernel.commands", _MEND)
        # Behind the programs: rules that track connections bring the kernel's module, and with it settings.
        set_in_namespace(str(params["netns"]), settings, required=CONNECTION_TRACKING)
        return {}

    def undo(self, params: Mapping[str, Any], facts: Facts, site: Site) -> None:  # noqa: ARG002
        """Ends what is left of them; all else goes with the namespace and the deployment's directory."""
        site.end()


def require_set_up(step: Step) -> None:
    """FabricError for options of the lab that Linux, or a program in a function's place, cannot be set up
    from. Nothing is made."""
    if step.kind == "counterparts":
        _settings(str(step.params["function"]), _set_up(step.params))
    elif step.kind == "program" and step.params["counterpart"]:
        dpdk.started_as(step.params, step.numbers("cores"))


def _set_up(params: Mapping[str, Any]) -> list[tuple[str, Setup]]:
    """By the functions' names, in their order."""
    ends = Ends(_values(params), tuple(map(str, _list(params["left_prefixes"]))))
    every: list[tuple[str, Setup]] = []
    for entry in map(str, _list(params["does"])):
        one = json.loads(entry)
        at = replace(ends, number=1 + sum(nf == one["nf"] for nf, _ in every))
        try:
            every.append((one["nf"], linux(one["nf"], one["options"], at, str(params["counterpart"]))))
        except CatalogueError as error:
            what = f"{params['function']} cannot be Linux as {one['nf']}: {error.message}"
            raise FabricError(what, error.fix) from error
    return every


def _values(params: Mapping[str, Any]) -> dict[str, str]:
    return dict(str(one).split("=", 1) for one in _list(params["values"]))


def _settings(function: str, every: Sequence[tuple[str, Setup]]) -> dict[str, str]:
    """Of all of them. FabricError where two want one of the namespace's settings to be different things."""
    found: dict[str, tuple[str, str]] = {}
    for nf, made in every:
        for key, value in made.settings.items():
            other, before = found.setdefault(key, (nf, value))
            if before != value:
                raise FabricError(
                    f"{function} cannot be Linux: {other} wants {key} to be {before}, and {nf} {value}; a "
                    "namespace has one connection tracking",
                    "give both the same time-outs, or make them functions of their own in the chain",
                )
    return {key: value for key, (_, value) in found.items()}


def _list(param: object) -> list[Any]:
    assert isinstance(param, list)
    return param
