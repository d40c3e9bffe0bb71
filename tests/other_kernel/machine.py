# SPDX-License-Identifier: Apache-2.0
"""Debian's kernel in an emulated machine (QEMU TCG), for what the kernel at hand lacks: IPVS, VLANs, the
datapath of Open vSwitch. The machine has all files of this host, and what it writes is gone with it. It ends
with whoever made it, also where that is killed."""

from __future__ import annotations

import gzip
import os
import shlex
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from weir.base import SOURCE_TREE
from weir.base.error import FabricError
from weir.fabric.lock import scratch
from weir.fabric.process import ends_with_maker
from weir.fabric.vm.image import cache
from weir.fabric.vm.image_build import Member, initramfs, portable_weir_dp
from weir.fabric.vm.packages import Kernel, kernel, program

_MODULES = ("virtio_pci", "virtiofs", "overlay")
_SHARED_BY = Path("/usr/lib/qemu/virtiofsd")
_CPUS, _MEMORY = 2, "4G"
_UP_S = 10.0
_LAST_LINES = 5
_EXIT = "exit code "
_SCRIPT = """\
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH={python_path} WEIR_DP={weir_dp}
ip link set lo up
cd {directory}
{command} >/dev/ttyS1 2>&1 </dev/null
echo "{exit}$?" >/dev/ttyS1
exec busybox poweroff -f
"""


@dataclass(frozen=True)
class Ran:
    """What a command did there."""

    code: int
    said: str


def run(words: Sequence[str], limit_s: float) -> Ran:
    """In the source's directory, as root, with a weir-dp that runs on any processor.

    FabricError if the machine does not come up, or the command does not come to its end within `limit_s`.
    """
    assert SOURCE_TREE is not None
    weir_dp = portable_weir_dp(Path(SOURCE_TREE))
    place = cache() / "other-kernel"
    place.mkdir(parents=True, exist_ok=True)
    with kernel(cache() / "packages") as base, scratch(place, "run-") as own:
        modules = base.modules.parent
        subprocess.run(["depmod", "-b", str(modules.parent.parent), base.modules.name], check=True)
        script = own / "script"
        script.write_text(
            _SCRIPT.format(
                python_path=os.environ.get("PYTHONPATH", ""), weir_dp=weir_dp, directory=SOURCE_TREE,
                command=shlex.join(words), exit=_EXIT,
            )
        )  # fmt: skip
        (own / "initramfs").write_bytes(gzip.compress(_first_files(base), 1))
        more = f"weir.modules={modules} weir.source={SOURCE_TREE} weir.run={script}"
        with _shared(own / "files.sock"):
            _emulated(base, own, more, limit_s)
        return _ran(own)


def _first_files(base: Kernel) -> bytes:
    modules = base.ordered(_MODULES)
    files = {
        "init": Member(Path(__file__).with_name("init").read_bytes(), 0o755),
        "bin/busybox": Member(program("busybox", "busybox-static").read_bytes(), 0o755),
        "modules.list": Member("".join(f"{path.name}\n" for path in modules).encode()),
    }
    return initramfs(files | {f"modules/{path.name}": Member(path.read_bytes()) for path in modules})


@contextmanager
def _shared(socket: Path) -> Iterator[None]:
    """The host's files, for a machine that reads them."""
    if not _SHARED_BY.is_file():
        raise FabricError(f"there is no {_SHARED_BY} here", "install the Debian package qemu-system-common")
    argv = [str(_SHARED_BY), f"--socket-path={socket}", "-o", "source=/,sandbox=chroot,cache=always"]
    with subprocess.Popen(
        argv,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=ends_with_maker(),  # noqa: PLW1509 - there are no threads here
    ) as started:
        try:
            until = time.monotonic() + _UP_S
            while not socket.exists():
                if started.poll() is not None or time.monotonic() > until:
                    raise FabricError("virtiofsd does not start", f"try {shlex.join(argv)} as root")
                time.sleep(0.05)
            yield
        finally:
            started.terminate()


def _emulated(base: Kernel, own: Path, more: str, limit_s: float) -> None:
    argv = [
        str(program("qemu-system-x86_64", "qemu-system-x86")),
        *("-accel", "tcg,thread=multi", "-cpu", "max,-la57", "-smp", str(_CPUS), "-m", _MEMORY),
        *(
            "-object",
            f"memory-backend-memfd,id=memory,size={_MEMORY},share=on",
            "-numa",
            "node,memdev=memory",
        ),
        *("-chardev", f"socket,id=files,path={own / 'files.sock'}"),
        *("-device", "vhost-user-fs-pci,chardev=files,tag=host"),
        *("-kernel", str(base.image), "-initrd", str(own / "initramfs")),
        *("-append", f"console=ttyS0 quiet panic=-1 tsc=reliable mitigations=off {more}"),
        *("-serial", f"file:{own / 'console'}", "-serial", f"file:{own / 'said'}"),
        *("-display", "none", "-monitor", "none", "-no-reboot"),
    ]
    try:
        done = subprocess.run(
            argv,
            timeout=limit_s,
            capture_output=True,
            text=True,
            check=False,
            preexec_fn=ends_with_maker(),
        )
    except subprocess.TimeoutExpired as late:
        raise FabricError(f"not done within {limit_s:.0f} s; it has said: {_end(own)}") from late
    if done.returncode != 0:
        raise FabricError(f"QEMU ended with exit code {done.returncode}: {done.stderr.strip()}")


def _ran(own: Path) -> Ran:
    said, found, code = (own / "said").read_text(errors="replace").replace("\r", "").rpartition(_EXIT)
    if not found:
        raise FabricError(f"the machine did not come to the command's end: {_end(own)}")
    return Ran(int(code), said)


def _end(own: Path) -> str:
    """The last lines of its console, and of what the command said."""
    both = ((own / name).read_text(errors="replace") for name in ("console", "said"))
    return " / ".join(line.strip() for text in both for line in text.splitlines()[-_LAST_LINES:])
