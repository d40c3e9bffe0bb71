# SPDX-License-Identifier: Apache-2.0
"""weir-lean built from an earlier revision for this processor, each in a build directory of its own."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

from weir.base import SOURCE_TREE
from weir.base.error import FabricError
from weir.fabric.lock import scratch
from weir.fabric.vm.image import cache

_PROGRAM = "native/weir-lean"
_SCRATCH = "tree-"


def _source() -> Path:
    """FabricError where Weir was installed: there are no revisions."""
    if SOURCE_TREE is None:
        raise FabricError(
            "this Weir was installed, and has no source to build an earlier revision from",
            "give a result of `weir lean --json`, or run weir from a checkout of its source",
        )
    return SOURCE_TREE


def _git() -> tuple[str, ...]:
    """This program is of that tree: whose it is does not matter."""
    return ("git", "-c", f"safe.directory={_source()}", "-C", str(_source()))


def commit(revision: str) -> str:
    """The full hash of a revision of this source tree. FabricError if there is none."""
    try:
        done = subprocess.run(
            [*_git(), "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}"],
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError as error:
        raise FabricError(f"git cannot be run: {error}", "install git") from error
    if done.returncode != 0:
        raise FabricError(
            f"{revision} is neither a file nor a revision of {_source()}",
            "give a result of `weir lean --json`, or a commit, branch or tag",
        )
    return done.stdout.strip()


def build_revision(sha: str) -> Path:
    """weir-lean of that commit, from the cache or built now (about a minute).

    FabricError if it cannot be built, or has no weir-lean.
    """
    folder = _folder(f"{sha}-{_processor()}")
    program = folder / "weir-lean"
    if program.exists():
        return program
    folder.parent.mkdir(parents=True, exist_ok=True)
    with scratch(folder.parent, _SCRATCH) as made:
        tree, build = made / "tree", made / "build"
        tree.mkdir()
        archive = made / "tree.tar"
        _run([*_git(), "archive", "--output", str(archive), sha])
        _run(["tar", "-x", "-f", str(archive), "-C", str(tree)])
        if not (tree / "native" / "app" / "lean.c").exists():
            raise FabricError(f"revision {sha[:12]} has no weir-lean", "take a later one as the baseline")
        _build(tree, build)
        folder.mkdir(exist_ok=True)
        shutil.copy2(build / _PROGRAM, folder / "unfinished")
        (folder / "unfinished").rename(program)
    return program


def _processor() -> str:
    """Of the flags that GCC has for this processor: a tree with its builds may be carried to another."""
    flags = _run([str(_source() / "tools" / "processor-flags"), "cc"])
    return hashlib.sha256(flags.encode()).hexdigest()[:12]


def _folder(name: str) -> Path:
    """In the source tree, or of the user's own if it may not be written. FabricError if neither may."""
    builds = _source() / "build" / "lean"
    folder, own = builds / name, cache() / "lean" / name
    there = next(one for one in folder.parents if one.exists())
    if (folder / "weir-lean").exists() or os.access(there, os.W_OK):
        return folder
    try:
        own.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FabricError(
            f"weir-lean of an earlier revision cannot be kept: {builds} and {own.parent} cannot be written",
            "set XDG_CACHE_HOME to a directory of yours",
        ) from error
    return own


def _build(tree: Path, build: Path) -> None:
    _run(["meson", "setup", str(build), str(tree), "--buildtype=release", "-Dmarch=native"])
    _run(["ninja", "-C", str(build), _PROGRAM])


def _run(argv: list[str]) -> str:
    try:
        done = subprocess.run(
            argv, capture_output=True, text=True, check=False, env=os.environ | {"LC_ALL": "C"}
        )
    except OSError as error:
        raise FabricError(f"{argv[0]} cannot be run: {error}", "see `make setup`") from error
    if done.returncode != 0:
        said = [line for line in done.stdout.splitlines() if "rror" in line] or done.stderr.splitlines()
        raise FabricError(f"{argv[0]} failed: {said[0] if said else 'it said nothing'}")
    return done.stdout
