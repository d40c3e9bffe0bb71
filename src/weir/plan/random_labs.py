# SPDX-License-Identifier: Apache-2.0
"""Labs drawn at random: set-ups to hold the cost model against that nobody chose. Pure; one seed, one series.

Every architecture, with and without a fast path, every function, every number of them and every placement is
as likely as the others, numbers of flows and of entries of lists are as likely to be in one decade as in
another. What the model has never measured (a function, options other than lists and tables) is not drawn.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from pydantic import ValidationError
from ruamel.yaml import YAML

from weir.base.error import WeirError
from weir.base.node import WITH_WORKERS, is_jumbo
from weir.base.record import fault_text
from weir.lab.check import complaints
from weir.lab.frames import IMIX_BYTES
from weir.lab.function import ARCHITECTURES, NfOptions
from weir.lab.lab import Lab
from weir.lab.nf import Scalar, network_functions
from weir.lab.traffic import MAX_FLOWS
from weir.lab.ways import completed
from weir.plan.memory import packets_looked_into, with_room
from weir.technology import TECHNOLOGIES

FASTPATH = "fast path"
RUN_AS = (*ARCHITECTURES, FASTPATH)
FUNCTIONS_MAX, WORKERS_MAX, STATE_CORES_MAX = 4, 4, 2
SIZES_BYTES = tuple(sorted({size for size in IMIX_BYTES.values() if not is_jumbo(size)}))
_LETTERS = "".join(letter for letter, size in IMIX_BYTES.items() if size in SIZES_BYTES and letter != "z")
_LETTERS_MAX = 12
_FASTPATH_FLOWS_MIN, _FASTPATH_FLOWS_MAX = 256, 1 << 20
_ROOMIER_MAX = 4
"""So many times the flows has a table at most that was made larger for them."""
UNSOLICITED = frozenset({"nat", "firewall"})
"""Functions that drop packets from the outside that answer none; the tester's streams answer none."""
FRUITLESS_MAX = 200
"""Draws in a row that do not run: then none will."""
_YAML_WIDTH = 1 << 15


@dataclass(frozen=True)
class Known:
    """What a cost model has measured, and draws may use."""

    technology: str
    technologies: Mapping[str, Any]
    """Options of the technology, as in a lab file."""
    functions: Mapping[str, Mapping[str, Scalar]]
    """With the options that they were measured with."""
    entries_max: Mapping[str, int]
    """Of a function's list; functions without one are left out."""
    fastpath: bool


@dataclass(frozen=True)
class Drawn:
    """One of a series."""

    number: int
    lab: Lab
    text: str
    """Of its lab file."""
    refused: tuple[str, ...]
    """Why draws before it were none."""


class FruitlessError(WeirError):
    """Nothing that is drawn runs."""

    def __init__(self, why: str) -> None:
        super().__init__(f"{FRUITLESS_MAX} draws in a row do not run, the last one since {why}")


def drawn(known: Known, cpus: Sequence[int], seed: int) -> Iterator[Drawn]:
    """One after the other, without end. ValueError if the model knows no function that can be drawn,
    FruitlessError if no draw makes a lab that is possible on these CPUs."""
    if not known.functions:
        raise ValueError("the model knows no function")
    random, number, refused = Random(seed), 0, list[str]()
    while True:
        values = _values(known, cpus, random, number + 1)
        try:
            lab = Lab.model_validate(values)
            wrong = next((one.message for one in complaints(lab, cpus)), None) or _unanswerable(lab)
        except ValidationError as error:
            wrong = fault_text(error)
        if wrong is not None:
            refused.append(wrong)
            if len(refused) == FRUITLESS_MAX:
                raise FruitlessError(wrong)
            continue
        number += 1
        header = f"random set-up {number} of seed {seed}"
        yield Drawn(number, completed(lab, tuple(cpus)), _text(values, header), tuple(refused))
        refused = []


def _unanswerable(lab: Lab) -> str | None:
    """Of traffic that a function would drop."""
    nfs = {one.nf for function in lab.functions.values() for one in function.nfs()}
    both = sorted(nfs & UNSOLICITED) if lab.tester.direction == "bidirectional" else []
    return f"{both[0]} drops what comes back to no request of the tester's" if both else None


def _text(values: Mapping[str, Any], header: str) -> str:
    yaml = YAML(pure=True)
    yaml.default_flow_style = None
    yaml.width = _YAML_WIDTH
    written = io.StringIO()
    yaml.dump(dict(values), written)
    return f"# {header}\n{written.getvalue()}"


def _values(known: Known, cpus: Sequence[int], random: Random, number: int) -> dict[str, Any]:
    """A lab as its file has it; it may be impossible."""
    flows = _log_uniform(random, 1, MAX_FLOWS)
    direction = random.choice(("left-to-right", "bidirectional"))
    streams = 2 if direction == "bidirectional" else 1
    run_as = random.choice([one for one in RUN_AS if known.fastpath or one != FASTPATH])
    count = random.randint(1, min(FUNCTIONS_MAX, len(known.functions)))
    names = random.sample(sorted(known.functions), count)
    nfs = [_function(known, name, flows * streams, random) for name in names]
    parts = [nfs]
    if run_as == ARCHITECTURES[0] and random.random() < 0.5:
        at = random.randint(0, count - 1)
        parts = [part for part in (nfs[:at], nfs[at:]) if part]
    functions = {f"f{index}": _run_as(run_as, part, random) for index, part in enumerate(parts, 1)}
    return {
        "weir": 1,
        "name": f"random-{number}",
        "chain": [list(functions)],
        "technology": known.technology,
        "functions": functions,
        "technologies": {known.technology: dict(known.technologies)} if known.technologies else {},
        "cores": _cores(cpus, random, known.technology),
        "tester": {"direction": direction},
        "traffic": {
            "frames": [_frame(random)],
            "flows": {"count": flows, "vary": ["src_ip", "src_port"]},
        },
    }


def _function(known: Known, name: str, flows: int, random: Random) -> dict[str, Any]:
    options = dict(known.functions[name])
    most = known.entries_max.get(name, 0)
    if name in LISTS and most and (random.random() < 0.5 or LISTS[name].least):
        kind = LISTS[name]
        options.pop(kind.file_option, None)
        options[kind.option] = kind.text(_log_uniform(random, max(1, kind.least), most), random)
    plain = NfOptions(nf=name, options=options)
    for key, value in with_room(plain, flows).options.items():
        if plain.options.get(key) != value:
            options[key] = min(int(value) * random.randint(1, _ROOMIER_MAX), _most(name, key, int(value)))
    if name == "dpi":
        options["packets_max"] = random.randint(1, packets_looked_into(flows))
    return {"nf": name, **({"options": options} if options else {})}


def _most(name: str, key: str, value: int) -> int:
    """Of a table, as far as the function allows; as much as is needed in any case: that is refused, then."""
    option = network_functions()[name].option(key)
    return max(value, int(option.max)) if option is not None and option.max is not None else value


def _run_as(run_as: str, nfs: Sequence[Mapping[str, Any]], random: Random) -> dict[str, Any]:
    architecture = random.choice(ARCHITECTURES) if run_as == FASTPATH else run_as
    found: dict[str, Any] = {"chain": [dict(one) for one in nfs], "architecture": architecture}
    if architecture in WITH_WORKERS:
        found["workers"] = random.randint(1, WORKERS_MAX)
    if architecture == "separated":
        found["state_cores"] = random.randint(1, STATE_CORES_MAX)
    if run_as == FASTPATH:
        found["fastpath"] = True
        found["fastpath_flows"] = _log_uniform(random, _FASTPATH_FLOWS_MIN, _FASTPATH_FLOWS_MAX)
    return found


def _cores(cpus: Sequence[int], random: Random, technology: str) -> dict[str, list[int]]:
    """The tester's core; functions on it too, on others, or on both. A switch with a core of its own has the
    last one."""
    own = list(cpus[-1:]) if TECHNOLOGIES[technology].own_core and len(cpus) > 1 else []
    free = [cpu for cpu in cpus if cpu not in own]
    tester = random.choice(free)
    others = [cpu for cpu in free if cpu != tester]
    some = random.sample(others, random.randint(1, len(others))) if others else []
    functions = random.choice([[tester], some, [tester, *some]]) if some else [tester]
    return {"tester": [tester], "functions": sorted(functions), **({"switch": own} if own else {})}


def _frame(random: Random) -> int | str:
    kind = random.randrange(4)
    if kind < 2:
        return random.choice(SIZES_BYTES)
    if kind == 2:
        return random.randint(SIZES_BYTES[0], SIZES_BYTES[-1])
    return "imix:" + "".join(random.choices(_LETTERS, k=random.randint(2, _LETTERS_MAX)))


def _log_uniform(random: Random, least: int, most: int) -> int:
    exact = least * math.exp(math.log(most / least) * random.random())
    return min(most, max(least, round(exact)))


@dataclass(frozen=True)
class DrawnList:
    """The list of one function."""

    option: str
    file_option: str
    """In place of which it stands."""
    least: int
    """Entries without which the function does nothing."""
    entry: Callable[[Random, int], str]
    """By its number."""

    def text(self, entries: int, random: Random) -> str:
        """So many of them, each another one."""
        found: dict[str, None] = {}
        while len(found) < entries:
            found[self.entry(random, len(found))] = None
        return ", ".join(found)


def _prefix(random: Random) -> str:
    """Of 10.0.0.0/8, from which the tester sends nothing."""
    length = random.randint(9, 32)
    address = (10 << 24 | random.getrandbits(24)) >> 32 - length << 32 - length
    return f"{'.'.join(str(address >> shift & 255) for shift in (24, 16, 8, 0))}/{length}"


def _rule(random: Random, number: int) -> str:
    del number
    return f"deny udp {_prefix(random)} any"


def _route(random: Random, number: int) -> str:
    """The first one is the tester's packets' own."""
    return f"{_prefix(random) if number else '0.0.0.0/0'} default"


def _back_end(random: Random, number: int) -> str:
    """Of the one service, to which the tester sends."""
    del random
    return f"198.19.0.1:1024/udp 198.19.{1 + number // 250}.{1 + number % 250}:1024"


# So long that what they cost shows. None of their rules is for the tester's packets, so that each packet is
# held against all.
LISTS: Mapping[str, DrawnList] = {
    "acl": DrawnList("rule_list", "rules", 0, _rule),
    "l3fwd": DrawnList("route_list", "routes", 0, _route),
    "lb": DrawnList("services", "services_file", 1, _back_end),
}
