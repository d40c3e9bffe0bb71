# SPDX-License-Identifier: Apache-2.0
"""`technologies` of a lab: the options of each, as its descriptor has them. And `variants`: other ways to run
it, measured beside each other: an untuned host and a tuned one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, create_model

from weir.base.cores import Cores
from weir.base.record import LabSection
from weir.lab.function import FunctionName, FunctionOptions
from weir.lab.host import Host
from weir.technology import TECHNOLOGIES, TechnologyOptions

if TYPE_CHECKING:
    TechnologyName = str

    class Technologies(LabSection):
        """Options by technology."""

else:
    TechnologyName = Literal[tuple(TECHNOLOGIES)]
    Technologies = create_model(
        "Technologies",
        __base__=LabSection,
        __doc__="Options by technology.",
        **{
            one.field: (one.options, Field(default=one.options(), alias=one.name))
            for one in TECHNOLOGIES.values()
        },
    )

VariantName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9+.-]{0,31}$", examples=["tuned", "2v-4+4"])]


class Variant(LabSection):
    """What differs from the lab. Only what is named here does; mappings merge."""

    technology: TechnologyName | None = Field(
        default=None, description="one of the lab's technologies; absent: each of them"
    )
    chains: tuple[str, ...] = Field(
        default=(),
        max_length=64,
        description="names of the lab's chains, as reports call them, that it is run with; absent: all",
    )
    cores: Cores | None = Field(default=None, description="before those of the lab and its technologies")
    host: Host | None = Field(default=None, description="laid over the lab's `host`")
    functions: dict[FunctionName, FunctionOptions] = Field(
        default={}, description="in place of the lab's functions of these names"
    )
    technologies: Technologies | None = Field(default=None, description="laid over the lab's `technologies`")

    def host_over(self, below: Host) -> Host:
        """The lab's `host` with what this variant says."""
        return below.model_copy(update=_said(self.host))

    def technologies_over(self, below: Technologies) -> Technologies:
        """The options of all technologies, likewise; cores of this variant go before theirs."""
        merged = {}
        for name in Technologies.model_fields:
            options: TechnologyOptions = getattr(below, name)
            own = _said(getattr(self.technologies, name)) if self.technologies is not None else {}
            cores = own.pop("cores", None) or Cores()
            own["cores"] = cores.over(self.cores).over(options.cores)
            merged[name] = options.model_copy(update=own)
        return below.model_copy(update=merged)


def _said(part: LabSection | None) -> dict[str, Any]:
    """The values that the file names."""
    return {name: getattr(part, name) for name in part.model_fields_set} if part is not None else {}
