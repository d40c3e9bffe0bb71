# SPDX-License-Identifier: Apache-2.0
"""Brings it up, takes it down, runs a command in it."""

from __future__ import annotations

import os
import sys

from . import container, place

USAGE = "usage: python -m tests.openstack_cloud.harness up | down | status | run COMMAND ..."


def main(words: list[str]) -> int:
    """Exit code: 0, or 1 with what is wrong on stderr."""
    try:
        match words:
            case ["up"]:
                took_s = container.begin()
                print(f"up in {took_s:.0f} s; OS_CLIENT_CONFIG_FILE={place.CLOUDS} OS_CLOUD={place.CLOUD}")
            case ["down"]:
                container.end()
            case ["status"]:
                pid = container.alive()
                print(f"process {pid}, {'ready' if place.READY.exists() else 'not ready'}" if pid else "down")
            case ["run", *command] if command:
                argv = [*container.entrance(), *command]
                os.execvp(argv[0], argv)
            case _:
                print(USAGE, file=sys.stderr)
                return 2
    except container.HarnessError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


sys.exit(main(sys.argv[1:]))
