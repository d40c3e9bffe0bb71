# SPDX-License-Identifier: Apache-2.0
"""`traffic.fields` of a lab: fields of generated frames whose values change from packet to packet."""

from __future__ import annotations

import ipaddress
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import BeforeValidator, Field, GetJsonSchemaHandler, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from weir.base.record import LabSection

FIELD_VALUES_MAX = 64
PacketFieldName = Literal[
    "src_ip", "dst_ip", "src_port", "dst_port", "vlan", "priority", "dscp", "ttl", "payload_byte"
]
PACKET_FIELDS: tuple[PacketFieldName, ...] = get_args(PacketFieldName)
_LIMITS: dict[str, tuple[int, int]] = {
    "src_port": (0, 65535),
    "dst_port": (0, 65535),
    "vlan": (1, 4094),
    "priority": (0, 7),
    "dscp": (0, 63),
    "ttl": (1, 255),
    "payload_byte": (0, 255),
}
_Weight = Annotated[int, Field(ge=0, le=1_000_000)]


class _FieldValues(LabSection):
    order: Literal["random", "in-turn"] = Field(
        default="random",
        description="`random`: drawn for each packet by `measure.seed`; `in-turn`: packet n of a trial has "
        "value n, and round again",
    )
    weights: tuple[_Weight, ...] = Field(
        default=(),
        max_length=FIELD_VALUES_MAX,
        description="of `values` in random order: how often each comes; absent: equally often",
    )

    def _check(self, *said: bool) -> None:
        if sum(said) != 1:
            raise ValueError(f"says its values in {sum(said)} ways; expected one of the ways it has")

    def _check_weights(self, values: int) -> None:
        if self.weights and (len(self.weights) != values or self.order != "random"):
            raise ValueError(
                f"has {len(self.weights)} weights; expected one for each of `values`, in random order"
            )
        if self.weights and not any(self.weights):
            raise ValueError("has weights of 0 alone; expected one above 0")


class NumberField(_FieldValues):
    """A number that changes from packet to packet: a range or a list."""

    first: int | None = Field(default=None, description="least value of a range, with `last`")
    last: int | None = Field(default=None, description="greatest value of a range")
    values: tuple[int, ...] = Field(
        default=(), max_length=FIELD_VALUES_MAX, description="a list, in place of a range"
    )

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        self._check(self.first is not None or self.last is not None, bool(self.values))
        if not self.values and (self.first is None or self.last is None or self.first > self.last):
            raise ValueError("is a range without an end; expected `first` and `last`, the greater one last")
        self._check_weights(len(self.values))
        return self

    def numbers(self) -> tuple[int, ...]:
        """The listed values; of a range its first and its last."""
        return self.values or (self.first or 0, self.last or 0)


class AddressField(_FieldValues):
    """An IP address that changes from packet to packet: of a prefix, a range or a list."""

    prefix: str | None = Field(default=None, description="all addresses of it; of IPv6 /96 or longer")
    first: str | None = Field(default=None, description="first address of a range, with `last`")
    last: str | None = Field(default=None, description="last address of a range")
    values: tuple[str, ...] = Field(
        default=(), max_length=FIELD_VALUES_MAX, description="a list, in place of prefix and range"
    )

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        self._check(
            self.prefix is not None, self.first is not None or self.last is not None, bool(self.values)
        )
        if not self.values and self.prefix is None and (self.first is None or self.last is None):
            raise ValueError("is a range without an end; expected `first` and `last`")
        self._check_weights(len(self.values))
        found = self.addresses()
        if len({one.version for one in found}) > 1:
            raise ValueError("has addresses of IPv4 and of IPv6; expected one version")
        if not self.values and int(found[0]) > int(found[1]):
            raise ValueError(f"goes from {found[0]} to {found[1]}; expected the greater one last")
        if len({int(one) >> 32 for one in found}) > 1:
            raise ValueError("differs above its last 32 bits; expected addresses of one /96")
        return self

    def addresses(self) -> tuple[ipaddress.IPv4Address | ipaddress.IPv6Address, ...]:
        """The listed values; of a range or prefix its first and its last."""
        if self.prefix is not None:
            try:
                network = ipaddress.ip_network(self.prefix)
            except ValueError:
                raise ValueError(
                    f"{self.prefix!r} is no prefix; expected one without host bits, such as 198.18.0.0/16"
                ) from None
            return network[0], network[-1]
        try:
            return tuple(
                ipaddress.ip_address(one) for one in self.values or (self.first or "", self.last or "")
            )
        except ValueError as error:
            raise ValueError(f"{error}; expected IP addresses") from None

    def numbers(self) -> tuple[int, ...]:
        """The last 32 bits of these."""
        return tuple(int(one) & 0xFFFFFFFF for one in self.addresses())


def _constant(value: Any) -> Any:
    if isinstance(
        value, dict
    ):  # a validator that runs before takes JSON's lists for Python's, which are strict
        return {key: tuple(one) if isinstance(one, list) else one for key, one in value.items()}
    return {"values": (value,)} if isinstance(value, int | str) and not isinstance(value, bool) else value


class _OrConstant:
    """Of which the lab may also just say one value."""

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"anyOf": [{"type": ["integer", "string"]}, handler(core)]}


_Number = Annotated[NumberField, _OrConstant, BeforeValidator(_constant)]
_Address = Annotated[AddressField, _OrConstant, BeforeValidator(_constant)]


class PacketFields(LabSection):
    """Fields whose values change from packet to packet, over what `flows`, `vlan` and the ends say. As what
    runs left to right has them; what runs back has sources and destinations exchanged, packet by packet."""

    src_ip: _Address | None = Field(default=None, description="address of the left end")
    dst_ip: _Address | None = Field(default=None, description="address of the right end")
    src_port: _Number | None = Field(default=None, description="port of the left end, 0 to 65535")
    dst_port: _Number | None = Field(default=None, description="port of the right end, 0 to 65535")
    vlan: _Number | None = Field(default=None, description="VLAN, 1 to 4094, of frames with a tag")
    priority: _Number | None = Field(default=None, description="priority of the tag (PCP), 0 to 7")
    dscp: _Number | None = Field(default=None, description="differentiated services (RFC 2474), 0 to 63")
    ttl: _Number | None = Field(default=None, description="time to live, of IPv6 the hop limit, 1 to 255")
    payload_byte: _Number | None = Field(
        default=None, description="what every byte of the payload behind the stamp is, 0 to 255; absent: 0"
    )

    @model_validator(mode="after")
    def _fit(self) -> Self:
        for name, (least, most) in _LIMITS.items():
            field = getattr(self, name)
            for value in field.numbers() if field is not None else ():
                if not least <= value <= most:
                    raise ValueError(f"{name} cannot be {value}; expected {least} to {most}")
        return self

    def said(self) -> dict[PacketFieldName, NumberField | AddressField]:
        """Those that the lab has."""
        return {name: one for name in PACKET_FIELDS if (one := getattr(self, name)) is not None}
