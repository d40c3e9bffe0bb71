# SPDX-License-Identifier: Apache-2.0
"""`python -m tools.docs` writes schemas and reference pages; `--check` compares; `--html DIR`: the site;
`--man DIR`: manual pages of the commands."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tools.docs import generated, man_pages, site
from weir.cli.main import app

ROOT = Path(__file__).resolve().parents[2]


def main() -> int:
    """Exit code: 0 done, 1 a file differs from the code or a link is broken."""
    parser = argparse.ArgumentParser(prog="python -m tools.docs", description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="write nothing; fail if a file differs from the code"
    )
    parser.add_argument("--html", type=Path, metavar="DIR", help="render the documentation there")
    parser.add_argument("--man", type=Path, metavar="DIR", help="write the manual pages there")
    options = parser.parse_args()
    if options.man is not None:
        options.man.mkdir(parents=True, exist_ok=True)
        for name, text in man_pages.pages(app).items():
            (options.man / name).write_text(text, encoding="utf-8")
        return 0
    if options.html is not None:
        return _render(options.html)
    texts = generated.files(ROOT)
    stale = [path for path, text in texts.items() if not _same(ROOT / path, text)]
    for path in stale:
        if options.check:
            print(f"{path} differs from the code: run 'make generate'", file=sys.stderr)
        else:
            (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
            (ROOT / path).write_text(texts[path], encoding="utf-8")
            print(f"wrote {path}")
    return 1 if options.check and stale else 0


def _render(target: Path) -> int:
    broken = site.render(ROOT, target)
    for problem in broken:
        print(problem, file=sys.stderr)
    print(f"documentation: {target / 'index.html'}")
    return 1 if broken else 0


def _same(path: Path, text: str) -> bool:
    return path.exists() and path.read_text(encoding="utf-8") == text


if __name__ == "__main__":
    sys.exit(main())
