# SPDX-License-Identifier: Apache-2.0
"""Whether every service of a cloud's catalogue answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from weir.verify.driver import CloudError, Service

from .connection import Cloud, Deadline

NEEDED = ("identity", "compute", "network", "image")
"""Without these there are no servers."""
_ASK: Mapping[str, str] = {
    "compute": "/servers?limit=1",
    "network": "/v2.0/networks?limit=1",
    "image": "/v2/images?limit=1",
    "volumev3": "/volumes?limit=1",
    "block-storage": "/volumes?limit=1",
    "orchestration": "/stacks?limit=1",
}
"""What makes it look into its database; of others, what versions they have."""
_BAD_FROM = 400
_VERSIONS = 300
"""Multiple choices: as services answer with their versions."""


def kinds(cloud: Cloud, deadline: Deadline) -> set[str]:
    """Types in the catalogue, by their official names. CloudError."""
    from os_service_types import ServiceTypes

    known = ServiceTypes()
    return {
        known.get_service_type(str(one["type"])) or str(one["type"]) for one in _catalogue(cloud, deadline)
    }


def answering(cloud: Cloud, deadline: Deadline) -> Sequence[Service]:
    """Each, with what it said. CloudError names one that does not answer, or that is not there."""
    found = [_service(cloud, entry, deadline) for entry in _catalogue(cloud, deadline)]
    kinds = {one.name for one in found}
    missing = [kind for kind in NEEDED if kind not in kinds]
    if missing:
        raise CloudError(f"the catalogue has no service of type {missing[0]}")
    return found


def _catalogue(cloud: Cloud, deadline: Deadline) -> list[Mapping[str, Any]]:
    with cloud.asking("read the catalogue", deadline):
        session = cloud.sdk.session
        found = list(session.auth.get_access(session).service_catalog.catalog)
        for one in found:  # what is none fails here, with that said of it
            str(one["type"]), [(each["url"], each["interface"]) for each in one.get("endpoints", ())]
        return found


def _service(cloud: Cloud, entry: Mapping[str, Any], deadline: Deadline) -> Service:
    kind = str(entry["type"])
    region = cloud.sdk.config.region_name
    urls = [
        str(one["url"])
        for one in entry.get("endpoints", ())
        if one.get("interface") == cloud.sdk.config.get_interface(kind)
        and region in (None, one.get("region"))
    ]
    if not urls:
        raise CloudError(f"{kind} has no public endpoint in region {region}")
    url = urls[0].rstrip("/") + _ASK.get(kind, "/")
    with cloud.asking(f"ask {kind} at {urls[0]}", deadline):
        said = cloud.sdk.session.get(url, raise_exc=False, authenticated=True)
        if said.status_code >= _BAD_FROM:
            raise CloudError(f"{kind} at {urls[0]} answers with HTTP {said.status_code}")
        said.json()  # or it is no answer of a service's
    return Service(kind, f"{kind} {said.status_code}")
