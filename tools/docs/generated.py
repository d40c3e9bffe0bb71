# SPDX-License-Identifier: Apache-2.0
"""Every file that is generated from the code, and how. To add one: a line in `files`."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from tools.docs import cli_page, dataplane_pages, schema_page
from weir.report import json_document

LAB_INTRO = """\
A lab file is YAML. `weir validate FILE` checks one without touching the machine; unknown keys and bad values
are refused with file, line, what was expected and the nearest valid name. The same as JSON Schema, for
editors: [schema/lab.schema.json](../../schema/lab.schema.json)."""

RESULT_INTRO = """\
What `weir run` stores and `weir report --format json` writes. Units are in the names; rates are totals over
both directions unless a field says otherwise. How a number comes about: [method](../design/method.md). JSON
Schema: [schema/result.schema.json](../../schema/result.schema.json)."""


class NotBuiltError(Exception):
    """weir-dp, which describes itself, is not there."""


def files(root: Path) -> dict[str, str]:
    """Path below the root → text. NotBuiltError without weir-dp."""
    from weir.cli.main import app

    from weir.spec import lab_schema

    described = describe(root)
    protocol = json.loads((root / "schema" / "dataplane.schema.json").read_text(encoding="utf-8"))
    return {
        "schema/lab.schema.json": _json(lab_schema()),
        "schema/result.schema.json": json_document.schema_text(),
        "docs/reference/cli.md": cli_page.page(app),
        "docs/reference/lab.md": schema_page.page("Lab file", LAB_INTRO, lab_schema()),
        "docs/reference/result.md": schema_page.page("Result", RESULT_INTRO, json_document.schema()),
        "docs/reference/data-plane.md": dataplane_pages.protocol(described, protocol),
        "docs/reference/functions.md": dataplane_pages.functions(described, root),
    }


def describe(root: Path) -> dict[str, Any]:
    """What `weir-dp --describe` prints. WEIR_DP names another binary than that of build/."""
    binary = os.environ.get("WEIR_DP") or next(
        (str(path) for path in sorted((root / "build").glob("**/weir-dp")) if "asan" not in path.parts), None
    )
    if binary is None:
        raise NotBuiltError("weir-dp is not built: run 'make native' first")
    done = subprocess.run([binary, "--describe"], capture_output=True, text=True, check=True, timeout=60)
    described: dict[str, Any] = json.loads(done.stdout)
    return described


def _json(value: dict[str, Any]) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
