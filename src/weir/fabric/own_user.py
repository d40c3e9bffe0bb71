# SPDX-License-Identifier: Apache-2.0
"""Who QEMU, and a program of the user's, run as: a user that nobody is, another one for each deployment.

What gets out of a guest, or a program that does harm, has then what that user has, and not what root has.
`nobody` would be shared with whatever else runs as nobody, whose files and processes it could touch.
"""

from __future__ import annotations

import grp
import hashlib
import pwd
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from weir.base.error import FabricError

# Numbers that systemd ("Users, Groups, UIDs and GIDs") and /etc/login.defs give to nobody. The second range
# is for containers that have 65,536 users.
_RANGES = (range(0x70000000, 0x78000000), range(60706, 61184))
_TRIED = 256


def unused_id(name: str, proc: Path = Path("/proc/self")) -> int:
    """A number for a user and for its group, always the same one for that name where it can be: no user, no
    group, and one that this user namespace has. FabricError if it has none."""
    first = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8])
    users, groups = _mapped(proc / "uid_map"), _mapped(proc / "gid_map")
    for numbers in _RANGES:
        for offset in range(min(len(numbers), _TRIED)):
            number = numbers[(first + offset) % len(numbers)]
            there = all(any(number in one for one in mapped) for mapped in (users, groups))
            if there and not _taken(number):
                return number
    raise FabricError(
        "there is no unused number for a user of its own",
        f"give the container users and groups {_RANGES[-1][0]} to {_RANGES[-1][-1]}: see {proc}/uid_map",
    )


def _mapped(path: Path) -> list[range]:
    found = []
    for line in path.read_text().splitlines():
        inside, _, count = map(int, line.split())
        found.append(range(inside, inside + count))
    return found


def _taken(number: int) -> bool:
    with suppress(KeyError):
        pwd.getpwuid(number)
        return True
    with suppress(KeyError):
        grp.getgrgid(number)
        return True
    return False


def run_as(number: int, groups: Sequence[int] = (), capabilities: str = "") -> list[str]:
    """What goes before a command line, which root starts: the user, its groups, and no way back.
    `capabilities`: what it may nevertheless, as "+net_raw"."""
    own = [f"--inh-caps={capabilities}", f"--ambient-caps={capabilities}"]
    argv = ["setpriv", f"--reuid={number}", f"--regid={number}", "--no-new-privs"]
    argv += own if capabilities else ["--inh-caps=-all"]
    return [*argv, f"--groups={','.join(map(str, groups))}" if groups else "--clear-groups", "--"]
