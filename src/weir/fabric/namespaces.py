# SPDX-License-Identifier: Apache-2.0
"""Step kinds netns and sysctl."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from weir.fabric import namespace
from weir.fabric.errors import FabricError
from weir.fabric.step_kind import Facts, Site
from weir.plan import Step


class Netns:
    """A network namespace."""

    def do(self, step: Step, site: Site) -> Facts:
        """FabricError if one of that name is there: it would not be ours, and undo must not touch it."""
        name = str(step.params["netns"])
        if (namespace.DIRECTORY / name).exists():
            raise FabricError(f"there is a network namespace {name} already", "it is not Weir's: rename it")
        site.note({"ours": True})
        try:
            namespace.create(name)
        except OSError as error:
            raise FabricError(
                f"cannot make network namespace {name}: {error}", "run as root in a full Linux"
            ) from error
        return {}

    def undo(self, params: Mapping[str, Any], facts: Facts, site: Site) -> None:
        """Deletes it; links inside go with it."""
        if not facts.get("ours"):
            return
        site.forget(str(params["netns"]))
        namespace.delete(str(params["netns"]))


class Sysctl:
    """Settings inside a namespace; they go with it."""

    def do(self, step: Step, site: Site) -> Facts:  # noqa: ARG002
        """Writes each; a setting that this kernel lacks is passed over."""
        settings = step.params["settings"]
        assert isinstance(settings, list)
        with namespace.inside(str(step.params["netns"])):
            for setting in settings:
                key, value = str(setting).split("=")
                path = Path("/proc/sys") / key.replace(".", "/")
                if path.exists():
                    path.write_text(value)
        return {}

    def undo(self, params: Mapping[str, Any], facts: Facts, site: Site) -> None:
        """Nothing: they are gone with the namespace."""
