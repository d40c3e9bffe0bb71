# SPDX-License-Identifier: Apache-2.0
"""The network functions and their options: what `weir-dp --describe` prints, committed as nf.json."""

from __future__ import annotations

import functools
import ipaddress
import json
import re
from collections.abc import Callable
from importlib import resources
from typing import Literal

from pydantic import BaseModel, ConfigDict, TypeAdapter

Scalar = str | int | float | bool
_MAC = re.compile(r"[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}")


_WHOLE = re.compile(r"-?[0-9]{1,20}")
"""As many digits as 64 bits need."""
_TEXT_BYTES = 16383  # WEIR_OPTION_TEXT_BYTES, less its end


def _is(kind: Callable[[str], object], text: str) -> bool:
    try:
        kind(text)
    except ValueError:
        return False
    return True


class _Described(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class NfOption(_Described):
    """One option of a network function."""

    name: str
    type: Literal["enum", "mac", "int", "bool", "ipv4", "prefix", "prefix6", "text", "file"]
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
            "int": "a whole number",
            "ipv4": "an IPv4 address such as 192.0.2.1",
            "prefix": "an IPv4 prefix such as 192.0.2.0/24, without host bits",
            "prefix6": "an IPv6 prefix such as 2001:db8::/64, without host bits",
            "text": f"a text in UTF-8, of 1 to {_TEXT_BYTES} bytes",
            "file": f"the path of a file, {_TEXT_BYTES} bytes at most",
        }[self.type]
        if self.min is not None and self.max is not None:
            return f"{kind}{unit} from {self.min:.12g} to {self.max:.12g}"
        if self.min is not None:
            return f"{kind}{unit}, at least {self.min:.12g}"
        return kind + unit + (f", at most {self.max:.12g}" if self.max is not None else "")

    def typed(self, text: str) -> Scalar:
        """What a text stands for. ValueError says what was expected."""
        value: Scalar = text
        if self.type == "bool" and text in ("true", "false"):
            value = text == "true"
        elif self.type == "int" and _WHOLE.fullmatch(text):
            value = int(text)
        if not self.accepts(value):
            raise ValueError(self.expected())
        return value

    def accepts(self, value: Scalar) -> bool:
        """Whether weir-dp would take this value."""
        if self.type == "bool":
            return isinstance(value, bool)
        if self.type == "int":
            if isinstance(value, bool) or not isinstance(value, int):
                return False
            return (self.min is None or value >= self.min) and (self.max is None or value <= self.max)
        return isinstance(value, str) and self._accepts_text(value)

    def _accepts_text(self, text: str) -> bool:
        match self.type:
            case "enum":
                return text in (self.values or ())
            case "mac":
                return _MAC.fullmatch(text) is not None
            case "ipv4":
                return _is(ipaddress.IPv4Address, text)
            case "prefix":
                return _is(ipaddress.IPv4Network, text)
            case "prefix6":
                return _is(ipaddress.IPv6Network, text)
        return _is(str.encode, text) and 0 < len(text.encode()) <= _TEXT_BYTES


class DropReason(_Described):
    """Why a function drops packets."""

    symbol: str
    sentence: str


class Command(_Described):
    """A change that a function takes while packets flow."""

    name: str
    help: str
    arguments: tuple[NfOption, ...] = ()


class Nf(_Described):
    """One registered network function. One that does not return packets ends the chain."""

    name: str
    summary: str
    returns: bool = True
    decides: bool = False
    """Decides on actions that the core applies: it can run in every architecture and in the fast path."""
    steers: bool = False
    """Says which packets must meet: of such functions one at the most can be shared out to workers."""
    rewrites: bool = False
    """Changes packets; others let them pass, or not."""
    tunnels: bool = False
    """Puts packets into others, or takes them out: lengths change."""
    flow_bytes: int = 0
    """Of its state for a flow, what the flow's packets read and write; 0: it keeps nothing."""
    outbound_flows_only: bool = False
    """It keeps nothing of flows from the outside."""
    stand_in: str | None = None
    """An option, "name=value", for commands that name the function alone."""
    options: tuple[NfOption, ...] = ()
    drop_reasons: tuple[DropReason, ...] = ()
    commands: tuple[Command, ...] = ()

    @property
    def shares_state(self) -> bool:
        """Both directions have the same state: of a function that decides, and of one that is asked in one
        direction and answers in the other."""
        return self.decides or self.tunnels

    def option(self, name: str) -> NfOption | None:
        """The option of that name, or None."""
        return next((option for option in self.options if option.name == name), None)


def entries(text: str) -> list[str]:
    """Of a list in an option or a file, as weir-dp's entries.c parts it: at commas and lines, without the
    remarks, each of which ends with its line; empty ones too."""
    return [entry.strip() for line in text.split("\n") for entry in line.partition("#")[0].split(",")]


@functools.cache
def network_functions() -> dict[str, Nf]:
    """All registered network functions by name."""
    text = resources.files("weir.lab").joinpath("nf.json").read_text(encoding="utf-8")
    described = TypeAdapter(tuple[Nf, ...]).validate_python(json.loads(text)["nfs"])
    return {nf.name: nf for nf in described}
