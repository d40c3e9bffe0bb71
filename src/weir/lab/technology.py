# SPDX-License-Identifier: Apache-2.0
"""`technologies` of a lab: the options of each, as its descriptor has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field, create_model

from weir.base.record import LabSection
from weir.technology import TECHNOLOGIES

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
