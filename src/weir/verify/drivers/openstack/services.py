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
    "identity": "/",
    "placement": "/",
    "compute": "/servers?limit=1",
    "network": "/v2.0/networks?limit=1",
    "image": "/v2/images?limit=1",
    "volumev3": "/volumes?limit=1",
    "block-storage": "/volumes?limit=1",
    "orchestration": "/stacks?limit=1",
}
"""What makes it look into its database, or tells its versions, in JSON. Others are asked for "/", where some
want a signature (Heat's for CloudFormation) or a role (Swift): any answer shows that they are there."""
_BAD_FROM, _BROKEN_FROM = 400, 500


def kinds(cloud: Cloud, deadline: Deadline) -> set[str]:
    """Types of those of this region, by their official names. CloudError."""
    from os_service_types import ServiceTypes

    known = ServiceTypes()
    return {known.get_service_type(one.kind) or one.kind for one in _here(cloud, deadline)}


def lacking(cloud: Cloud, kind: str) -> str:
    """In words."""
    region = cloud.sdk.config.region_name
    where = f"in region {region}" if region else "anywhere"
    return f"the catalogue of cloud {cloud.name} has no service of type {kind} with an endpoint {where}"


def answering(cloud: Cloud, deadline: Deadline) -> Sequence[Service]:
    """Each of this region, with what it said. CloudError names one that does not answer, or is not there."""
    found = [_service(cloud, entry, deadline) for entry in _here(cloud, deadline)]
    kinds = {one.name for one in found}
    missing = [kind for kind in NEEDED if kind not in kinds]
    if missing:
        raise CloudError(lacking(cloud, missing[0]))
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


def _here(cloud: Cloud, deadline: Deadline) -> list[_Entry]:
    """Those of the catalogue that have an endpoint in this region: the SDK asks no others."""
    region = cloud.sdk.config.region_name
    with cloud.asking("read the catalogue", deadline):
        session = cloud.sdk.session
        catalogue = [_Entry.read(one) for one in session.auth.get_access(session).service_catalog.catalog]
    return [entry for entry in catalogue if any(region in (None, one.region) for one in entry.endpoints)]


def _service(cloud: Cloud, entry: _Entry, deadline: Deadline) -> Service:
    kind, region = entry.kind, cloud.sdk.config.region_name
    interface = cloud.sdk.config.get_interface(kind)
    urls = [one.url for one in entry.endpoints if one.interface == interface and region in (None, one.region)]
    if not urls:
        raise CloudError(f"{kind} has no public endpoint in region {region}")
    url = urls[0].rstrip("/") + _ASK.get(kind, "/")
    with cloud.asking(f"ask {kind} at {urls[0]}", deadline):
        said = cloud.sdk.session.get(url, raise_exc=False, authenticated=True)
        if said.status_code >= (_BAD_FROM if kind in _ASK else _BROKEN_FROM):
            raise CloudError(f"{kind} at {urls[0]} answers with HTTP {said.status_code}")
        if kind in _ASK:
            said.json()  # or it is no answer of a service's
    return Service(kind, f"{kind} {said.status_code}")
