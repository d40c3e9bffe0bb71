# SPDX-License-Identifier: Apache-2.0
"""The documentation as HTML that works from the file system: one page a Markdown file, with a list of all,
its headings, and a search.

Pages keep their path, README.md becomes index.html, links between pages are rewritten, other files that a
page links to are copied. A link to nothing is reported. The search looks through an index that every page
loads as a script: a browser lets no page from the file system fetch anything.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath
from string import Template

from markdown_it import MarkdownIt
from markdown_it.token import Token
from pygments import highlight  # type: ignore[import-untyped]
from pygments.formatters import HtmlFormatter  # type: ignore[import-untyped]
from pygments.lexers import get_lexer_by_name  # type: ignore[import-untyped]
from pygments.util import ClassNotFound  # type: ignore[import-untyped]

HOW_TO = {
    "begin": ("install",),
    "measure": (
        "write-a-lab",
        "repeat-a-run",
        "run-on-many-hosts",
        "span-hosts",
        "choose-a-technology",
        "measure-latency",
        "measure-connections",
        "run-rfc2544",
        "run-a-soak",
        "measure-without-a-tester",
        "tune-a-host",
    ),
    "read results": (
        "read-a-report",
        "read-an-irregular-result",
        "explain-a-result",
        "compare-runs",
        "watch-a-lab",
        "serve-results",
        "keep-results",
    ),
    "what stands in the chain": (
        "test-your-own-function",
        "talk-through-a-chain",
        "change-a-function",
        "join-tenants",
        "offload-flows",
        "build-a-cloud",
        "measure-a-cloud",
        "verify-a-cloud",
        "verify-an-application",
        "see-a-network",
        "run-a-vm",
        "migrate-a-vm",
    ),
    "predict and plan": ("predict-a-lab", "plan-a-lab", "plan-a-fleet", "predict-kernel-forwarding"),
}
"""By what somebody is about to do; each page once."""
SECTIONS = (
    ("", ("README.md",)),
    ("Tutorial", ("docs/tutorial/*.md",)),
    *(
        (f"How to: {what}", tuple(f"docs/how-to/{name}.md" for name in names))
        for what, names in HOW_TO.items()
    ),
    ("Reference", ("docs/reference/*.md", "native/nf/*/*.md")),
    ("Design", ("docs/design/*.md",)),
    ("Labs", ("labs/*/README.md",)),
    ("Project", ("CONTRIBUTING.md", "CHANGELOG.md")),
)
HERE = Path(__file__).parent
INDEX = "search-index.js"


@dataclass
class _Page:
    source: str  # below the root, "docs/design/method.md"
    section: str
    title: str
    tokens: list[Token]
    anchors: set[str] = field(default_factory=set)

    @property
    def target(self) -> str:
        path = PurePosixPath(self.source)
        name = "index.html" if path.name == "README.md" else f"{path.stem}.html"
        return str(path.parent / name)


def render(root: Path, target: Path) -> list[str]:
    """Writes the site; returns one sentence for each broken link."""
    markdown = MarkdownIt("commonmark", {"highlight": _highlight, "html": True}).enable("table")
    pages = {page.source: page for page in _pages(root, markdown)}
    template = Template((HERE / "page.html").read_text(encoding="utf-8"))
    broken: list[str] = []
    for page in pages.values():
        broken += _link_up(page, pages, root, target)
        out = target / page.target
        out.parent.mkdir(parents=True, exist_ok=True)
        body = markdown.renderer.render(page.tokens, markdown.options, {})
        text = template.substitute(
            title=escape(page.title),
            style=(HERE / "page.css").read_text(encoding="utf-8"),
            navigation=_navigation(page, pages),
            index=relpath(INDEX, str(PurePosixPath(page.target).parent)),
            root=relpath(".", str(PurePosixPath(page.target).parent)),
            search=(HERE / "search.js").read_text(encoding="utf-8"),
            body=re.sub(r"<table>.*?</table>", r'<div class="scroll">\g<0></div>', body, flags=re.DOTALL),
        )
        out.write_text(text, encoding="utf-8")
    entries = json.dumps([entry for page in pages.values() for entry in _entries(page)], ensure_ascii=False)
    (target / INDEX).write_text(f"const WEIR_PAGES = {entries};\n", encoding="utf-8")
    return broken


def _entries(page: _Page) -> Iterator[dict[str, str]]:
    """What the search knows of a page: each heading with the text below it."""
    head, anchor, texts = page.title, "", list[str]()
    of_page = {"page": page.title, "section": page.section}
    for position, token in enumerate(page.tokens):
        if token.type == "heading_open" and token.tag != "h1":
            yield {**of_page, "to": page.target + anchor, "head": head, "text": " ".join(texts)}
            head, texts = _plain(page.tokens[position + 1]), []
            anchor = f"#{token.attrGet('id')}"
        elif token.type == "inline" and page.tokens[position - 1].type != "heading_open":
            texts.append(_plain(token))
        elif token.type == "fence":
            texts.append(token.content)
    yield {**of_page, "to": page.target + anchor, "head": head, "text": " ".join(texts)}


def _pages(root: Path, markdown: MarkdownIt) -> list[_Page]:
    made = []
    for section, patterns in SECTIONS:
        for path in (path for pattern in patterns for path in sorted(root.glob(pattern))):
            tokens = markdown.parse(path.read_text(encoding="utf-8"))
            source = str(path.relative_to(root).as_posix())
            page = _Page(source, section, path.stem, tokens)
            for position, token in enumerate(tokens):
                if token.type == "heading_open":
                    text = _plain(tokens[position + 1])
                    token.attrSet("id", _anchor(text))
                    page.anchors.add(_anchor(text))
                    if token.tag == "h1":
                        page.title = text
            made.append(page)
    return made


def _link_up(page: _Page, pages: dict[str, _Page], root: Path, target: Path) -> list[str]:
    """Rewrites the page's links for the site. Sentences for those that lead nowhere."""
    broken = []
    for token in (child for block in page.tokens for child in block.children or ()):
        name = {"link_open": "href", "image": "src"}.get(token.type)
        if name is None:
            continue
        link = str(token.attrGet(name) or "")
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        source = normpath(str(PurePosixPath(page.source).parent / path)) if path else page.source
        if (root / source / "README.md").exists():
            source = normpath(f"{source}/README.md")
        if source in pages:
            if anchor and anchor not in pages[source].anchors:
                broken.append(f"{page.source}: no heading #{anchor} in {source}")
            aim = pages[source].target
        elif (root / source).is_file():
            aim = source
            (target / aim).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(root / source, target / aim)
        else:
            broken.append(f"{page.source}: link to {link}, which does not exist")
            continue
        here = str(PurePosixPath(page.target).parent)
        token.attrSet(name, relpath(aim, here) + (f"#{anchor}" if anchor else ""))
    return broken


def _navigation(page: _Page, pages: dict[str, _Page]) -> str:
    here = str(PurePosixPath(page.target).parent)
    current = ' aria-current="page"'
    parts = []
    for section, _ in SECTIONS:
        items = [
            f'<li><a href="{relpath(other.target, here)}"{current if other is page else ""}>'
            f"{escape(other.title)}</a>{_contents(page) if other is page else ''}</li>"
            for other in pages.values()
            if other.section == section
        ]
        if items:
            head = f"<h2>{escape(section)}</h2>" if section else ""
            parts.append(f"{head}<ul>{''.join(items)}</ul>")
    return "\n".join(parts)


def _contents(page: _Page) -> str:
    """Its headings, where there are several."""
    heads = [
        f'<li><a href="#{token.attrGet("id")}">{escape(_plain(page.tokens[position + 1]))}</a></li>'
        for position, token in enumerate(page.tokens)
        if token.type == "heading_open" and token.tag == "h2"
    ]
    return f'<ul class="contents">{"".join(heads)}</ul>' if len(heads) > 1 else ""


def _plain(token: Token) -> str:
    return "".join(child.content for child in token.children or () if child.type in {"text", "code_inline"})


def _anchor(text: str) -> str:
    """As GitHub makes them, so that links work in both places."""
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


def _highlight(code: str, language: str, _: str) -> str:
    try:
        lexer = get_lexer_by_name(language or "text")
    except ClassNotFound:
        return escape(code)
    return str(highlight(code, lexer, HtmlFormatter(nowrap=True)))
