# SPDX-License-Identifier: Apache-2.0
"""Pages from templates. Whatever is no markup already is escaped; a name that is missing is an error."""

from __future__ import annotations

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from weir import __version__
from weir.base.words import counted
from weir.report import numbers, rates
from weir.report.page.document import mark
from weir.report.page.markup import join, sentence, visible
from weir.web import assets, links
from weir.web.page import Page


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("weir.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    made.globals |= {
        "address": assets.address,
        "links": links,
        "mark": mark(),
        "dash": numbers.NONE,
        "meaning": rates.FLAGS,
        "version": __version__,
    }
    made.filters |= {"moment": _moment, "counted": counted, "said": _said}
    return made


def text(page: Page, here: str) -> str:
    """The whole HTML. `here`: the address's path."""
    template = _environment().get_template(f"{page.template}.html")
    return template.render({**page.fields, "title": page.title, "here": here})


def _shown(value: object) -> object:
    """Before it is escaped."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _said(words: str) -> Markup:
    """What stands between backticks is a command or a name in a file."""
    return join(sentence(words))


def _moment(rfc3339: str | None) -> str:
    """ "2026-11-21 07:06 UTC"."""
    return f"{rfc3339[:16].replace('T', ' ')} UTC" if rfc3339 else "at an unknown time"
