# SPDX-License-Identifier: Apache-2.0
"""The page of a campaign over several hosts: its runs, what each host measured, what nobody has."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.datastructures import QueryParams
from starlette.exceptions import HTTPException

from weir.report.summary import sizes
from weir.web import campaigns, links, query
from weir.web.page import Page
from weir.web.reading import Reading


def page(reading: Reading, path: Mapping[str, str], asked: QueryParams) -> Page:
    """HTTPException for one of which there is no run; StoreError where one of its runs cannot be read."""
    name = query.name(path, asked)
    found = campaigns.found(reading, name)
    if found is None:
        raise HTTPException(query.NOT_FOUND, f"The store has no run of a campaign {name}.")
    refused = [
        (part.host, case.chain, case.way, share.found)
        for case in found.cases
        for part, share in zip(found.parts, case.shares, strict=True)
        if share.refused
    ]
    sides = [one.run for one in found.parts]
    fields = {
        "campaign": found,
        "refused": list(dict.fromkeys(refused)),
        "sizes": sizes,
        "compare": links.compare(sides) if len(sides) > 1 else None,
    }
    return Page("campaign", found.id, fields)
