# SPDX-License-Identifier: Apache-2.0
"""What the numbers rest on: what was built, the machine, the lab."""

from __future__ import annotations

import json

from markupsafe import Markup

from weir.report import summary
from weir.report.page.markup import tag
from weir.report.page.topology_picture import picture
from weir.results.result import Result


def fidelity(result: Result) -> Markup:
    """Sentences; those that are not for all setups say for which."""
    items = [
        tag("li", sentence, tag("span", f" ({', '.join(names)})", class_="dim") if names else None)
        for sentence, names in summary.fidelity(result)
    ]
    return tag("ul", items or tag("li", "Nothing was recorded."), class_="plain")


def fingerprint(result: Result) -> Markup:
    """Every field of the fingerprint, the versions last."""
    fields = result.fingerprint.model_dump(exclude={"versions"})
    pairs = [(name.replace("_", " "), _value(value)) for name, value in fields.items()]
    pairs += [(f"{name} version", version) for name, version in result.fingerprint.versions.items()]
    pairs += [("seed", str(result.seed)), ("lab SHA-256", result.spec_sha256), ("Weir", result.weir)]
    cells = [
        tag("div", tag("dt", name), tag("dd", _folded(value) if name == "cmdline" else value))
        for name, value in pairs
    ]
    return tag("dl", cells, class_="facts wide")


def lab_resolved(result: Result) -> Markup:
    """The resolved lab, folded."""
    text = json.dumps(result.spec, indent=2, ensure_ascii=False)
    return tag(
        "details", tag("summary", tag("b", "The lab, resolved")), tag("pre", text, tabindex=0), class_="fold"
    )


def pictures(result: Result) -> Markup:
    """One figure a setup. The script shows one technology at a time; without it all are shown."""
    figures = [
        tag(
            "figure",
            tag(
                "figcaption",
                tag("b", f"{setup.name} {setup.chain}"),
                tag(
                    "span",
                    f" · {summary.switch(setup)}",
                    class_="dim",
                ),
            ),
            tag(
                "div",
                picture(setup.topology, setup.datapath),
                class_="scroll",
                tabindex=0,
                role="region",
                aria_label=f"Picture of {setup.name} {setup.chain}",
            ),
            class_="built",
            data_technology=setup.name,
        )
        for setup in result.setups
        if setup.topology is not None
    ]
    return tag("div", figures, id="pictures")


def _folded(text: str) -> Markup:
    return tag("details", tag("summary", f"{len(text.split())} words"), text)


def _value(value: object) -> str:
    return str(value) if value not in ("", None) else "none"
