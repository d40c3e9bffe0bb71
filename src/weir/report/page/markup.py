# SPDX-License-Identifier: Apache-2.0
"""HTML and SVG elements that escape by construction: a plain string is always text, never markup.

`tag("td", "a < b", class_="n")` gives `<td class="n">a &lt; b</td>`. What is text and what is markup tells
MarkupSafe's type; only this module makes one.
"""

from __future__ import annotations

from collections.abc import Iterable

from markupsafe import Markup, escape

VOID = frozenset({"meta", "br", "hr", "input", "link"})

Attribute = str | int | float | bool | None


_DIRECTIONS = {0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)}
"""Turn round how the text behind them is read."""
_CONTROLS = dict.fromkeys(
    ({*range(32), *range(127, 160)} - set(map(ord, "\t\n\r"))) | _DIRECTIONS, "\N{REPLACEMENT CHARACTER}"
)
"""HTML has none of the others; a terminal that is shown a page would obey them."""
Child = str | Markup | Iterable["Child"] | None


def tag(name: str, /, *children: Child, **attributes: Attribute) -> Markup:
    """One element. `class_` loses its underscore, else `_` becomes `-`; None and False are left out."""
    pairs = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in VOID:
        return Markup(f"<{name}{pairs}>")
    return Markup(f"<{name}{pairs}>{join(children)}</{name}>")


def join(children: Child) -> Markup:
    """Children in a row; strings are escaped."""
    if children is None:
        return Markup()
    if isinstance(children, str):
        if isinstance(children, Markup):
            return children
        return escape(visible(children))
    return Markup().join(join(child) for child in children)


def visible(text: str) -> str:
    """Without characters that steer what shows it."""
    return text if text.isprintable() else text.translate(_CONTROLS)


def raw(name: str, content: str, /, **attributes: Attribute) -> Markup:
    """A `script` or `style` element. ValueError if the content, which is not escaped, would end it."""
    if f"</{name}" in content.lower() or "<!--" in content:
        raise ValueError(f"the content would end the {name} element")
    pairs = "".join(_attribute(key, value) for key, value in attributes.items())
    return Markup(f"<{name}{pairs}>{content}</{name}>")


def _attribute(key: str, value: Attribute) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    said = join(value if isinstance(value, str) else str(value))
    return f" {name}" if value is True else f' {name}="{said}"'


def sentence(text: str) -> Child:
    """Children of an element that says it; what stands between backticks is a command or a name in a file."""
    parts = text.split("`")
    if len(parts) % 2 == 0:  # one stands alone
        return text
    return [tag("code", part) if at % 2 else part for at, part in enumerate(parts)]


def sentences(said: Iterable[str], class_: str | None = "plain") -> Markup | None:
    """A list of them; None of none."""
    items = [tag("li", sentence(one)) for one in said]
    return tag("ul", items, class_=class_) if items else None


def needs_script(what: str) -> Markup:
    """In place of what the page's script draws, where scripts do not run."""
    return tag(
        "noscript", tag("p", f"{what} need JavaScript. The data are in result.json too.", class_="dim")
    )


def sheet(
    title: str,
    head: tuple[str, ...],
    lines: list[list[str]],
    text_columns: int,
    *,
    wrap: bool = False,
    last_wraps: bool = False,
) -> Markup:
    """A small table; the first `text_columns` columns are words, the others numbers. `wrap`: words may take
    several lines. `last_wraps`: the last column is words that may."""
    words = "wrap" if wrap else None
    side = [words if index < text_columns else "n" for index in range(len(head))]
    side[-1:] = ["wrap"] if last_wraps else side[-1:]
    titles = [tag("th", name, scope="col", class_=css) for name, css in zip(head, side, strict=True)]
    body = [
        tag("tr", [tag("td", cell, class_=css) for cell, css in zip(line, side, strict=True)])
        for line in lines
    ]
    inner = tag(
        "table",
        tag("caption", title),
        tag("thead", tag("tr", titles)),
        tag("tbody", body),
        class_="sheet small",
    )
    return tag("div", inner, class_="scroll", tabindex=0, role="group", aria_label=title)
