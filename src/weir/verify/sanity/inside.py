# SPDX-License-Identifier: Apache-2.0
"""Runs one task of Rally's. This is a program, in a process of its own, and imports nothing of Weir's.

Its word is the number of a descriptor with a request, in JSON: `platform`, what Rally calls so, with who logs
in; `task`; `tag`, with which the names of all that Rally makes begin; `poll_s`, how often it looks at what
takes its time; `report`, the path of a file that is written: Rally's report, or {"refused": why}.

Rally's database is in memory, and gone with this process: there is a password in it.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

ENVIRONMENT = "weir"


def main() -> None:
    """Exit code 0 if there is a report, of whatever."""
    with os.fdopen(int(sys.argv[1])) as said:
        request: dict[str, Any] = json.load(said)
    from rally.exceptions import RallyException

    try:
        report = run(request)
    except RallyException as error:
        report = json.dumps({"refused": str(error)})
    path = Path(request["report"])
    path.touch(mode=0o600)
    path.write_text(report)


def run(request: dict[str, Any]) -> str:
    """The task's report. RallyException where it is not begun."""
    from rally import api, plugins
    from rally.common import cfg, objects
    from rally.common.db import schema
    from rally.env import env_mgr
    from rally.task import engine, task_cfg

    rally = api.API(config_file=os.devnull, skip_db_check=True)  # no configuration but this one
    cfg.CONF.set_override("connection", "sqlite://", group="database")
    plugins.load()
    look_often(cfg.CONF, request["poll_s"])
    name_all(request["tag"])
    schema.schema_create()
    environment = env_mgr.EnvManager.create(ENVIRONMENT, {"existing@openstack": request["platform"]})
    task = objects.Task(env_uuid=environment.uuid)
    run = engine.TaskEngine(task_cfg.TaskConfig(request["task"]), task, environment)
    run.validate(only_syntax=True)  # the whole would make users and projects, look, and remove them again
    run.run()
    exported = rally.task.export(tasks=[task["uuid"]], output_type="json")
    return str(exported["print"])


def look_often(configuration: Any, poll_s: float) -> None:
    """Rally sleeps one or two seconds before it looks at what it made, and between looks: that would be most
    of the time of what is quick."""
    for name in list(configuration.openstack):
        if name.endswith("_prepoll_delay"):
            configuration.set_override(name, 0.0, group="openstack")
        elif name.endswith("_poll_interval"):
            configuration.set_override(name, poll_s, group="openstack")


def name_all(tag: str) -> None:
    """Rally's own names begin alike in every task, and could be anybody's."""
    from rally.common.utils import RandomNameGeneratorMixin

    todo: list[Any] = [RandomNameGeneratorMixin]
    while todo:
        one = todo.pop()
        one.RESOURCE_NAME_FORMAT = f"{tag}_XXX_XXXXXXXX"
        todo += one.__subclasses__()


if __name__ == "__main__":
    main()
