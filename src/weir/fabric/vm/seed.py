# SPDX-License-Identifier: Apache-2.0
"""Step kind vm-seed: what belongs to a disk image of the user's."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from weir.base.error import FabricError
from weir.fabric.site import Facts, Site
from weir.fabric.vm import disk
from weir.fabric.vm.command_line import hostname
from weir.fabric.vm.storage import overlay_bytes, require_space, stored
from weir.plan import Step


class VmSeed:
    """An overlay to write to, and data for cloud-init."""

    def do(self, step: Step, site: Site) -> Facts:
        """Makes both. FabricError if the image leads elsewhere, or the disk has too little space."""
        its = stored(site, str(step.params["node"]))
        origin = disk.checked(Path(str(step.params["image"])), disk.of(step.params))
        needed_bytes = overlay_bytes(origin.size_bytes, int(str(step.params["overlay_mb"])) << 20)
        with site.alone():
            require_space(site, its.directory, its.node, needed_bytes)
            site.note({"overlay": {"path": str(its.overlay), "bytes": needed_bytes}})
        # What it is on stands in QEMU's command line, and not in its header: nobody opens a file by its name.
        _qemu_img("create", "-q", "-f", "qcow2", str(its.overlay), str(origin.size_bytes))
        its.seed.mkdir()
        about = {"instance-id": f"{site.deployment}-{its.node}", "local-hostname": hostname(its.node)}
        about |= {
            key: str(value) for key, value in step.params.items() if key.endswith(("_mac", "_next_hop"))
        }
        (its.seed / "meta-data").write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
        user_data = str(step.params["user_data"])
        if user_data:
            shutil.copyfile(user_data, its.seed / "user-data")
        else:
            (its.seed / "user-data").write_text("#cloud-config\n", encoding="utf-8")
        # QEMU's own user reads them, by a descriptor of this directory; nobody else comes past its parent.
        its.seed.chmod(0o755)
        for path in its.seed.iterdir():
            path.chmod(0o644)
        return {}

    def undo(self, params: Mapping[str, Any], facts: Facts, site: Site) -> None:
        """Nothing: both go with the directory."""


def _qemu_img(*words: str) -> str:
    try:
        done = subprocess.run(["qemu-img", *words], capture_output=True, text=True, check=False)
    except OSError as error:
        raise FabricError(
            f"cannot start qemu-img: {error}", "install the Debian package qemu-utils"
        ) from error
    if done.returncode != 0:
        raise FabricError(f"qemu-img: {done.stderr.strip()}", "is vm.image a disk image?")
    return done.stdout
