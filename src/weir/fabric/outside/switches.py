# SPDX-License-Identifier: Apache-2.0
"""Switches of a core from one thread to another, as the kernel tells them: perf_event_open(2) with
`context_switch` on a dummy event. It costs nothing while nobody switches, and needs no tracing file system.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import struct
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_SYSCALL = 298  # x86-64
_TYPE_SOFTWARE, _CONFIG_DUMMY = 1, 9
_ATTRIBUTES_BYTES = 128
_SAMPLE_TID, _SAMPLE_TIME, _SAMPLE_CPU = 1 << 1, 1 << 2, 1 << 7
_DISABLED, _SAMPLE_ID_ALL, _USE_CLOCKID, _CONTEXT_SWITCH = 1 << 0, 1 << 18, 1 << 25, 1 << 26
_CLOCKID_AT = 92
_CLOEXEC = 8
_ENABLE, _DISABLE = 0x2400, 0x2401
_DATA_PAGES = 256
"""A megabyte: 26,000 switches of a core. A kernel that forwards does so many in seconds: whoever looks for
longer has to `drain`."""
_RECORD_MOST = 64
"""Bytes; where no more is left the kernel has lost some, or will with the next one."""
_KEPT_MOST = 16 << 20
"""Of what was drained, in bytes: 400,000 switches of a core from `begin` to `end`."""
_HEAD_AT, _TAIL_AT = 1024, 1032
_RECORD_LOST, _RECORD_SWITCH_CPU_WIDE = 2, 15
_MISC_SWITCH_OUT, _MISC_PREEMPTED = 1 << 13, 1 << 14
_HEAD = struct.Struct("IHH")
_WHO = struct.Struct("4xI4xIQ")
"""Of a switch: the other thread, the thread, and when."""

_libc = ctypes.CDLL(None, use_errno=True)


class Switch(NamedTuple):
    """At `raw_ns` (CLOCK_MONOTONIC_RAW) the core went from one thread to another; 0: nobody."""

    raw_ns: int
    from_tid: int
    to_tid: int
    preempted: bool = False
    """The one that lost it would have gone on."""


class Told(NamedTuple):
    """What the kernel told of a core."""

    switches: list[Switch]
    to_raw_ns: int | None = None
    """Until then all are there: some that followed were lost. None: none were."""


class CoreSwitches:
    """Of one core. OSError if the kernel does not allow it."""

    def __init__(self, core: int) -> None:
        self.core = core
        self._drained: list[bytes] = []
        self._is_full = False
        self._fd = _open(core)
        try:
            self._ring = mmap.mmap(self._fd, (1 + _DATA_PAGES) * mmap.PAGESIZE)
        except OSError:
            os.close(self._fd)
            raise

    def fileno(self) -> int:
        """Readable when half of what the kernel keeps is full."""
        return self._fd

    def begin(self) -> None:
        """Forgets what was, and looks from now on."""
        self._drained, self._is_full = [], False
        struct.pack_into("Q", self._ring, _TAIL_AT, self._head())
        _libc.ioctl(self._fd, _ENABLE, 0)

    def drain(self) -> None:
        """Makes room, so that the kernel loses nothing."""
        size = _DATA_PAGES * mmap.PAGESIZE
        tail: int = struct.unpack_from("Q", self._ring, _TAIL_AT)[0]
        head = self._head()
        if not self._is_full:
            from_at, to_at = mmap.PAGESIZE + tail % size, mmap.PAGESIZE + head % size
            if from_at <= to_at and head - tail < size:
                self._drained.append(self._ring[from_at:to_at])
            else:
                self._drained.append(self._ring[from_at:] + self._ring[mmap.PAGESIZE : to_at])
            kept = sum(map(len, self._drained))
            # What is told of the loss comes with the next switch, which nobody may read.
            self._is_full = head - tail > size - _RECORD_MOST or kept > _KEPT_MOST
        struct.pack_into("Q", self._ring, _TAIL_AT, head)

    def end(self) -> Told:
        """Who had the core since, from one switch to the next."""
        _libc.ioctl(self._fd, _DISABLE, 0)
        self.drain()
        switches, lost = _switches(b"".join(self._drained))
        self._drained = []
        if lost or self._is_full:
            return Told(switches, switches[-1].raw_ns if switches else 0)
        return Told(switches)

    def close(self) -> None:
        """Gives everything back."""
        self._ring.close()
        os.close(self._fd)

    def _head(self) -> int:
        head: int = struct.unpack_from("Q", self._ring, _HEAD_AT)[0]
        return head


def _switches(data: bytes) -> tuple[list[Switch], bool]:
    """All records of it; and whether some were lost, which is told where they would be: then those before.
    What was lost before the first one is of an earlier time."""
    found: list[Switch] = []
    at = 0
    while at < len(data):
        kind, misc, length = _HEAD.unpack_from(data, at)
        if kind == _RECORD_LOST and at > 0:
            return found, True
        if kind == _RECORD_SWITCH_CPU_WIDE:
            other, tid, raw_ns = _WHO.unpack_from(data, at + _HEAD.size)
            from_tid, to_tid = (tid, other) if misc & _MISC_SWITCH_OUT else (other, tid)
            found.append(Switch(raw_ns, from_tid, to_tid, bool(misc & _MISC_PREEMPTED)))
        at += length
    return found, False


def _open(core: int) -> int:
    attributes = bytearray(_ATTRIBUTES_BYTES)
    sample = _SAMPLE_TID | _SAMPLE_TIME | _SAMPLE_CPU
    flags = _DISABLED | _SAMPLE_ID_ALL | _USE_CLOCKID | _CONTEXT_SWITCH
    struct.pack_into(
        "IIQQQQQ", attributes, 0, _TYPE_SOFTWARE, _ATTRIBUTES_BYTES, _CONFIG_DUMMY, 0, sample, 0, flags
    )
    struct.pack_into("i", attributes, _CLOCKID_AT, time.CLOCK_MONOTONIC_RAW)
    fd: int = _libc.syscall(_SYSCALL, bytes(attributes), -1, core, -1, _CLOEXEC)
    if fd < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return fd


def spans(switches: Sequence[Switch], from_ns: int, to_ns: int) -> Iterator[tuple[int, int, int]]:
    """From, to and whose, over all of the time: between one switch and the next, before and behind them."""
    tids = [one.from_tid for one in switches[:1]] + [one.to_tid for one in switches]
    times = [from_ns, *(one.raw_ns for one in switches), to_ns]
    for tid, begin, end in zip(tids, times, times[1:], strict=False):
        if end > begin:
            yield begin, end, tid
