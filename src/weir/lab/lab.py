# SPDX-License-Identifier: Apache-2.0
"""The lab file: a service chain, the technologies under it, the traffic through it, and what to measure."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, cast

from pydantic import (
    BeforeValidator,
    Field,
    WithJsonSchema,
    field_validator,
)

from weir.base.cores import Cores, default_cores
from weir.base.record import ONE_OR_MANY, LabSection, listed
from weir.lab.counterparts import PACKAGES, PROGRAMS, linux_counterpart
from weir.lab.function import FunctionName, FunctionOptions
from weir.lab.host import Host
from weir.lab.kernel import CONTAINER_RUNTIMES, words_of
from weir.lab.measure import Measure
from weir.lab.sla import Sla
from weir.lab.spanning import HostsOptions
from weir.lab.traffic import TesterOptions, Traffic
from weir.lab.variant import Technologies, TechnologyName, Variant, VariantName
from weir.lab.vm import VmOptions
from weir.technology import TECHNOLOGIES, TechnologyOptions

MAX_FUNCTIONS = 64
PRINTABLE = r"^[^\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]*$"
"""Neither controls nor marks that turn the direction of what follows."""
DEFAULT_FUNCTION = "default"
_PVP = re.compile(r"P(V+)P")
_CHAIN_NAME_MAX = 40
ChainForm = str | tuple[str, ...]


@dataclass(frozen=True)
class Chain:
    """A chain as measured: its name in reports, and its functions left to right."""

    name: str
    functions: tuple[str, ...]


@dataclass(frozen=True)
class Program:
    """A program that a function needs. One with a slash is looked for in `directory`."""

    name: str
    function: str
    directory: str
    package: str = ""
    """Debian's, which has it; empty: not known."""
    mend: str = ""
    """What to do where it is missing, if that is more than to install a package."""
    or_else: tuple[str, ...] = ()
    """Others that will do."""
    module: str = ""
    """In place of a program: a part of the kernel."""
    user: str = ""
    """In place of a program: whom the function runs as."""


def _chain_form(value: Any) -> ChainForm:
    wanted = "expected PVP, PVVP, … or a list of function names in brackets, such as [[firewall, nat]]"
    if isinstance(value, str):
        match = _PVP.fullmatch(value)
        if match is None:
            raise ValueError(f"unknown chain {value!r}; {wanted}")
        functions = len(match[1])
    elif isinstance(value, Sequence) and all(isinstance(name, str) for name in value):
        value = tuple(value)
        functions = len(value)
    else:
        raise ValueError(f"is {value!r}; {wanted}")
    if not 1 <= functions <= MAX_FUNCTIONS:
        raise ValueError(f"is a chain of {functions} functions; expected 1 to {MAX_FUNCTIONS}")
    return cast(ChainForm, value)


_ChainForm = Annotated[
    ChainForm,
    BeforeValidator(_chain_form),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "pattern": "^PV{1,64}P$"},
                {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": MAX_FUNCTIONS},
            ]
        }
    ),
]
_Chains = Annotated[tuple[_ChainForm, ...], ONE_OR_MANY, BeforeValidator(listed)]
_TechnologyNames = Annotated[tuple[TechnologyName, ...], ONE_OR_MANY, BeforeValidator(listed)]
Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,31}$", examples=["switching"])]


class Lab(LabSection):
    """One experiment. Reading it fills in `baseline` and the cores of each technology."""

    weir: Literal[1] = Field(description="version of the lab file's format")
    name: Name = Field(description="short name: small letters, digits and hyphens, 32 at most")
    title: str = Field(
        default="",
        max_length=200,
        pattern=PRINTABLE,
        description="heading of reports, without control characters",
    )
    chain: _Chains = Field(
        min_length=1,
        max_length=16,
        description="PVP, PVVP, … of the function `default`; or lists of function names, left to right",
    )
    technology: _TechnologyNames = Field(
        min_length=1,
        max_length=len(TECHNOLOGIES),
        description="what joins the functions; each is measured in turn",
    )
    baseline: str | None = Field(
        default=None, description="technology, or variant, that ratios refer to; absent: the first"
    )
    functions: dict[FunctionName, FunctionOptions] = Field(
        default={DEFAULT_FUNCTION: FunctionOptions(nf="l2fwd", options={"mode": "mac-rewrite"})},
        min_length=1,
        description="functions that chains can name",
    )
    tester: TesterOptions = Field(default=TesterOptions(), description="the two ends of the chain")
    traffic: Traffic = Field(default=Traffic(), description="what the tester sends")
    measure: Measure = Field(default=Measure(), description="what to search for, and how long")
    sla: Sla | None = Field(
        default=None, description="service level that is promised; absent: none is judged"
    )
    cores: Cores | None = Field(default=None, description="CPUs; absent: chosen from the machine")
    host: Host = Field(default=Host(), description="what is asked of the machine beyond its cores")
    hosts: HostsOptions | None = Field(
        default=None,
        description="hosts that the chains span, for `weir run --on`; absent: one machine has all",
    )
    technologies: Technologies = Field(default=Technologies(), description="options of each technology")
    variants: dict[VariantName, Variant] = Field(
        default={},
        max_length=64,
        description="ways to run the lab that are compared with each other instead of its technologies; "
        "what the machine lacks for one is a reason in the report, not an error",
    )
    steps: tuple[VariantName, ...] = Field(
        default=(),
        max_length=64,
        description="names of variants, each of which is the one before with one thing more: reports then "
        "say what each step brings",
    )

    @field_validator("chain", "technology")
    @classmethod
    def _distinct(cls, value: tuple[Any, ...]) -> tuple[Any, ...]:
        twice = next((item for item in value if value.count(item) > 1), None)
        if twice is not None:
            raise ValueError(f"names {twice!r} twice; expected each of them once")
        return value

    def chains(self) -> tuple[Chain, ...]:
        """The chains, in the order of the file."""
        return tuple(_chain(form) for form in self.chain)

    def forms(self, names: Collection[str]) -> tuple[ChainForm, ...]:
        """The chains of these names, as the file has them."""
        named = zip(self.chain, self.chains(), strict=True)
        return tuple(form for form, chain in named if chain.name in names)

    def compared(self) -> tuple[str, ...]:
        """What reports compare with each other: technologies, or variants."""
        if not self.variants:
            return self.technology
        return tuple(
            self.way_name(name, technology)
            for name in self.variants
            for technology in self.variant_technologies(name)
        )

    def variant_technologies(self, variant: str) -> tuple[str, ...]:
        """Under which a variant is run."""
        own = self.variants[variant].technology
        return self.technology if own is None else (own,)

    def way_name(self, variant: str, technology: str) -> str:
        """How reports call a variant under a technology."""
        return variant if len(self.variant_technologies(variant)) == 1 else f"{variant} {technology}"

    def machines(self, chain_name: str) -> tuple[VmOptions, ...]:
        """The virtual machines of a chain."""
        chain = next(one for one in self.chains() if one.name == chain_name)
        found = (self.functions[name].machine() for name in chain.functions)
        return tuple(machine for machine in found if machine is not None)

    def programs(self, chain_name: str) -> tuple[Program, ...]:
        """What a chain's functions start, and what Weir itself starts in their namespaces; each once."""
        chain = next(one for one in self.chains() if one.name == chain_name)
        found: dict[Program, None] = {}
        for name in chain.functions:
            program, container = self.functions[name].programmed(), self.functions[name].container
            if program is not None:
                directory = program.directory or "."
                found[Program("ip", name, directory, "iproute2")] = None
                found |= {Program(words_of(one)[0], name, directory): None for one in program.commands}
                named = program.counterpart if program.path is None else None
                known = PROGRAMS[named] if named is not None else None
                package, mend = (known.package, known.mend) if known is not None else ("", "")
                if container is None:
                    found[Program(program.started(), name, directory, package, mend)] = None
                    if program.user is not None:
                        found[Program("", name, directory, user=program.user)] = None
                else:
                    runtimes = (container.runtime,) if container.runtime else CONTAINER_RUNTIMES
                    first, *others = runtimes
                    found[Program(first, name, directory, first, or_else=tuple(others))] = None
            kernel = self.functions[name].namespaced()
            if kernel is None:
                continue
            directory = kernel.directory or "."
            found[Program("ip", name, directory, "iproute2")] = None
            done = [linux_counterpart(one.nf, kernel.counterpart) for one in self.functions[name].linux_as()]
            needed = {program for one in done if one is not None for program in one.programs}
            if kernel.drop_counters:
                needed.add("nft")
            found |= {Program(one, name, directory, PACKAGES[one]): None for one in sorted(needed)}
            modules = dict.fromkeys(one.kernel for one in done if one is not None and one.kernel)
            found |= {Program("", name, directory, module=one): None for one in modules}
            found |= {Program(words_of(one)[0], name, directory): None for one in kernel.commands}
        return tuple(found)

    def options(self, technology: str) -> TechnologyOptions:
        """The options of a technology. KeyError if there is no such technology."""
        return cast(TechnologyOptions, getattr(self.technologies, TECHNOLOGIES[technology].field))

    def with_options(self, technology: str, options: TechnologyOptions) -> Technologies:
        """`technologies` with these options of one. KeyError if there is no such technology."""
        return self.technologies.model_copy(update={TECHNOLOGIES[technology].field: options})

    def cores_for(self, technology: str, cpus: Sequence[int] = (0, 1)) -> Cores:
        """All three kinds of cores with a technology; `cpus` matter only where the lab leaves a choice."""
        described, options = TECHNOLOGIES[technology], self.options(technology)
        chosen = (options.cores or Cores()).over(self.cores)
        polled = getattr(options, described.cpu_options[0]) if described.cpu_options else None
        if polled:
            chosen = chosen.model_copy(update={"switch": polled})
        return chosen.over(default_cores(cpus, functions_apart=described.functions_apart))

    def polling_cpus(self, technology: str, cpus: Sequence[int] = (0, 1)) -> tuple[int, ...]:
        """CPUs that loops of weir-dp, and of a switch that polls, keep busy all the time."""
        chosen = self.cores_for(technology, cpus)
        switch = chosen.switch if TECHNOLOGIES[technology].switch == "polling" else ()
        functions = self.function_cpus(technology, cpus)
        return tuple(sorted({*(chosen.tester or ()), *functions, *(switch or ())}))

    def function_cpus(self, technology: str, cpus: Sequence[int] = (0, 1)) -> tuple[int, ...]:
        """CPUs of all chains' functions: their own; `functions` of `cores_for` too where one has none."""
        named = {name for chain in self.chains() for name in chain.functions}
        own = [function.cores for name, function in self.functions.items() if name in named]
        shared = () if own and None not in own else self.cores_for(technology, cpus).functions or ()
        return tuple(sorted({*shared, *(cpu for cores in own for cpu in cores or ())}))


def _chain(form: ChainForm) -> Chain:
    if isinstance(form, str):
        return Chain(form, (DEFAULT_FUNCTION,) * (len(form) - 2))
    name = "-".join(form)
    if len(name) > _CHAIN_NAME_MAX:
        runs = ((len(list(run)), function) for function, run in itertools.groupby(form))
        name = "-".join(f"{count}x{function}" if count > 1 else function for count, function in runs)
    return Chain(name, form)
