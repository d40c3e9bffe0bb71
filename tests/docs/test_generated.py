# SPDX-License-Identifier: Apache-2.0
"""Committed schemas and reference pages are those that the code gives."""

from __future__ import annotations

from pathlib import Path

import jsonschema
import pytest

from tools.docs import generated, site

ROOT = Path(__file__).resolve().parents[2]


def test_committed_files_are_what_the_code_gives() -> None:
    files = generated.files(ROOT)
    committed = {path: (ROOT / path).read_text(encoding="utf-8") for path in files if (ROOT / path).exists()}
    missing, stale = (
        set(files) - set(committed),
        {path for path in committed if committed[path] != files[path]},
    )
    assert (missing, stale) == (set(), set()), "run 'make generate'"


@pytest.mark.parametrize("path", sorted((ROOT / "schema").glob("*.json")), ids=lambda path: path.name)
def test_committed_schema_is_a_schema(path: Path) -> None:
    import json

    jsonschema.Draft202012Validator.check_schema(json.loads(path.read_text(encoding="utf-8")))


@pytest.mark.long
def test_no_page_links_to_nothing(tmp_path: Path) -> None:
    assert site.render(ROOT, tmp_path) == []
    assert (tmp_path / "index.html").exists()
