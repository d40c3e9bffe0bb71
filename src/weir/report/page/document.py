# SPDX-License-Identifier: Apache-2.0
"""Puts the page together: the procedures' sections, what was built, what the numbers rest on, style, scripts
and the data, all in one file.

The data are what the scripts draw of the result, as JSON, gzip, base64. The page's content security
policy allows no request at all, and only the one script whose hash it names.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from markupsafe import Markup

from weir.report import Format, doubts, noise, summary
from weir.report.page import asset, cases, drawn, joined, packed, policy
from weir.report.page.markup import needs_script, raw, sentence, sentences, sheet, tag
from weir.report.page.topology_picture import pictures
from weir.report.sections import PagePart, executive_summary, kind, leading
from weir.results.result import Result

UPLOT = "uplot-1.6.32"
STYLES = (f"{UPLOT}.min.css", "colours.css", "page.css", "sheets.css", "charts.css", "print.css")
SCRIPTS = (
    "unpacked.js",
    "embedded.js",
    "data.js",
    "theme.js",
    "look.js",
    "plot.js",
    "bars.js",
    "curves.js",
    "percentiles.js",
    "lanes.js",
    "trials.js",
    "heat.js",
    "soak.js",
    "start.js",
)

UNFOLDED = 3  # sentences of one kind that are shown at once

# Water (left, high) runs over a wall (a weir) to the right, low: the product's mark.
MARK = (
    "M1 9h9c4 0 5 2 6 6s2 6 6 6h9",
    "M12 30V15",
)


def document(result: Result) -> str:
    """The whole page."""
    script = f"{asset(f'{UPLOT}.iife.min.js')}\n(() => {{\n'use strict';\n{joined(SCRIPTS)}}})();\n"
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy(script)),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="generator", content=f"weir {result.weir}"),
        tag("title", f"{summary.title(result)}: {kind(result)} – Weir"),
        raw("style", joined(STYLES)),
    )
    parts = [part for make in parts_of(result) for part in make()]
    body = tag(
        "body",
        tag("a", "Skip to the numbers", href=f"#{parts[0].name.lower()}", class_="skip"),
        bar(parts),
        tag(
            "main",
            [one(result) for one in ABOVE],
            [section(part) for part in parts],
        ),
        foot(result),
        raw("script", packed(drawn(result)), type="application/gzip+base64", id="result"),
        raw("script", script),
    )
    return f"<!doctype html>\n{tag('html', head, body, lang='en')}\n"


def bar(parts: Sequence[PagePart], data: str | None = None) -> Markup:
    """Links to the sections, and what the page's script does for all of it. `data`: where the whole result
    can be had."""
    return tag(
        "nav",
        tag("div", [tag("a", part.name, href=f"#{part.name.lower()}") for part in parts], class_="links"),
        tag("a", "Save data", href=data, download=True) if data is not None else None,
        tag("button", "Dark", type="button", id="theme", hidden=True),
        aria_label="Sections",
    )


def parts_of(result: Result) -> Iterator[Callable[[], Iterable[PagePart]]]:
    """What makes the sections, in their order: those of the procedures, and what is of every run. One that
    fails leaves the others."""
    for one in leading(result):
        yield partial(one.page, result)
    for make in (_stalls, _built, _evidence, _basis):
        yield partial(make, result)


def _stalls(result: Result) -> Iterator[PagePart]:
    lines = list(noise.away_lines(result))
    if lines:
        yield PagePart(
            "Stalls",
            "When cores were away",
            "A lane for each core: when somebody else had it, or slowed it, and for how much of the time. "
            "What was due meanwhile is left out of every verdict. Trials lie one behind the other as they "
            "are stored: when each began is not kept.",
            (
                tag("div", class_="plots whole", id="stall-lanes"),
                needs_script("This plot"),
                sheet("Who had which core", noise.AWAY_HEAD, lines, 3),
            ),
        )


def _built(result: Result) -> Iterator[PagePart]:
    if any(setup.topology is not None for setup in result.setups):
        yield PagePart(
            "Built",
            "What was built",
            "Squares are ports, with their kind. The band at the left of a box has one colour for each core: "
            "boxes of one colour share a core.",
            (tag("div", class_="controls", id="built-controls"), pictures(result)),
        )


def _evidence(result: Result) -> Iterator[PagePart]:
    if any(True for _ in result.cases()):
        yield PagePart(
            "Evidence",
            "Evidence",
            "Every trial. Offered + made by functions = delivered + made and arrived + drops + unaccounted; "
            "with any unaccounted it is invalid.",
            (cases.cases(result),),
        )


def _basis(result: Result) -> Iterator[PagePart]:
    yield PagePart(
        "Basis",
        "What the numbers rest on",
        "Compare two runs only if these agree.",
        (_fidelity(result), _fingerprint(result), _lab_resolved(result)),
    )


def section(part: PagePart) -> Markup:
    """With its title and words beside it."""
    place = part.name.lower()
    side = tag(
        "div", tag("h2", part.title, id=f"{place}-title"), tag("p", sentence(part.words)), class_="side"
    )
    return tag(
        "section", side, tag("div", part.content, class_="body"), id=place, aria_labelledby=f"{place}-title"
    )


def head_of(result: Result) -> Markup:
    """Title and the line of facts under it."""
    print_ = result.fingerprint
    versions = print_.versions
    facts = [
        ("machine", f"{print_.cpu}, {print_.cores} cores"),
        ("kernel", print_.kernel),
        *(
            (name, versions[key])
            for key, name in (("dpdk", "DPDK"), ("openvswitch", "Open vSwitch"))
            if key in versions
        ),
        ("measured", _time(result.started_at)),
        ("took", summary.duration(result) + (", quick run" if result.quick else "")),
        ("run", result.id),
    ]
    return tag(
        "header",
        tag("p", mark(), tag("b", "Weir"), tag("span", f"{kind(result)} report"), class_="brand"),
        tag("h1", summary.title(result)),
        tag("dl", [tag("div", tag("dt", name), tag("dd", value)) for name, value in facts], class_="facts"),
        class_="head",
    )


def mark() -> Markup:
    """The product's."""
    paths = [tag("path", d=path) for path in MARK]
    return tag("svg", paths, viewBox="0 0 32 32", class_="mark", aria_hidden="true")


def _time(rfc3339: str) -> str:
    """ "2026-11-21 07:06 UTC", of a time that the store wrote."""
    return f"{rfc3339[:16].replace('T', ' ')} UTC"


def headline(result: Result) -> Markup | None:
    """Where the numbers say little: above all else, and never folded."""
    said = noise.headline(result)
    return tag("p", sentence(said), class_="headline", role="note") if said is not None else None


def short(result: Result) -> Markup | None:
    """The executive summary."""
    said = sentences(executive_summary(result), class_=None)
    return tag("section", tag("h2", "Summary"), said, class_="short") if said is not None else None


def notices(result: Result) -> Markup | None:
    """What changes how the numbers are to be read, before any number. A long list of one kind is folded."""
    groups = [_group(title, said) for title, said in _notices(result) if said]
    return tag("div", groups, class_="notices", role="note", aria_label="Read this first") if groups else None


def _notices(result: Result) -> Iterator[tuple[str, list[str]]]:
    stopped = ["The run was stopped early; what had finished is below."]
    yield "Interrupted.", stopped if result.interrupted else []
    unfinished = result.finished_at is None and not result.interrupted
    yield "Not finished.", ["What is stored so far is below."] if unfinished else []
    left_out = summary.left_out(result)
    yield "Not whole.", [left_out] if left_out is not None else []
    for name, missing in summary.refusals(result):
        yield f"{name} was left out.", [missing]
    yield "Noisy machine.", noise.sentences(result)
    yield "Read with care.", doubts.sentences(result)


def _group(title: str, said: list[str]) -> Markup:
    if len(said) <= UNFOLDED:
        ended = " ".join(one if one.endswith(".") else f"{one}." for one in said)
        return tag("p", tag("b", title), " ", sentence(ended))
    return tag(
        "details", tag("summary", tag("b", title), f" {len(said)} remarks"), sentences(said), class_="fold"
    )


def foot(result: Result) -> Markup:
    """What it was made of."""
    count = sum(1 for _ in summary.trials(result))
    words = f"Weir {result.weir} · {count} trials · result version {result.version} · all data: "
    return tag("footer", tag("p", words, tag("code", f"weir report {result.id} --format json")))


def _fidelity(result: Result) -> Markup:
    """Sentences; those that are not for all setups say for which."""
    items = [
        tag("li", sentence(said), tag("span", f" ({', '.join(names)})", class_="dim") if names else None)
        for said, names in summary.fidelity(result)
    ]
    items += [tag("li", f"{summary.OUTPUTS}: {one}") for one in summary.outputs(result)]
    items += [tag("li", f"{summary.N4}: {one}") for one in summary.n4(result)]
    return tag("ul", items or tag("li", "Nothing was recorded."), class_="plain")


def _fingerprint(result: Result) -> Markup:
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


def _lab_resolved(result: Result) -> Markup:
    """The resolved lab, folded."""
    text = json.dumps(result.spec, indent=2, ensure_ascii=False)
    return tag(
        "details", tag("summary", tag("b", "The lab, resolved")), tag("pre", text, tabindex=0), class_="fold"
    )


def _folded(text: str) -> Markup:
    return tag("details", tag("summary", f"{len(text.split())} words"), text)


def _value(value: object) -> str:
    return str(value) if value not in ("", None) else "none"


ABOVE: tuple[Callable[[Result], Markup | None], ...] = (head_of, headline, short, notices)
"""What stands above all sections."""
FORMAT = Format("html", ".html", document)
