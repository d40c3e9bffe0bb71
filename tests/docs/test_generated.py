# SPDX-License-Identifier: Apache-2.0
"""Committed schemas and reference pages are those that the code gives."""

from __future__ import annotations

from pathlib import Path

import jsonschema
import pytest

from tools.docs import generated, site

ROOT = Path(__file__).resolve().parents[2]
FILES = generated.files(ROOT)


@pytest.mark.parametrize("path", list(FILES))
def test_committed_file_is_what_the_code_gives(path: str) -> None:
    committed = ROOT / path
    assert committed.exists(), f"{path} is missing: run 'make generate'"
    assert committed.read_text(encoding="utf-8") == FILES[path], f"{path} is stale: run 'make generate'"


@pytest.mark.parametrize("path", sorted((ROOT / "schema").glob("*.json")), ids=lambda path: path.name)
def test_committed_schema_is_a_schema(path: Path) -> None:
    import json

    jsonschema.Draft202012Validator.check_schema(json.loads(path.read_text(encoding="utf-8")))


@pytest.mark.long
def test_no_page_links_to_nothing(tmp_path: Path) -> None:
    assert site.render(ROOT, tmp_path) == []
    assert (tmp_path / "index.html").exists()
