# SPDX-License-Identifier: Apache-2.0
"""A program in a container: a bundle of the user's, run by an OCI runtime in the function's network
namespace.

The bundle's config.json (OCI Runtime Specification 1.0) is read, never written: what the runtime gets is a
copy with the function's namespace in it, below the deployment's directory. Other namespaces are the bundle's
own.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from weir.base.cores import named_cpus
from weir.base.error import FabricError
from weir.base.read_file import read_text
from weir.fabric.host import isolated
from weir.fabric.site import Facts, Site
from weir.lab.kernel import CONTAINER_RUNTIMES

_NEEDED = ("CAP_NET_RAW", "CAP_NET_ADMIN", "CAP_IPC_LOCK")
"""What packets take, and hugepages."""
_SETS = ("bounding", "effective", "permitted", "inheritable", "ambient")
_FIRST_TO_GO = 1000  # where memory is short, as every program
_HUGEPAGES = Path("/dev/hugepages")
_DELETE_S = 30.0
_NOBODY = (1 << 32) - 1
"""What stands for no user in system calls."""
_MANAGERS = {"crun": ("--cgroup-manager=cgroupfs",)}


def command(
    params: Mapping[str, Any], site: Site, words: Sequence[str], environment: Mapping[str, str]
) -> list[str]:
    """What runs it, in the function's namespace. FabricError for a bundle that no runtime would take, too,
    and on isolated cores."""
    held = isolated.holding([*params["cores"]])
    if held:
        who = f"container {params['node']} ({params['function']})"
        raise FabricError(
            f"{who} is to run on {named_cpus(sorted(held))}, in an isolated partition, which its runtime"
            " would take it out of",
            "say host.isolation: none, and destroy what `weir tune` has made; or choose kind: program",
        )
    folder = _folder(site, params)
    folder.mkdir(exist_ok=True)
    changed = _config(params, site, words, environment)
    rootfs = Path(changed["root"]["path"]).resolve()
    site.note({"mount_points": [made for one in _shared(site) for made in _not_there(rootfs, one)]})
    (folder / "config.json").write_text(json.dumps(changed), encoding="utf-8")
    return [*_runtime(params, site), "run", "--bundle", str(folder), _name(params)]


def remove(params: Mapping[str, Any], facts: Facts, site: Site) -> None:
    """What the runtime has kept of it, its control groups too, and directories that it has made in the image
    to mount at; nothing if it is gone already."""
    runtime = _runtime(params, site)
    if _folder(site, params).is_dir() and shutil.which(runtime[0]) is not None:
        argv = [*runtime, "delete", "--force", _name(params)]
        subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=_DELETE_S, check=False)
    for path in map(Path, reversed(facts.get("mount_points", []))):
        if path.resolve() == path:  # else the container has put a link there
            with suppress(OSError):  # it was not made, or there is something in it
                path.rmdir()


def user_of(params: Mapping[str, Any]) -> tuple[int, int]:
    """Number and group of whom it runs as; root's where it does not say. FabricError."""
    path = Path(params["bundle"]) / "config.json"
    process = _part(_read(path), "process", path)
    said = _part(process, "user", path) if process.get("user") is not None else {}
    uid, gid = said.get("uid", 0), said.get("gid", 0)
    if not all(isinstance(one, int) and 0 <= one < _NOBODY for one in (uid, gid)):
        raise _refusal(path, "its process.user has no number as uid, or as gid", "numbers from 0 on")
    return uid, gid


def _runtime(params: Mapping[str, Any], site: Site) -> list[str]:
    there = [one for one in CONTAINER_RUNTIMES if shutil.which(one) is not None]
    name = str(params["runtime"]) or next(iter(there), CONTAINER_RUNTIMES[0])
    return [name, "--root", str(_folder(site, params) / "state"), *_MANAGERS.get(name, ())]


def _folder(site: Site, params: Mapping[str, Any]) -> Path:
    return site.directory / f"{params['node']}.container"


def _name(params: Mapping[str, Any]) -> str:
    """The namespace's, which is no other deployment's."""
    return str(params["netns"])


def _config(
    params: Mapping[str, Any], site: Site, words: Sequence[str], environment: Mapping[str, str]
) -> dict[str, Any]:
    path = Path(params["bundle"]) / "config.json"
    found = _read(path)
    process, linux = _part(found, "process", path), _part(found, "linux", path)
    root = _part(found, "root", path)
    rootfs = path.parent / str(root.get("path", "rootfs"))
    if not rootfs.is_dir():
        raise _refusal(
            path, f"root.path is {rootfs}, and there is no such directory", "the image's files there"
        )
    namespaces = [one for one in _list(linux, "namespaces", path) if isinstance(one, dict)]
    if any(one.get("type") == "user" for one in namespaces):
        raise _refusal(
            path, "it has a user namespace, whose root may not touch the function's interfaces", "none in it"
        )
    others = [one for one in namespaces if one.get("type") != "network"]
    network = {"type": "network", "path": f"/run/netns/{params['netns']}"}
    if words:
        process["args"] = [*words]
    if not process.get("args"):
        raise _refusal(path, "process.args is empty", "them, or program.command in the lab file")
    process["terminal"] = False
    process["oomScoreAdj"] = _FIRST_TO_GO
    own = (f"{key}={value}" for key, value in environment.items())
    process["env"] = [*_list(process, "env", path), *own]
    capabilities = _part(process, "capabilities", path) if process.get("capabilities") is not None else {}
    process["capabilities"] = {
        name: sorted({*map(str, _list(capabilities, name, path)), *_NEEDED}) for name in _SETS
    }
    linux["namespaces"] = [*others, network]
    linux["cgroupsPath"] = f"/{_name(params)}/container"  # in the function's own group, where it has one
    mounts = [_mount(one) for one in _shared(site)]
    return {
        **found,
        "process": process,
        "root": {**root, "path": str(rootfs)},
        "linux": linux,
        "mounts": [*_list(found, "mounts", path), *mounts],
    }


def _shared(site: Site) -> list[Path]:
    return [site.directory, *([_HUGEPAGES] if _HUGEPAGES.is_mount() else [])]


def _not_there(rootfs: Path, inside: Path) -> list[str]:
    """What the runtime would make in the image to mount at that path, each after what it is in; none behind a
    link."""
    missing = []
    at = rootfs
    for part in inside.parts[1:]:
        at /= part
        if at.is_symlink():
            return []
        if not at.exists():
            missing.append(str(at))
    return missing


def _mount(path: Path) -> dict[str, Any]:
    """Where it is outside: sockets, files and hugepages have one name on both sides."""
    return {"destination": str(path), "type": "bind", "source": str(path), "options": ["rbind", "rw"]}


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(read_text(path))
    except OSError as error:
        raise _refusal(
            path, f"it cannot be read: {error.strerror}", "the config.json of an OCI bundle"
        ) from None
    except ValueError as error:
        raise _refusal(path, f"it is no JSON: {error}", "the config.json of an OCI bundle") from None
    except RecursionError:
        raise _refusal(path, "it is nested too deeply", "the config.json of an OCI bundle") from None
    if not isinstance(found, dict):
        raise _refusal(path, "it is no JSON object", "the config.json of an OCI bundle")
    return found


def _part(found: Mapping[str, Any], key: str, path: Path) -> dict[str, Any]:
    part = found.get(key)
    if not isinstance(part, dict):
        raise _refusal(path, f"it has no {key}", "what `runc spec` writes has all of them")
    return dict(part)


def _list(found: Mapping[str, Any], key: str, path: Path) -> list[Any]:
    """Empty where there is none, or null."""
    part = found.get(key)
    if part is None:
        return []
    if not isinstance(part, list):
        raise _refusal(path, f"its {key} is no list", "what `runc spec` writes there")
    return part


def _refusal(path: Path, what: str, wanted: str) -> FabricError:
    return FabricError(f"{path} is no bundle that can be run: {what}", f"expected: {wanted}")
