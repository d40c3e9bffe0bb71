# SPDX-License-Identifier: Apache-2.0
"""Files that a lab names, such as rules and routes: relative to the lab file, and there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from weir.lab.complaint import Complaint
from weir.lab.function import FunctionOptions
from weir.lab.lab import Lab
from weir.lab.nf import Scalar, network_functions
from weir.lab.qcow2 import image_fault
from weir.lab.source import KeyPath
from weir.lab.traffic import Traffic


def no_file(path: Path) -> str | None:
    """Why that is none; None: it is one."""
    if path.is_file():
        return None
    if path.is_dir():
        return f"{path} is a directory"
    return f"{path} is no regular file" if path.exists() else f"there is no file {path}"


def missing_files(lab: Lab, folder: Path) -> Iterator[Complaint]:
    """Every file that cannot be read, and images that are none. `folder`: of the lab file."""
    yield from missing_of_functions(lab.functions, folder)
    capture = lab.traffic.capture
    for side, sent in capture.files().items() if capture is not None else ():
        why = no_file(folder / sent.file)
        if why is not None:
            expected = f"a capture; {_looked_for(folder)}"
            yield Complaint(("traffic", "capture", side), why, expected)


def _looked_for(folder: Path) -> str:
    return f"relative ones are looked for in {folder.resolve()}"


def missing_of_functions(functions: Mapping[str, FunctionOptions], folder: Path) -> Iterator[Complaint]:
    """The same of functions alone."""
    looked_for = _looked_for(folder)
    for name, function in functions.items():
        for path, nf, options in _options(("functions", name), function):
            for key, value in options.items():
                why = no_file(folder / str(value)) if is_file(nf, key) else None
                if why is not None:
                    yield Complaint((*path, key), why, f"a file; {looked_for}")
        yield from _wrong_of_machine(name, function, folder, looked_for)
        for key, section in (("kernel", function.kernel), ("program", function.program)):
            directory = section.directory if section is not None else None
            if directory is not None and not (folder / directory).is_dir():
                message, expected = (
                    f"there is no directory {folder / directory}",
                    f"one; relative to {folder}",
                )
                yield Complaint(("functions", name, key, "directory"), message, expected)
        bundle = function.container.bundle if function.container is not None else None
        if bundle is not None and not (folder / bundle / "config.json").is_file():
            message = f"there is no {folder / bundle / 'config.json'}"
            expected = f"the directory of an OCI bundle; {looked_for}"
            yield Complaint(("functions", name, "container", "bundle"), message, expected)


def _wrong_of_machine(
    name: str, function: FunctionOptions, folder: Path, looked_for: str
) -> Iterator[Complaint]:
    for key, value in _of_machine(function).items():
        why = no_file(folder / value)
        expected: str | None = f"a file; {looked_for}"
        if why is None and key == "image" and function.vm is not None:
            why, expected = image_fault(function.vm, folder / value), None
        if why is not None:
            yield Complaint(("functions", name, "vm", key), why, expected)


def named_files(lab: Lab, folder: Path) -> Iterator[tuple[KeyPath, Path]]:
    """All that it names, there or not. `folder`: of the lab file."""
    for name, function in lab.functions.items():
        for path, nf, options in _options(("functions", name), function):
            yield from (
                ((*path, key), folder / str(value)) for key, value in options.items() if is_file(nf, key)
            )
        for key, value in _of_machine(function).items():
            yield ("functions", name, "vm", key), folder / value
        if function.container is not None:
            at = ("functions", name, "container", "bundle")
            yield at, folder / function.container.bundle / "config.json"
    capture = lab.traffic.capture
    for side, sent in capture.files().items() if capture is not None else ():
        yield ("traffic", "capture", side), folder / sent.file


def with_whole_paths(lab: Lab, folder: Path) -> Lab:
    """The lab with every relative file where it lies."""
    functions = {name: _with_whole_paths(function, folder) for name, function in lab.functions.items()}
    return lab.model_copy(
        update={"functions": functions, "traffic": _with_whole_captures(lab.traffic, folder)}
    )


def _with_whole_captures(traffic: Traffic, folder: Path) -> Traffic:
    if traffic.capture is None:
        return traffic
    whole: dict[str, Any] = {
        side: sent.model_copy(update={"file": str((folder / sent.file).resolve())})
        for side, sent in traffic.capture.files().items()
    }
    return traffic.model_copy(update={"capture": traffic.capture.model_copy(update=whole)})


def _with_whole_paths(function: FunctionOptions, folder: Path) -> FunctionOptions:
    chain = tuple(
        one.model_copy(update={"options": _whole(one.nf, one.options, folder)}) for one in function.chain
    )
    options = _whole(function.nf, function.options, folder) if function.nf else function.options
    machine = function.vm
    if machine is not None:
        whole = {key: str((folder / value).resolve()) for key, value in _of_machine(function).items()}
        machine = machine.model_copy(update=whole)
    update: dict[str, Any] = {"chain": chain, "options": options, "vm": machine}
    for key, section in (("kernel", function.namespaced()), ("program", function.programmed())):
        if section is not None:
            whole_directory = str((folder / (section.directory or ".")).resolve())
            update[key] = section.model_copy(update={"directory": whole_directory})
    if function.container is not None:
        bundle = str((folder / function.container.bundle).resolve())
        update["container"] = function.container.model_copy(update={"bundle": bundle})
    return function.model_copy(update=update)


def _of_machine(function: FunctionOptions) -> dict[str, str]:
    """The files of its virtual machine, by key."""
    return {} if function.vm is None else dict(function.vm.files())


def _whole(nf: str, options: dict[str, Scalar], folder: Path) -> dict[str, Scalar]:
    return {
        key: str((folder / str(value)).resolve()) if is_file(nf, key) else value
        for key, value in options.items()
    }


def _options(path: KeyPath, function: FunctionOptions) -> Iterator[tuple[KeyPath, str, dict[str, Scalar]]]:
    if function.nf is not None:
        yield (*path, "options"), function.nf, function.options
    for index, one in enumerate(function.chain):
        yield (*path, "chain", index, "options"), one.nf, one.options


def is_file(nf: str, key: str) -> bool:
    """Whether that option of that function names a file."""
    known = network_functions().get(nf)
    option = known.option(key) if known is not None else None
    return option is not None and option.type == "file"
