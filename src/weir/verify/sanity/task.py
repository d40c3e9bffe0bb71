# SPDX-License-Identifier: Apache-2.0
"""Rally's task of one scenario, from its row."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weir.verify.driver import ScenarioWanted

from .table import Of, Scenario, Template

_TEMPLATE_VERSION = "2014-10-16"


@dataclass(frozen=True)
class Filling:
    """What a cloud puts in place of words, and where templates become files."""

    values: Mapping[Of, Any]
    roles: Collection[str]
    """That the cloud has: others are not asked for."""
    directory: Path


def task(scenario: Scenario, wanted: ScenarioWanted, filling: Filling) -> dict[str, Any]:
    """In Rally's format 2. Writes the scenario's templates."""
    contexts = dict(scenario.contexts)
    if scenario.users:
        contexts["users"] = {"tenants": wanted.projects, "users_per_tenant": wanted.users_per_project}
    if "roles" in contexts:
        contexts["roles"] = [one for one in contexts["roles"] if one in filling.roles]
        if not contexts["roles"]:
            del contexts["roles"]
    sla: dict[str, Any] = {"failure_rate": {"max": 100 * wanted.failure_ratio}}
    if wanted.time_s is not None:
        sla["max_seconds_per_iteration"] = wanted.time_s
    return {
        "version": 2,
        "title": scenario.name,
        "subtasks": [
            {
                "title": scenario.name,
                "scenario": {scenario.plugin: _filled(scenario.arguments, filling)},
                "runner": {"constant": {"times": wanted.iterations, "concurrency": wanted.concurrency}},
                "contexts": contexts,
                "sla": sla,
            }
        ],
    }


def _filled(value: Any, filling: Filling) -> Any:
    if isinstance(value, Of):
        return filling.values[value]
    if isinstance(value, Template):
        path = filling.directory / value.name
        text = {"heat_template_version": _TEMPLATE_VERSION, "resources": value.resources}
        path.write_text(json.dumps(text))
        return str(path)
    if isinstance(value, Mapping):
        return {key: _filled(one, filling) for key, one in value.items()}
    return list(value) if isinstance(value, list | tuple) else value
