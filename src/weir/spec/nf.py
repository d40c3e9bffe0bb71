# SPDX-License-Identifier: Apache-2.0
"""The network functions and their options: what `weir-dp --describe` prints, committed as nf.json."""

from __future__ import annotations

import functools
import json
import re
from importlib import resources
from typing import Literal

from pydantic import BaseModel, ConfigDict, TypeAdapter

Scalar = str | int | float | bool
_MAC = re.compile(r"[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}")


class _Described(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class NfOption(_Described):
    """One option of a network function."""

    name: str
    type: Literal["enum", "mac", "int", "float", "bool", "string"]
    unit: str | None = None
    default: Scalar | None = None
    min: float | None = None
    max: float | None = None
    values: tuple[str, ...] | None = None
    help: str = ""

    def expected(self) -> str:
        """What a value must be, as an error says it."""
        unit = f" in {self.unit}" if self.unit else ""
        kind = {
            "enum": "one of " + ", ".join(self.values or ()),
            "mac": "a MAC address such as 02:00:00:00:00:01",
            "bool": "true or false",
            "string": "a text",
            "int": "a whole number",
            "float": "a number",
        }[self.type]
        if self.min is not None and self.max is not None:
            return f"{kind}{unit} from {self.min:.12g} to {self.max:.12g}"
        if self.min is not None:
            return f"{kind}{unit}, at least {self.min:.12g}"
        return kind + unit + (f", at most {self.max:.12g}" if self.max is not None else "")

    def accepts(self, value: Scalar) -> bool:
        """Whether weir-dp would take this value."""
        match self.type:
            case "enum":
                return value in (self.values or ())
            case "mac":
                return isinstance(value, str) and _MAC.fullmatch(value) is not None
            case "bool":
                return isinstance(value, bool)
            case "string":
                return isinstance(value, str)
        if isinstance(value, bool) or not isinstance(value, int if self.type == "int" else (int, float)):
            return False
        return (self.min is None or value >= self.min) and (self.max is None or value <= self.max)


class DropReason(_Described):
    """Why a function drops packets."""

    symbol: str
    sentence: str


class Nf(_Described):
    """One registered network function. One that does not return packets ends the chain."""

    name: str
    summary: str
    returns: bool = True
    options: tuple[NfOption, ...] = ()
    drop_reasons: tuple[DropReason, ...] = ()

    def option(self, name: str) -> NfOption | None:
        """The option of that name, or None."""
        return next((option for option in self.options if option.name == name), None)


@functools.cache
def network_functions() -> dict[str, Nf]:
    """All registered network functions by name."""
    text = resources.files("weir.spec").joinpath("nf.json").read_text(encoding="utf-8")
    described = TypeAdapter(tuple[Nf, ...]).validate_python(json.loads(text)["nfs"])
    return {nf.name: nf for nf in described}
