# SPDX-License-Identifier: Apache-2.0
"""SSH to an instance's system, from a namespace of the cloud."""

from __future__ import annotations

import shlex
import shutil
import signal
import subprocess
from contextlib import nullcontext
from pathlib import Path

from weir.base.error import FabricError
from weir.fabric import namespace, process

_OPTIONS = shlex.split(
    "-F /dev/null -o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null "
    "-o LogLevel=ERROR -o ConnectTimeout=10 -o IdentitiesOnly=yes"
)
"""Of a host that has just been made: nobody can know its key."""
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"}
"""Of its programs."""
_MOST_BYTES = 1 << 20
"""A server may say what it likes, and this host has no memory for all of it."""
PROGRAMS = ("ssh", "ssh-keygen")


def require_ssh() -> None:
    """FabricError where its programs are missing."""
    for name in PROGRAMS:
        if shutil.which(name) is None:
            raise FabricError(f"there is no {name} here", "install the Debian package openssh-client")


def key(directory: Path) -> Path:
    """A private key in that directory, beside its public one (".pub"); made where there is none."""
    path = directory / "id_ed25519"
    if not path.is_file():
        argv = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "weir", "-f", str(path)]
        done = subprocess.run(argv, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            raise FabricError(f"cannot make a key for SSH: {done.stderr.strip()}")
    return path


def words(to: str, command: str, private_key: Path, user: str = "root") -> list[str]:
    """Of the program that runs a command at an address, as that user there."""
    return ["ssh", *_OPTIONS, "-i", str(private_key), f"{user}@{to}", command]


def said(
    netns: str | None,
    to: str,
    command: str,
    *,
    private_key: Path,
    marker: str,
    within_s: float,
    user: str = "root",
) -> str:
    """What a command says that runs at an address, as that user there, asked from a namespace; None: from
    where this process is. FabricError if it cannot be reached in time, or the command fails, with what was
    said last."""
    argv = words(to, command, private_key, user)
    try:
        with namespace.inside(netns) if netns is not None else nullcontext():
            done = process.run_tool(
                argv, marker=marker, env=ENVIRONMENT, timeout_s=within_s, most_bytes=_MOST_BYTES
            )
    except subprocess.TimeoutExpired as late:
        raise FabricError(f"nothing answers by SSH at {to} within {within_s:.0f} s") from late
    if done.returncode == -signal.SIGXFSZ:
        raise FabricError(f"`{command}` by SSH at {to} says more than {_MOST_BYTES} bytes")
    if done.returncode != 0:
        last = (done.stderr or done.stdout).strip().splitlines()
        why = last[-1] if last else f"exit code {done.returncode}"
        raise FabricError(f"`{command}` by SSH at {to}: {why}")
    return done.stdout
