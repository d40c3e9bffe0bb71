# SPDX-License-Identifier: Apache-2.0
"""What QEMU gets open, because its own user may open none of it: images, the overlay, the console, taps."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from weir.base.error import FabricError
from weir.fabric.links import opened_tap
from weir.fabric.vm import disk
from weir.fabric.vm.command_line import Opened
from weir.fabric.vm.image import Image
from weir.fabric.vm.storage import Stored
from weir.plan.guest_steps import slots

VHOST_NET = Path("/dev/vhost-net")


@contextmanager
def opened(params: Mapping[str, Any], stored: Stored, made: Image | None, console: int) -> Iterator[Opened]:
    """For the step `vm`; closed here after the body. `console`: where the guest's console ends.

    FabricError, of what cannot be opened.
    """
    with ExitStack() as stack:

        def kept(make: Callable[[], int]) -> int:
            number = make()
            stack.callback(os.close, number)
            return number

        def file(path: Path, flags: int = os.O_RDONLY) -> int:
            try:
                return kept(lambda: os.open(path, flags | os.O_CLOEXEC))
            except OSError as error:
                raise FabricError(f"cannot open {path} for QEMU: {error.strerror}") from error

        taps = {
            name: tuple(
                kept(partial(opened_tap, str(params["netns"]), name, int(params["queues"])))
                for _ in range(int(params["queues"]))
            )
            for name in _taps(params)
        }
        by_kernel = {} if not os.access(VHOST_NET, os.R_OK | os.W_OK) else _fast(params, taps)
        vhosts = {
            name: tuple(file(VHOST_NET, os.O_RDWR) for _ in queues) for name, queues in by_kernel.items()
        }
        if made is not None:
            kernel, initramfs = (file(path) for path in (made.kernel, made.initramfs))
            for path, number in ((made.kernel, kernel), (made.initramfs, initramfs)):
                _require_readable(path, number)
            yield Opened(console, taps, vhosts, kernel=kernel, initramfs=initramfs)
            return
        image, form = Path(str(params["image"])), disk.of(params)
        origin = file(image)
        disk.checked(image, form, origin)
        overlay, seed = file(stored.overlay, os.O_RDWR), file(stored.seed, os.O_RDONLY | os.O_DIRECTORY)
        yield Opened(console, taps, vhosts, image=origin, overlay=overlay, seed=seed)


def _taps(params: Mapping[str, Any]) -> list[str]:
    names = [str(params[f"{side}_{kind}"]) for side in slots(params) for kind in ("interface", "primary")]
    return [name for name in names if name]


def _fast(params: Mapping[str, Any], taps: Mapping[str, tuple[int, ...]]) -> Mapping[str, tuple[int, ...]]:
    """Those that the kernel's vhost-net can carry: of virtio devices."""
    return {name: taps[name] for side in slots(params) if (name := str(params[f"{side}_interface"]))}


def _require_readable(path: Path, number: int) -> None:
    """QEMU opens a kernel by its name, /dev/fd/N, so its permissions count once more."""
    if not os.fstat(number).st_mode & stat.S_IROTH:
        raise FabricError(
            f"{path} is not for everybody to read, and so not for QEMU", f"run `chmod a+r {path}`"
        )
