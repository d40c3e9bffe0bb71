# SPDX-License-Identifier: Apache-2.0
"""The file of a system under test: a cloud, what is verified of it, and its service level; from the file to
what it says, or to all that is wrong with it."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, Field

from weir.base.cloud import Isolation, Security
from weir.base.record import ONE_OR_MANY, SCHEMA_ID, LabSection, listed
from weir.lab.application import Application, CallLimits
from weir.lab.lab import Name
from weir.lab.read_checked import read_checked
from weir.lab.source import FileKind
from weir.lab.units import Seconds

SUT = FileKind("a system under test", "sut.yml", "weir, name, driver")
SuiteName = Literal["healthcheck", "application"]
SUITES: tuple[SuiteName, ...] = get_args(SuiteName)
DriverName = Literal["local"]


class LocalCloud(LabSection):
    """How the cloud on this host is built: keys as of a lab's `cloud`."""

    compute_nodes: int = Field(default=2, ge=1, le=2, description="nodes with instances")
    security: Security = Field(default="bridge-filter", description="how security groups are done")
    isolation: Isolation = Field(default="vxlan", description="how nodes keep networks apart on their wire")


class CaseTimes(LabSection):
    """Upper limits on the time of cases; absent: not judged."""

    max: Annotated[Seconds, Field(gt=0, le=86_400)] | None = Field(default=None, description="of the longest")


class SutSla(LabSection):
    """The service level: of every suite, its cases taken together; and of calls."""

    failure_ratio: float = Field(default=0.0, ge=0, lt=1, description="share of the cases that may fail")
    time_s: CaseTimes = Field(
        default=CaseTimes(), description="that a case takes, clean-up left out; not of cases that measure"
    )
    calls: CallLimits = Field(default=CallLimits(), description="of `sip_calls`")


class SutFile(LabSection):
    """A cloud and what is verified of it, for `weir verify`."""

    weir: Literal[1] = Field(description="version of this format")
    name: Name = Field(description="of the system under test")
    description: str = Field(default="", max_length=2000, description="what it is")
    driver: DriverName = Field(
        default="local", description="local: Weir's own tenants' networks and instances, on this host"
    )
    local: LocalCloud = Field(default_factory=LocalCloud, description="of `driver: local`")
    suites: Annotated[tuple[SuiteName, ...], ONE_OR_MANY, BeforeValidator(listed)] = Field(
        default=SUITES, min_length=1, description="what `--suite all` runs"
    )
    application: Application = Field(
        default_factory=Application, description="functions and calls of the suite of that name"
    )
    case_time_limit_s: Seconds = Field(
        default=300.0, gt=0, le=86_400, description="after which a case has failed, whatever it waits for"
    )
    sla: SutSla = Field(default_factory=SutSla, description="what must hold")

    @property
    def title(self) -> str:
        """What reports call it."""
        return self.description or self.name


@functools.cache
def sut_schema() -> dict[str, Any]:
    """The schema of such a file."""
    return {"$schema": SCHEMA_ID, **SutFile.model_json_schema(), "title": "Weir system under test"}


def load_sut(path: str | Path) -> SutFile:
    """Reads and checks one, or `sut.yml` in a directory. LabFileError has all its problems."""
    return read_checked(path, SUT, SutFile, sut_schema())
