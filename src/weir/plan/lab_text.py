# SPDX-License-Identifier: Apache-2.0
"""A lab file with one chain, its functions placed: the text of the original, comments and all, as text again.

Only what the placement says is changed, the rest stays as it was written. Pure: no file is read or written.
"""

from __future__ import annotations

import copy
import io
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq

from weir.lab.function import FunctionOptions
from weir.lab.lab import DEFAULT_FUNCTION, Lab
from weir.lab.overlay import OVERLAY_KEY

_SAID_BY_THE_PLAN = ("chain", "technology", "baseline", "functions", "cores", "variants", "steps")
_HOW_IT_RUNS = ("architecture", "workers", "state_cores", "fastpath", "fastpath_flows", "cores")
_FORMERLY = ("owners",)
"""Names of these that lab files may still use."""
_WIDTH = 120


def placed_text(text: str, placed: Lab, before: Sequence[str], header: Sequence[str], folder: Path) -> str:
    """`text`, changed to what `placed` says of its chain, functions, cores, frames and number of flows.

    `before`: what the functions of the chain are called in `text`. `header`: sentences for its first lines.
    `folder`: of the new file, absolute; files that the lab names are named from there.
    """
    yaml = YAML(typ="rt", pure=True)
    yaml.indent(mapping=2, sequence=4, offset=2)
    yaml.preserve_quotes = True
    yaml.width = _WIDTH
    data = yaml.load(text)
    (names,) = (chain.functions for chain in placed.chains())
    (technology,) = placed.technology
    cores = placed.cores
    assert cores is not None
    data["chain"] = _flow([_flow(names)])
    data["technology"] = technology
    data.pop("baseline", None)
    data.pop("variants", None)
    data.pop("steps", None)
    _functions(data, dict(zip(names, before, strict=True)), placed.functions)
    _relocate(data["functions"], placed.functions, folder)
    data.pop("cores", None)
    where = {name: _flow(cpus) for name, cpus in cores.model_dump().items() if cpus is not None}
    data.insert(list(data).index("functions"), "cores", _flow_map(where))
    _drop(data, ("technologies", technology, "cores"))
    _traffic(data, placed)
    for key in _SAID_BY_THE_PLAN:
        _drop(data, (OVERLAY_KEY, key))
    for path in (("traffic", "frames"), ("traffic", "flows"), ("technologies", technology, "cores")):
        _drop(data, (OVERLAY_KEY, *path))
    written = io.StringIO()
    yaml.dump(data, written)
    return "".join(f"# {line}\n" for line in header) + written.getvalue()


def _functions(data: Any, names: Mapping[str, str], placed: Mapping[str, FunctionOptions]) -> None:
    """The placed ones in place of all that there are. `names`: new name → the one in the file."""
    there = data.setdefault("functions", CommentedMap())
    if not there:
        there[DEFAULT_FUNCTION] = CommentedMap(
            placed[next(iter(names))].model_dump(include={"nf", "options"}, exclude_defaults=True)
        )
    for name, before in names.items():
        if name != before:
            there[name] = copy.deepcopy(there[before])
        _run_as(there[name], placed[name])
    for name in [name for name in there if name not in names]:
        del there[name]


def _run_as(function: Any, placed: FunctionOptions) -> None:
    said = placed.model_dump(include=set(_HOW_IT_RUNS), exclude_defaults=True)
    said["cores"] = _flow(placed.cores or ())
    for key in (*_HOW_IT_RUNS, *_FORMERLY):
        function.pop(key, None)
    for key in reversed(_HOW_IT_RUNS):
        if key in said:
            function.insert(0, key, said[key])
    function.fa.set_block_style()
    if "chain" in function:
        function["chain"].fa.set_block_style()


def _relocate(functions: Any, placed: Mapping[str, FunctionOptions], folder: Path) -> None:
    """Relative files; `placed` has them whole."""
    for name, function in placed.items():
        nodes = [functions[name]] if function.nf is not None else functions[name].get("chain", ())
        for node, one in zip(nodes, function.nfs(), strict=False):
            options = node.get("options", {})
            for key, whole in one.options.items():
                if options.get(key, whole) != whole:
                    options[key] = os.path.relpath(str(whole), folder)


def _traffic(data: Any, placed: Lab) -> None:
    traffic = data.setdefault("traffic", CommentedMap())
    frames = [int(one) if one.isdigit() else one for one in placed.traffic.frames]
    if list(map(str, _listed(traffic.get("frames")))) != list(placed.traffic.frames):
        traffic["frames"] = _flow(frames)
    flows = traffic.setdefault("flows", CommentedMap())
    if flows.get("count") != placed.traffic.flows.count:
        flows["count"] = placed.traffic.flows.count


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list) else []


def _drop(data: Any, path: Sequence[str]) -> None:
    """Takes a key out, and what is empty without it."""
    inner = data.get(path[0]) if isinstance(data, dict) else None
    if len(path) > 1 and isinstance(inner, dict):
        _drop(inner, path[1:])
        if not inner:
            del data[path[0]]
    elif len(path) == 1 and isinstance(data, dict):
        data.pop(path[0], None)


def _flow(items: Sequence[Any]) -> CommentedSeq:
    found = CommentedSeq(items)
    found.fa.set_flow_style()
    return found


def _flow_map(items: Mapping[str, Any]) -> CommentedMap:
    found = CommentedMap(items)
    found.fa.set_flow_style()
    return found
