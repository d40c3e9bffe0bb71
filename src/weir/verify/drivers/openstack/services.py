# SPDX-License-Identifier: Apache-2.0
"""Whether every service of a cloud's catalogue answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

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
    return {known.get_service_type(one.kind) or one.kind for one in _catalogue(cloud, deadline)}


def answering(cloud: Cloud, deadline: Deadline) -> Sequence[Service]:
    """Each, with what it said. CloudError names one that does not answer, or that is not there."""
    found = [_service(cloud, entry, deadline) for entry in _catalogue(cloud, deadline)]
    kinds = {one.name for one in found}
    missing = [kind for kind in NEEDED if kind not in kinds]
    if missing:
        raise CloudError(f"the catalogue has no service of type {missing[0]}")
    return found


class _Endpoint(NamedTuple):
    url: str
    interface: str | None
    region: str | None


class _Entry(NamedTuple):
    """Of the catalogue."""

    kind: str
    endpoints: Sequence[_Endpoint]

    @classmethod
    def read(cls, said: Any) -> _Entry:
        """KeyError, TypeError, AttributeError: it is none."""
        endpoints = [
            _Endpoint(str(one["url"]), one.get("interface"), one.get("region"))
            for one in said.get("endpoints", ())
        ]
        return cls(str(said["type"]), endpoints)


def _catalogue(cloud: Cloud, deadline: Deadline) -> list[_Entry]:
    with cloud.asking("read the catalogue", deadline):
        session = cloud.sdk.session
        return [_Entry.read(one) for one in session.auth.get_access(session).service_catalog.catalog]


def _service(cloud: Cloud, entry: _Entry, deadline: Deadline) -> Service:
    kind, region = entry.kind, cloud.sdk.config.region_name
    interface = cloud.sdk.config.get_interface(kind)
    urls = [one.url for one in entry.endpoints if one.interface == interface and region in (None, one.region)]
    if not urls:
        raise CloudError(f"{kind} has no public endpoint in region {region}")
    url = urls[0].rstrip("/") + _ASK.get(kind, "/")
    with cloud.asking(f"ask {kind} at {urls[0]}", deadline):
        said = cloud.sdk.session.get(url, raise_exc=False, authenticated=True)
        if said.status_code >= _BAD_FROM:
            raise CloudError(f"{kind} at {urls[0]} answers with HTTP {said.status_code}")
        said.json()  # or it is no answer of a service's
    return Service(kind, f"{kind} {said.status_code}")
