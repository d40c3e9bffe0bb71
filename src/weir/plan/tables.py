# SPDX-License-Identifier: Apache-2.0
"""Tables that functions keep for flows: which option sizes each, and how much memory an entry takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from weir.lab.function import NfOptions
from weir.lab.lab import Lab
from weir.lab.nf import Scalar, network_functions


@dataclass(frozen=True)
class Table:
    """One table of a function."""

    option: str
    """Which sizes it, in entries."""
    entry_bytes: int
    """With its part of the index; from the function's page under native/nf/."""


TABLES: Mapping[str, tuple[Table, ...]] = {
    "nat": (Table("sessions", 140),),
    "firewall": (Table("sessions", 100),),
    "lb": (Table("connections_max", 100),),
    "dpi": (Table("flows_max", 150), Table("charges_max", 90)),
}


INSPECTED_PACKETS_MAX = 400_000
"""So many are inspected within seconds, before a trial of known flows begins."""


def packets_looked_into(flows: int) -> int:
    """Of each flow, at most: `packets_max` of dpi. One at least."""
    return max(1, min(10, INSPECTED_PACKETS_MAX // flows))


def learning_packets(lab: Lab) -> int:
    """That have to pass before its functions know all flows."""
    nfs = [one for function in lab.functions.values() for one in function.nfs()]
    looked = max((int(one.options.get("packets_max", 10)) for one in nfs if one.nf == "dpi"), default=1)
    streams = 2 if lab.tester.direction == "bidirectional" else 1
    return lab.traffic.flows.count * streams * looked


def entries(one: NfOptions, table: Table) -> int:
    """Of the table, as the options say, or by default."""
    return int(one.options.get(table.option, _default(one.nf, table)))


def grown_bytes(nf: str, options: Mapping[str, Scalar]) -> int:
    """What its tables take beyond those of its default options."""
    one = NfOptions(nf=nf, options=dict(options))
    return sum(
        max(0, entries(one, table) - _default(nf, table)) * table.entry_bytes for table in TABLES.get(nf, ())
    )


def with_room(one: NfOptions, flows: int) -> NfOptions:
    """The function with tables that hold so many flows: as they are, where they do."""
    if one.nf == "dpi" and packets_looked_into(flows) < 10:
        one = one.model_copy(update={"options": {"packets_max": packets_looked_into(flows), **one.options}})
    needed = {table.option: flows for table in TABLES.get(one.nf, ()) if entries(one, table) < flows}
    return one.model_copy(update={"options": {**one.options, **needed}}) if needed else one


def _default(nf: str, table: Table) -> int:
    option = network_functions()[nf].option(table.option)
    assert option is not None
    return int(option.default or 0)
