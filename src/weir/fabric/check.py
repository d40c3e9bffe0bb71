# SPDX-License-Identifier: Apache-2.0
"""What this machine lacks for a lab, before anything is touched."""

from __future__ import annotations

import os
import pwd
import shutil
from collections.abc import Sequence
from pathlib import Path

from weir.base.error import FabricError
from weir.fabric import probe
from weir.fabric.built import native_version
from weir.fabric.needs import Refusal, lacking
from weir.fabric.vm import lacking as machines_lacking
from weir.lab.lab import Program
from weir.lab.vm import VmOptions
from weir.technology import TECHNOLOGIES, TechnologyOptions
from weir.technology.descriptor import Need

_INSTALL = "install it, or make it executable"
_ANOTHER_USER = "make that user, or name another one in program.user"
_NEEDS_OF_HOSTS = (Need("namespaces"), Need("link", "veth"), Need("packet-sockets"))

_NO_ROOT = Refusal(
    "building and measuring need root: for network namespaces, hugepages and the ports of weir-dp",
    "run it as root or with sudo; `weir validate`, `weir deploy --dry-run`, `weir inspect` and"
    " `weir report` need no root",
)


_NO_ROOT_TO_LOOK = Refusal(
    "looking into what is deployed needs root: nobody else may enter its network namespaces",
    "run it as root or with sudo; `weir inspect`, and `weir graph` of this user's own namespace, need no"
    " root",
)
_NO_ROOT_TO_COMMAND = Refusal("weir-dp takes commands from root alone", "run it as root or with sudo")
_NO_ROOT_TO_VERIFY = Refusal(
    "verifying Weir's own cloud needs root: for the network namespaces, switches and instances of each case",
    "run it as root or with sudo; `weir verify --dry-run` says without root what would be run",
)


def require_root() -> None:
    """FabricError for a user who is not root: what needs root and what does not."""
    _require(_NO_ROOT)


def require_to_measure() -> None:
    """The same, for whoever measures chains; and FabricError without a weir-dp that starts, which each of
    them needs."""
    require_root()
    native_version("weir-dp")


def require_root_to_look() -> None:
    """The same, for whoever looks into what is deployed, or works in it."""
    _require(_NO_ROOT_TO_LOOK)


def require_root_to_command() -> None:
    """The same, for whoever changes a function that is deployed."""
    _require(_NO_ROOT_TO_COMMAND)


def require_root_to_verify() -> None:
    """The same, for whoever verifies a cloud that Weir builds for that."""
    _require(_NO_ROOT_TO_VERIFY)


def _require(refusal: Refusal) -> None:
    if os.geteuid() != 0:
        raise FabricError(refusal.missing, refusal.fix)


def check(
    technology: str,
    options: TechnologyOptions | None = None,
    *,
    machines: Sequence[VmOptions] = (),
    programs: Sequence[Program] = (),
    hosts: bool = False,
) -> Refusal | None:
    """None if the technology can be built here, with these virtual machines, functions that need these
    programs, or hosts at the ends. `options`: the lab's, of it."""
    if os.geteuid() != 0:
        return _NO_ROOT
    described = TECHNOLOGIES[technology]
    options = options or described.options()
    needs = (*described.needs(options), *(_NEEDS_OF_HOSTS if hosts else ()))
    refusals = (lacking(need, options) for need in needs)
    refusal = next((one for one in refusals if one is not None), None)
    missing = None if refusal is not None else machines_lacking.lacking(machines, technology)
    if missing is not None:
        refusal = Refusal(*missing)
    return refusal or next((_not_installed(one) for one in programs if not _installed(one)), None)


def _installed(program: Program) -> bool:
    if program.module:
        return probe.has_module(program.module)
    if program.user:
        return _is_user(program.user)
    place = str(Path(program.directory) / program.name) if "/" in program.name else program.name
    return any(shutil.which(one) is not None for one in (place, *program.or_else))


def _is_user(name: str) -> bool:
    try:
        pwd.getpwnam(name)
    except KeyError:
        return False
    return True


def _not_installed(program: Program) -> Refusal:
    if program.module:
        missing = f"this kernel has no {program.module}, which function {program.function} needs"
        return Refusal(missing, f"load its {program.module} module, or another kernel")
    if program.user:
        missing = f"there is no user {program.user}"
        return Refusal(f"{missing}, whom function {program.function} is to run as", _ANOTHER_USER)
    if "/" in program.name:
        missing = f"there is no program {Path(program.directory) / program.name}"
    else:
        missing = f"{' or '.join((program.name, *program.or_else))} not installed"
    package = program.package
    fix = f"install the Debian package {package}" if package else program.mend or _INSTALL
    return Refusal(f"{missing}, which function {program.function} needs", fix)
