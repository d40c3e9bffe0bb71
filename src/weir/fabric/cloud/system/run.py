# SPDX-License-Identifier: Apache-2.0
"""Step kind instance-system: the first process of an instance's system, and all that it starts."""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from weir.base.error import FabricError
from weir.fabric import process, stop_signals
from weir.fabric.cloud.ruleset import not_installed
from weir.fabric.cloud.system.tree import lacking as tree_lacking
from weir.fabric.cloud.system.tree import tree
from weir.fabric.function.control_group import group_of
from weir.fabric.program_log import log_end
from weir.fabric.site import Facts, Site
from weir.plan import Step

DIRECTORY = "systems"
UP = "weir: system of "
"""Begins the line of its console that says so."""
_START_S, _LOOK_S = 30.0, 0.02
_ACCOUNTS = "root:x:0:0:root:/root:/bin/sh\n"
_GROUPS = "root:x:0:\n"
_SHELLS = "/bin/sh\n"


def console(run_dir: Path, instance: str) -> Path:
    """What an instance has said since its start."""
    return run_dir / DIRECTORY / f"{instance}.console"


class InstanceSystem:
    """One instance's. It is in the instance's network, in namespaces of its own for all else, and in a
    control group, with few capabilities. It keeps programs apart; it is no wall against hostile ones."""

    def do(self, step: Step, site: Site) -> Facts:
        """SSH is served when it returns; the instance's script may still run. FabricError with last words."""
        params = step.params
        name = str(params["instance"])
        own = site.directory / DIRECTORY / name
        root = own / "root"
        root.mkdir(parents=True, exist_ok=True)
        etc = own / "etc"
        etc.mkdir(exist_ok=True)
        _write(etc, params, site)
        log = console(site.directory, name)
        launch = resources.files("weir.fabric.cloud.system").joinpath("launch")
        argv = [
            "unshare",
            "--mount",
            "--propagation=private",
            "--pid",
            "--fork",
            "--kill-child",
            "--uts",
            "--ipc",
        ]
        pid = site.spawn(
            [*argv, "sh", str(launch), str(tree()), str(root), str(etc), name.replace(".", "-")],
            netns=str(params["netns"]),
            env={},
            cores=[],
            log=str(log.relative_to(site.directory)),
            groups=group_of(site, name).entrances(),
        )
        _is_up(name, pid, log)
        return {"pid": pid}

    def undo(self, params: Mapping[str, Any], facts: Facts, site: Site) -> None:  # noqa: ARG002
        """Ends its first process, and with that all others in its namespace."""
        site.end()

    def lacking(self, params: Mapping[str, Any]) -> str | None:  # noqa: ARG002
        """What to install."""
        return not_installed("unshare", "util-linux") or tree_lacking()


def _write(etc: Path, params: Mapping[str, Any], site: Site) -> None:
    """Files of its /etc."""
    texts = {"passwd": _ACCOUNTS, "group": _GROUPS, "shells": _SHELLS}
    for name, text in texts.items():
        (etc / name).write_text(text)
    for name, source in (("authorized_keys", params["ssh_keys"]), ("user-data", params["user_data"])):
        try:
            data = Path(str(source)).read_bytes() if source else b""
        except OSError as error:
            raise FabricError(
                f"cannot read {source}: {error.strerror}", f"it is {name} of the instance"
            ) from error
        (etc / name).write_bytes(data)
    for name in ("hosts_file", "resolver_file"):
        target = {"hosts_file": "hosts", "resolver_file": "resolv.conf"}[name]
        shutil.copyfile(site.directory / str(params[name]), etc / target)


def _is_up(name: str, pid: int, log: Path) -> None:
    deadline = time.monotonic() + _START_S
    while UP.encode() not in log.read_bytes():
        if not process.alive(pid) or time.monotonic() > deadline:
            raise FabricError(f"the system of {name} does not start: {log_end(log)}", f"its console: {log}")
        stop_signals.check()
        time.sleep(_LOOK_S)
