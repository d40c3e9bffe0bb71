# SPDX-License-Identifier: Apache-2.0
"""The kinds of things that a case needs of a cloud: how each is made, found, looked at and removed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from .connection import AnsweredError, Cloud, Deadline
from .journal import Journal, Made

MISSING, FORBIDDEN = 404, 403
_REFUSED = range(400, 500)
"""Then it was not made. After other errors it may have been."""
_OF_GATEWAYS = (502, 503, 504)
"""Behind which the request may still be on its way."""


@dataclass(frozen=True)
class Kind:
    """By the SDK's names: its service, its methods' words, and the key that the name is under."""

    service: str
    word: str
    plural: str
    key: str = "name"
    described: bool = True
    """Whether it has a description, which then is its name too: a second witness that it is Weir's."""

    def of(self, cloud: Cloud, verb: str) -> Callable[..., Any]:
        """The SDK's method, for a body of `asking`: it may ask the service for its versions first."""
        if (self.word, verb) == ("image", "create"):  # its method wants the data, too
            return partial(_new_image, cloud.sdk.image)
        method: Callable[..., Any] = getattr(getattr(cloud.sdk, self.service), f"{verb}_{self.word}")
        return method


def _new_image(service: Any, **attributes: Any) -> Any:
    from openstack.image.v2.image import Image

    return Image.new(**attributes).create(service)


KINDS = {
    "project": Kind("identity", "project", "projects"),
    "image": Kind("image", "image", "images", described=False),
    "flavor": Kind("compute", "flavor", "flavors"),
    "key pair": Kind("compute", "keypair", "keypairs", described=False),
    "security group": Kind("network", "security_group", "security_groups"),
    "network": Kind("network", "network", "networks"),
    "subnet": Kind("network", "subnet", "subnets"),
    "router": Kind("network", "router", "routers"),
    "port": Kind("network", "port", "ports"),
    "floating address": Kind("network", "ip", "ips", key="description"),
    "server": Kind("compute", "server", "servers"),
}


def make(cloud: Cloud, journal: Journal, kind: str, part: str, deadline: Deadline, **attributes: Any) -> Any:
    """One of that kind, written down before and after. CloudError."""
    known, name = KINDS[kind], f"{journal.tag}-{part}"
    if known.described:
        attributes["description"] = name
    if known.key == "name":
        attributes["name"] = name
    try:
        with cloud.asking(f"make {kind} {part}", deadline):
            create = known.of(cloud, "create")
            journal.announce(kind, name)  # what is not asked for is not looked for
            made = create(**attributes)
            if not made.id:  # the SDK passes over a body that it cannot read
                raise ValueError("without an identifier")
    except AnsweredError as error:
        if Made(kind, name) not in journal.made:
            raise
        if error.status in _REFUSED:
            journal.gone(Made(kind, name))
        elif error.status is not None and error.status not in _OF_GATEWAYS:
            journal.answered.add(Made(kind, name))
        else:
            journal.unanswered(kind, name)
        raise
    journal.known(kind, name, str(made.id))
    return made


def looked_at(cloud: Cloud, kind: str, id_: str, deadline: Deadline | None = None) -> Any | None:
    """As it is now; None: there is none."""
    try:
        with cloud.asking(f"look at {kind} {id_}", deadline):
            there = KINDS[kind].of(cloud, "get")(id_)
            if getattr(there, KINDS[kind].key) is None:
                raise ValueError("without a name")
            return there
    except AnsweredError as error:
        if error.status == MISSING:
            return None
        raise


def found(cloud: Cloud, one: Made, deadline: Deadline, *, everywhere: bool) -> list[str]:
    """Identifiers of what has been announced, and may have been made: of exactly that name, which is of no
    other run, and described so where it can be. `everywhere`: an administrator looks in all projects."""
    kind = KINDS[one.kind]
    wanted: dict[str, object] = {kind.key: one.name}
    if one.kind == "flavor":
        wanted = {"is_public": None} if everywhere else {}
    elif one.kind == "key pair":
        wanted = {}
    elif one.kind == "server" and everywhere:
        wanted["all_projects"] = True
    with cloud.asking(f"look for {one.kind} {one.name}", deadline):
        listed = list(getattr(getattr(cloud.sdk, kind.service), kind.plural)(**wanted))
    return [
        str(each.id)
        for each in listed
        if getattr(each, kind.key) == one.name and (not kind.described or each.description == one.name)
    ]


def interfaces(cloud: Cloud, router: str, deadline: Deadline) -> list[Any]:
    """Ports by which a router is in its networks. Their owner is called otherwise where routers are
    distributed or highly available, and the SDK knows how."""
    with cloud.asking(f"look for the interfaces of router {router}", deadline):
        there = cloud.sdk.list_router_interfaces({"id": router}, "internal")
        return [one for one in there if one.device_id == router]
