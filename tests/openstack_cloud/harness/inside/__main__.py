# SPDX-License-Identifier: Apache-2.0
"""Its first process, which buries the dead of all others (libvirt waits for that), and the second, which
brings all of it up, stage by stage, and then tells what ends."""

from __future__ import annotations

import os
import time
import traceback

from .. import place
from . import base, catalogue, configuration, links, mounts, schemas, services


def main() -> None:
    """Never returns."""
    if os.fork() == 0:
        bring_up()
    while True:
        os.wait()


def bring_up() -> None:
    """Never returns where all of it stands."""
    began = time.monotonic()

    def stage(what: str) -> None:
        print(f"[{time.monotonic() - began:.0f} s] {what}", flush=True)

    try:
        mounts.own_files()
        links.make()
        configuration.write()
        stage("files and links")
        base.start()
        stage("database, queue, cache")
        schemas.make()
        stage("schemas")
        services.start_identity()
        catalogue.register()
        stage("identity")
        services.start_rest()
        stage("services")
        catalogue.furnish()
        stage("image, flavor, network outside")
        services.wait_for_agents()
        stage("agents")
    except BaseException:
        traceback.print_exc()
        place.FAILED.touch()
        while True:
            time.sleep(3600)
    place.READY.write_text(f"{time.monotonic() - began:.0f}\n")
    while True:
        try:
            pid, status = os.waitpid(-1, 0)
        except ChildProcessError:
            time.sleep(1)
            continue
        name = services.RUNNING.get(pid)
        if name is not None:
            stage(f"{name} ended, status {status}")


main()
