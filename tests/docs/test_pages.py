# SPDX-License-Identifier: Apache-2.0
"""The makers of the reference pages leave nothing out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer
from pydantic import BaseModel, Field

from tools.docs import cli_page, dataplane_pages, schema_page


class Inner(BaseModel):
    """What is inside."""

    level: int = Field(ge=1, le=9, description="how loud | how long")


class Outer(BaseModel):
    """What is outside."""

    name: str
    inner: Inner | None = None
    many: list[Inner] = []
    by_name: dict[str, Inner] = {}


def test_schema_page_has_a_row_for_each_property_with_type_limits_and_default() -> None:
    text = schema_page.page("Thing", "About it.", Outer.model_json_schema())
    assert text.startswith("# Thing\n")
    assert "| `name` |  | string | required |" in text
    assert "| `inner` |  | [Inner](#inner) |  |" in text
    assert "| `many` |  | list of [Inner](#inner) | `[]` |" in text
    assert "| `by_name` |  | map of [Inner](#inner) | `{}` |" in text
    assert "| `level` | how loud \\| how long | integer, at least `1`, at most `9` | required |" in text
    assert text.count("## Inner") == 1


def test_schema_page_says_how_a_quantity_and_a_table_of_names_are_written() -> None:
    wait = {
        "anyOf": [{"type": "number", "exclusiveMinimum": 0}, {"type": "string", "examples": ["100ms"]}],
        "x-unit": "ms",
        "default": 5,
    }
    functions = {"type": "object", "patternProperties": {"^[a-z]+$": {"type": "integer"}}}
    one_or_many = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
    schema = {"properties": {"wait_ms": wait, "functions": functions, "chain": one_or_many}}
    text = schema_page.page("Thing", "About it.", schema)
    assert "| `wait_ms` |  | number in ms, above `0`; or such as `100ms` | `5` |" in text
    assert "| `functions` |  | map of integer |  |" in text
    assert "| `chain` |  | string; or a list of them |  |" in text


app = typer.Typer(help="Does things.")


@app.callback()
def root() -> None:
    """Does things."""


@app.command()
def run(  # noqa: PLR0917
    lab: Annotated[Path, typer.Argument(help="the lab file")],
    quick: Annotated[bool, typer.Option("--quick", help="less of <it>")] = False,
    formats: Annotated[list[str] | None, typer.Option("--format", "-f", help="which reports")] = None,
    seed: Annotated[int, typer.Option(help="of randomness")] = 7,
    colour: Annotated[Literal["red", "blue"] | None, typer.Option(help="which one")] = None,
    secret: Annotated[bool, typer.Option("--secret", hidden=True)] = False,
) -> None:
    """Runs a lab.

    In two paragraphs.
    """
    raise AssertionError((lab, quick, formats, seed, colour, secret))


@app.command(hidden=True)
def internal() -> None:
    """Not for users."""


def test_cli_page_has_each_command_and_option_and_no_hidden_one() -> None:
    text = cli_page.page(app)
    assert "## weir run" in text
    assert "$ weir run LAB [OPTIONS]" in text
    assert "In two paragraphs." in text
    assert "| `LAB` | the lab file | required |" in text
    assert "| `--quick` | less of &lt;it> |  |" in text
    assert "| `--format`, `-f` TEXT | which reports |  |" in text
    assert "| `--seed` INTEGER | of randomness | `7` |" in text
    assert "| `--colour` `red` or `blue` | which one |  |" in text
    assert "secret" not in text
    assert "internal" not in text


def test_functions_page_has_each_option_and_drop_reason(tmp_path: Path) -> None:
    described = {
        "nfs": [
            {
                "name": "shaper",
                "summary": "limits a rate",
                "returns": True,
                "options": [
                    {
                        "name": "rate",
                        "type": "int",
                        "unit": "pps",
                        "default": 5,
                        "min": 1,
                        "max": 9,
                        "help": "how much",
                    },
                    {"name": "mode", "type": "enum", "values": ["drop", "mark"], "help": "what then"},
                ],
                "drop_reasons": [{"symbol": "over_rate", "sentence": "The rate was exceeded."}],
            }
        ]
    }
    text = dataplane_pages.functions(described, tmp_path)
    assert "| `rate` | int, pps | `5` | 1 to 9 | how much |" in text
    assert "| `mode` | enum |  | `drop` or `mark` | what then |" in text
    assert "| `over_rate` | The rate was exceeded. |" in text
