# SPDX-License-Identifier: Apache-2.0
"""Takes down what stands in a journal, the last thing first."""

from __future__ import annotations

import time
from typing import Any

from weir.verify.driver import CloudError

from . import kinds, sweep
from .connection import REQUEST_S, AnsweredError, Cloud, Deadline
from .journal import Journal, Made

LIMIT_S = 180.0
"""For all of it: clouds that are ill get as long to let go."""
UNSURE_S = 60.0
"""How long what nobody answered for may still come: a service goes on behind a gateway that has given up."""
_AGAIN_S = 2.0


def remove(cloud: Cloud, journal: Journal) -> None:
    """All of it; what the cloud refuses is asked for again until the time is over. CloudError names what
    stays, and the journal has it."""
    limit_s = LIMIT_S
    deadline, age_s = Deadline(limit_s), journal.age_s()
    unsure, waiting = Deadline(UNSURE_S - age_s), Deadline(REQUEST_S + UNSURE_S - age_s)
    everywhere = _everywhere(journal)  # also once the project is gone
    why: dict[Made, str] = {}
    missed: set[Made] = set()
    while True:
        for one in list(reversed(journal.made)):
            try:
                there = _remove(cloud, one, deadline, everywhere=everywhere)
            except CloudError as error:
                if deadline.left_s() > 0 or one not in why:
                    why[one] = str(error)
                continue
            # Who was killed while waiting for an answer has not written when it failed to come.
            may_come_s = (unsure if one in journal.given_up else waiting).left_s()
            if there or (one in missed and (one in journal.answered or may_come_s <= 0)):
                journal.gone(one)
            else:
                missed.add(one)
                why[one] = "it is not known whether it was made"
        if not journal.made:
            journal.close()
            return
        if deadline.left_s() <= _AGAIN_S:
            break
        time.sleep(_AGAIN_S)
    left = "; ".join(f"{one.kind} {one.name} ({why.get(one, 'not tried')})" for one in journal.made)
    journal.close()
    raise CloudError(
        f"not removed within {limit_s:.0f} s: {left}",
        f"the next run on this cloud tries again, from {journal.path}",
    )


def _everywhere(journal: Journal) -> bool:
    """Who made a project, or a flavor, is an administrator."""
    return any(one.kind in ("project", "flavor") for one in journal.made)


def _remove(cloud: Cloud, one: Made, deadline: Deadline, *, everywhere: bool) -> bool:
    """Whether there was one, or the cloud had said so."""
    if one.kind == sweep.KIND:
        sweep.sweep(cloud, one.name, deadline)
        return True
    known = [one.id] if one.id is not None else kinds.found(cloud, one, deadline, everywhere=everywhere)
    for id_ in known:
        if one.kind == "router":
            _clear(cloud, id_, deadline)
        if one.kind == "project":
            _empty(cloud, id_, deadline)
        try:
            with cloud.asking(f"remove {one.kind} {one.name}", deadline):
                kinds.KINDS[one.kind].of(cloud, "delete")(id_, ignore_missing=True)
        except AnsweredError as error:
            if error.status != kinds.MISSING:
                raise
        if one.kind == "server":
            _await_gone(cloud, one, id_, deadline)
    return bool(known)


def _await_gone(cloud: Cloud, one: Made, id_: str, deadline: Deadline) -> None:
    """Its removal is begun, and takes its time."""
    last: Any = None
    while (last := kinds.looked_at(cloud, one.kind, id_, deadline)) is not None:
        if str(last.status).upper() == "DELETED":
            return
        if deadline.left_s() <= _AGAIN_S:
            raise CloudError(f"it is {last.status}, and does not go")
        time.sleep(1.0)


def _clear(cloud: Cloud, router: str, deadline: Deadline) -> None:
    """A router with interfaces does not go. It is Weir's, and so are they."""
    for port in kinds.interfaces(cloud, router, deadline):
        with cloud.asking(f"take the interfaces of router {router} away", deadline):
            cloud.sdk.network.remove_interface_from_router(router, port_id=port.id)


def _empty(cloud: Cloud, project: str, deadline: Deadline) -> None:
    """Neutron makes each project a security group of its own accord, and leaves it there."""
    with cloud.asking(f"empty project {project}", deadline):
        for group in cloud.sdk.network.security_groups(project_id=project):
            if group.project_id == project:
                cloud.sdk.network.delete_security_group(group.id, ignore_missing=True)
