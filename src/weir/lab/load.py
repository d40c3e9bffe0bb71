# SPDX-License-Identifier: Apache-2.0
"""From a file to a checked lab, or to everything that is wrong with it at once."""

from __future__ import annotations

import copy
import dataclasses
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from weir.lab.complaint import Complaint, complaints_about, located
from weir.lab.files import missing_files, missing_of_functions, with_whole_paths
from weir.lab.host_check import Nodes
from weir.lab.lab import Lab
from weir.lab.of_tenants import KEYS, tenants_key
from weir.lab.overlay import split_overlay
from weir.lab.problem import LabFileError, Problem, nearest
from weir.lab.source import LAB, KeyPath, Source, read_source, require_kind
from weir.lab.spanning import HostsOptions
from weir.lab.ways import base_complaints, completed, near, variant_complaints

LAB_FILE = "lab.yml"
_ATTEMPTS = 4  # taking one part out may show that another cannot stand without it
_STAND_INS: dict[str, Any] = {"weir": 1, "name": "lab", "chain": ["PVP"], "technology": ["direct"]}


def load_lab(
    path: str | Path,
    *,
    quick: bool = False,
    cpus: Sequence[int] | None = None,
    nodes: Nodes | None = None,
    spanning: bool = False,
) -> Lab:
    """Reads and checks a lab file, or `lab.yml` in a directory. Pure but for reading the file.

    `quick` lays the file's `quick` over it; both variants are checked in any case. `cpus` are the CPU
    numbers that the machine can give: cores that the lab leaves open are chosen from them (default 0 and 1,
    unchecked). `nodes`: CPUs by NUMA node; a lab that names its node gets cores of it. `spanning`: its chains
    may span hosts. LabFileError has all problems.
    """
    lab = load_open_lab(path, quick=quick, cpus=cpus, nodes=nodes, spanning=spanning)
    return completed(lab, near(lab, cpus, nodes) or (0, 1))


def load_open_lab(
    path: str | Path,
    *,
    quick: bool = False,
    cpus: Sequence[int] | None = None,
    nodes: Nodes | None = None,
    spanning: bool = True,
) -> Lab:
    """The same, with what the lab leaves open left open: its baseline and its cores. It is completed where
    it is measured (`weir.lab.on_machine`)."""
    path = Path(path)
    if path.is_dir() and (path / LAB_FILE).is_file():
        path = path / LAB_FILE
    source = read_source(path)
    of_tenants = tenants_key(source.values) if isinstance(source.values, dict) else None
    require_kind(source, LAB)
    if of_tenants is not None:
        message = "the lab has tenants, which are no chain to measure"
        wanted = "a lab with `chain`; `weir deploy` builds tenants, `weir run` measures them"
        meant = None if of_tenants in KEYS else nearest(of_tenants, KEYS)
        source.complain((of_tenants,), message, wanted, meant)
        raise LabFileError(source.problems)
    base, overlaid = split_overlay(source)
    problems = list(source.problems)
    variants = [variant for variant in (base, overlaid) if variant is not None]
    labs = [_check(variant, problems, cpus, nodes) for variant in variants]
    for variant, checked in zip(variants, labs, strict=True):
        if checked is not None:
            problems.extend(located(variant, one) for one in _missing_files(checked, path.parent))
    lab = labs[-1 if quick else 0]
    if lab is not None and lab.hosts is not None and not spanning:
        problems.append(located(source, _on_one_machine(lab.hosts, path)))
    if problems:
        raise LabFileError(dict.fromkeys(problems))
    assert lab is not None
    return _with_whole_paths(lab, path.parent)


def _on_one_machine(hosts: HostsOptions, path: Path) -> Complaint:
    message = f"the chains span hosts ({', '.join(hosts.names())}), and this command works on one machine"
    wanted = (
        f"`weir run {path} --on HOST:PORT`, of a Ray cluster with these hosts;"
        f" or `weir deploy {path} --dry-run`, which shows what each of them would build"
    )
    return Complaint(("hosts",), message, wanted)


def _missing_files(lab: Lab, folder: Path) -> Iterator[Complaint]:
    """Of the lab's functions, and of its variants'."""
    yield from missing_files(lab, folder)
    for name, variant in lab.variants.items():
        for one in missing_of_functions(variant.functions, folder):
            yield dataclasses.replace(one, path=("variants", name, *one.path))


def _with_whole_paths(lab: Lab, folder: Path) -> Lab:
    """The lab with every relative file where it lies, its variants' too."""
    variants = {}
    for name, variant in lab.variants.items():
        own = with_whole_paths(lab.model_copy(update={"functions": variant.functions}), folder)
        variants[name] = variant.model_copy(update={"functions": own.functions})
    return with_whole_paths(lab, folder).model_copy(update={"variants": variants})


def _check(
    source: Source, problems: list[Problem], cpus: Sequence[int] | None, nodes: Nodes | None
) -> Lab | None:
    """Adds what is wrong with `source`. Where parts are unusable, the rest is checked without them."""
    values = copy.deepcopy(source.values)
    removed: set[KeyPath] = set()
    lab = None
    for attempt in range(_ATTEMPTS):
        try:
            lab = Lab.model_validate_json(json.dumps(values), strict=True)
            break
        except ValidationError as error:
            found = complaints_about(error)
            if attempt == 0:
                problems.extend(located(source, one) for one in found)
            removed.update([_remove(values, one.path) for one in found])
    if lab is None:
        return None
    for one in (*base_complaints(lab, cpus, nodes), *variant_complaints(lab)):
        if not any(_overlap(path, gone) for path in (one.path, *one.about) for gone in removed):
            problems.append(located(source, one))
    return None if removed else lab


def _remove(values: dict[str, Any], path: KeyPath) -> KeyPath:
    """Takes out the innermost key on `path` that there is, or puts a stand-in for a required one."""
    around, key, depth = values, path[0], 1
    while depth < len(path) and isinstance(around.get(str(key)), dict):
        inner = around[str(key)]
        if path[depth] not in inner:
            break
        around, key, depth = inner, path[depth], depth + 1
    around.pop(str(key), None)
    if depth == 1 and key in _STAND_INS:
        values[str(key)] = _STAND_INS[str(key)]
    return path[:depth]


def _overlap(path: KeyPath, other: KeyPath) -> bool:
    shorter = min(len(path), len(other))
    return path[:shorter] == other[:shorter]


def stored_lab(spec: Mapping[str, Any]) -> Lab:
    """The lab of a document, such as a result's: as `model_dump` has made it of a lab that was checked."""
    return Lab.model_validate_json(json.dumps(spec), by_name=True, by_alias=True)
