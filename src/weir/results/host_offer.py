# SPDX-License-Identifier: Apache-2.0
"""What a host offers to whoever has labs measured on it."""

from __future__ import annotations

from weir.base.record import FixedRecord


class HostOffer(FixedRecord):
    """One host, as it is now."""

    node: str
    """Name of the machine."""
    boot_id: str
    """Of the kernel since it was booted: two hosts that share it are one machine."""
    architecture: str
    """As `uname -m` says it: "x86_64"."""
    weir: str
    """Version and revision."""
    cpus: tuple[int, ...]
    """CPUs that a measurement there may have."""
    cpus_shared: tuple[int, ...] = ()
    """Of these, where whoever has begun the measurement may run, too, such as Ray."""
    hugepages_2m_free: int
    """Hugepages of 2 MiB that nobody has; a deployment adds what it lacks, where the kernel lets it."""
    technologies: dict[str, str | None]
    """Each switching technology, and what it lacks there; None: it works."""

    @property
    def resources(self) -> dict[str, float]:
        """As Ray's resources: `weir` is the right to measure, which one campaign has at a time; the rest says
        what a node has."""
        works = [f"weir:{name}" for name, lacking in self.technologies.items() if lacking is None]
        return {
            "weir": 1,
            "weir:cpus": len(self.cpus),
            "weir:hugepages-2m": self.hugepages_2m_free,
            **dict.fromkeys(works, 1),
        }

    @property
    def labels(self) -> dict[str, str]:
        """As Ray's labels."""
        version, _, revision = self.weir.partition("+")
        found = {"weir.architecture": self.architecture, "weir.version": version}
        return found | ({"weir.revision": revision} if revision else {})
