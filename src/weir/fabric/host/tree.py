# SPDX-License-Identifier: Apache-2.0
"""/proc and /sys under a root: of this machine, or recorded from another one."""

from __future__ import annotations

from pathlib import Path

from weir.base.cores import parse_cpus
from weir.host.facts import Unseen


class Tree:
    """Reads files; remembers what it was not allowed to read. Paths are relative: "proc/cmdline"."""

    def __init__(self, root: Path = Path("/")) -> None:
        self.root = root
        self.real = root == Path("/")
        self._unseen: dict[str, str] = {}

    def text(self, path: str) -> str | None:
        """The file's text without blanks around it; None if there is no such file, or it may not be read."""
        try:
            return (self.root / path).read_text(errors="replace").strip()
        except PermissionError:
            self._unseen[f"/{path}"] = "not readable for this user"
        except OSError:
            pass  # no such file, or one that this kernel does not answer
        return None

    def held(self, path: str) -> str | None:
        """The same of a file that was read before: None if it is gone. OSError where it is there and cannot
        be read now, as for want of memory or of a descriptor."""
        try:
            return (self.root / path).read_text(errors="replace").strip()
        except FileNotFoundError:
            return None

    def number(self, path: str) -> int | None:
        """A file that holds one whole number."""
        text = self.text(path)
        try:
            return None if text is None else int(text)
        except ValueError:
            return None

    def flag(self, path: str) -> bool | None:
        """A file that holds 0 or something else."""
        number = self.number(path)
        return None if number is None else number != 0

    def cpus(self, path: str) -> tuple[int, ...]:
        """A file that holds a list of CPUs; empty without it."""
        try:
            return parse_cpus(self.text(path) or "")
        except ValueError:
            return ()  # "(null)", where the kernel has the file and not the feature

    def glob(self, pattern: str) -> list[Path]:
        """Paths below the root, in order; by number where names end in one."""
        found = [path.relative_to(self.root) for path in self.root.glob(pattern)]
        return sorted(found, key=lambda path: [(len(part), part) for part in path.parts])

    def link(self, path: str) -> str:
        """The last part of what a symbolic link points to; empty if it is none."""
        whole = self.root / path
        return whole.readlink().name if whole.is_symlink() else ""

    def exists(self, path: str) -> bool:
        """Whether there is such a file or directory."""
        return (self.root / path).exists()

    def hide(self, what: str, why: str) -> None:
        """Notes something else that cannot be seen."""
        self._unseen[what] = why

    def unseen(self) -> tuple[Unseen, ...]:
        """What could not be read, in order."""
        return tuple(Unseen(what=what, why=why) for what, why in self._unseen.items())
