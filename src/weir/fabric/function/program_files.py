# SPDX-License-Identifier: Apache-2.0
"""What a user's program finds when it comes up, and what runs before it too: its files, its runtime
directory, and whom it runs as."""

from __future__ import annotations

import os
import pwd
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from weir.base.error import FabricError
from weir.fabric import own_user
from weir.fabric.function import container, dpdk
from weir.fabric.site import Site
from weir.lab.kernel import FILE_PREFIX, ROOT, RUNTIME, SIDES, filled

_PASSED_THROUGH = 0o711
_READ_BY_ALL, _ENTERED_BY_ALL = 0o644, 0o755
_CAPABILITIES = "+net_raw,+net_admin"


def written(params: Mapping[str, Any], site: Site, made: Mapping[str, str] | None = None) -> dict[str, str]:
    """Its files; what the names in braces that stand for them, and for its sockets, stand for.

    `made`: files that are not the lab's. One of the lab's that is there already is left as it is: a command
    before the program may have changed it.
    """
    folder = site.directory / f"{params['node']}.files"
    folder.mkdir(exist_ok=True)
    runtime = dpdk.runtime(site, params["node"])
    runtime.mkdir(exist_ok=True)
    user = user_of(params, site)
    uid, gid = container.user_of(params) if params["bundle"] else (user.uid, user.gid) if user else (0, 0)
    if uid != 0:
        site.directory.chmod(_PASSED_THROUGH)  # its files are below; what else is there cannot be listed
        os.chown(runtime, uid, gid)
    made = made or {}
    texts = dict(zip(params["file_names"], params["file_texts"], strict=True)) | dict(made)
    values = {f"{FILE_PREFIX}{name}": str(folder / name) for name in texts} | {RUNTIME: str(runtime)}
    for side, vdev, path in zip(SIDES, params["vdevs"], params["sockets"], strict=True):
        whole = str(site.directory / path)
        values |= {f"{side}.vdev": vdev.replace("{}", whole), f"{side}.socket": whole if path else ""}
    for name, text in zip(texts, filled([*texts.values()], values), strict=True):
        if name in made or not (folder / name).exists():
            (folder / name).write_text(text, encoding="utf-8")
            (folder / name).chmod(_READ_BY_ALL)  # whatever the umask: its user reads them
    folder.chmod(_ENTERED_BY_ALL)
    return values


@dataclass(frozen=True)
class User:
    """Whom it runs as."""

    uid: int
    gid: int
    words: Sequence[str]
    """What makes it so."""


def user_of(params: Mapping[str, Any], site: Site) -> User | None:
    """None: root, or whom its container says. FabricError if there is none of that name."""
    name = str(params["user"])
    if name == ROOT or params["bundle"]:
        return None
    if not name:
        number = own_user.unused_id(f"{site.deployment}/{params['node']}")
        return User(number, number, own_user.run_as(number, capabilities=_CAPABILITIES))
    try:
        found = pwd.getpwnam(name)
    except KeyError:
        who = f"program {params['node']} ({params['function']})"
        message = f"{who} is to run as {name}, and there is no such user"
        raise FabricError(message, "name another one in program.user") from None
    words = ["setpriv", f"--reuid={found.pw_uid}", f"--regid={found.pw_gid}", "--init-groups"]
    words += [f"--inh-caps={_CAPABILITIES}", f"--ambient-caps={_CAPABILITIES}"]
    return User(found.pw_uid, found.pw_gid, words)
