# SPDX-License-Identifier: Apache-2.0
"""Who may know whom, by the imports in syntax trees. C: test_includes.py."""

from __future__ import annotations

import ast
import functools
import io
import re
from pathlib import Path

import pytest

from tests.circle import circle_in
from tests.each_file import each_file
from tests.syntax import tree_of
from weir.procedures import PROCEDURES
from weir.report import FORMATS
from weir.report.blocks import new_console

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "weir"

# What each part may import of the others: whole parts, or modules of them. Everything may import base, and
# itself; everything above technology may import lab. Procedures wire the parts together, with rules of their
# own below. planning's rooms are parts of their own: those that measure nothing are pure. Modules called
# `command` belong to cli.
PYTHON_MAY_IMPORT: dict[str, frozenset[str]] = {
    "base": frozenset(),
    "technology": frozenset(),
    "lab": frozenset({"technology"}),
    "catalogue": frozenset(),
    "plan": frozenset(
        {
            "technology",
            "protocol.configuration",
            "protocol.connections",
            "protocol.errors",
            "protocol.traffic",
        }
    ),
    "planning": frozenset(),
    "planning.model": frozenset({"results"}),
    "planning.queueing": frozenset({"planning.model"}),
    "planning.fleet": frozenset({"results", "report"}),
    "planning.kernel_vnf": frozenset({"results", "report"}),
    "planning.placement": frozenset(
        {"plan", "technology", "results", "report", "planning.model", "planning.queueing"}
    ),
    "planning.calibration": frozenset(
        {
            "plan",
            "technology",
            "results",
            "report",
            "fabric",
            "protocol",
            "measure",
            "procedures",
            "planning.model",
            "planning.placement.prediction",
        }
    ),
    "results": frozenset(),
    "store": frozenset({"results"}),
    "host": frozenset(),
    "hosts": frozenset({"results", "fabric.line_program", "fabric.offer", "fabric.stop_signals"}),
    "report": frozenset({"results", "host.diagnosis", "procedures.PROCEDURES"}),
    "fabric": frozenset({"catalogue", "plan", "technology", "results", "host.facts"}),
    "protocol": frozenset(),
    "measure": frozenset({"results", "protocol.ledger", "protocol.traffic", "protocol.traffic_results"}),
    "explain": frozenset({"results"}),
    "comparison": frozenset({"results", "report"}),
    "web": frozenset({"store", "report", "comparison", "results"}),
    "verify": frozenset({"fabric", "plan", "results", "measure"}),
    "verify.suites": frozenset(
        {"verify.case", "verify.driver", "verify.chains", "verify.sanity", "verify.sip"}
        | {"results.calls", "results.chains", "results.scenario"}
    ),
    "verify.chains": frozenset(
        {"verify.case", "verify.driver", "verify.report.chains", "measure", "results"}
    ),
    "verify.sanity": frozenset({"verify.case", "verify.driver", "results"}),
    "verify.drivers": frozenset(
        {"verify.driver", "fabric", "plan", "protocol", "measure", "results", "procedures.driver"}
        | {"procedures.tenants.fidelity", "procedures.tenants.standing_cloud", "verify.sanity"}
    ),
    "verify.sip": frozenset({"verify.case", "verify.driver", "ims", "measure", "results"}),
    "ims": frozenset(),
    "verify.report": frozenset({"report", "results"}),
}
# Modules that change the system, or look at it, outside fabric. pyroute2 and subprocess are its own tools.
SYSTEM_MODULES = frozenset({"subprocess", "pyroute2", "ctypes", "fcntl", "signal", "multiprocessing"})
MAY_TOUCH_SYSTEM = frozenset({"fabric"})
FORBIDDEN_STEMS = re.compile(r"(^|_)(utils?|helpers?|managers?|common)(_|$)")
SOURCES = sorted(PACKAGE.rglob("*.py"))
PROCEDURE_FILES = sorted((PACKAGE / "procedures").rglob("*.py"))
# What the measuring code of a procedure may import; of procedures what they share: driver, campaign …
PROCEDURES_MAY_IMPORT = frozenset(
    {
        "base",
        "fabric",
        "host",
        "hosts",
        "lab",
        "measure",
        "plan",
        "protocol",
        "results",
        "store",
        "__version__",
    }
    | {f"procedures.{path.stem}" for path in (PACKAGE / "procedures").glob("*.py")}
)
CHAINS = ("local_chain.py", "tester_alone.py", "chain.py")
SECTIONS_MAY_IMPORT = frozenset({"base", "lab", "report", "results"})


def part_of(path: Path) -> str:
    """The part of the package that a file belongs to: "lab", "planning.fleet", also of a folder in that; ""
    for weir itself."""
    *folders, file = path.relative_to(PACKAGE).parts
    if file == "command.py":
        return "cli"
    rooms = [".".join(folders[:end]) for end in range(len(folders), 0, -1)]
    return next((room for room in rooms if room in PYTHON_MAY_IMPORT), folders[0] if folders else "")


def imported(tree: ast.AST, package: tuple[str, ...]) -> list[str]:
    """Absolute names of all modules that a file imports, at its top or anywhere inside."""
    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.extend(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            module = ".".join(part for part in (base, node.module or "") if part)
            names.extend(f"{module}.{alias.name}" for alias in node.names)
    return names


@functools.cache  # several tests ask it of each file
def imports_of(path: Path) -> list[str]:
    package = ("weir", *path.relative_to(PACKAGE).parts[:-1])
    return imported(tree_of(path), package)


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


@each_file(SOURCES)
def test_a_part_imports_only_the_parts_that_it_may_know(path: Path) -> None:
    part = part_of(path)
    if part in ("", "procedures", "cli"):
        return
    known = PYTHON_MAY_IMPORT[part] | {part, "base", "__version__"}
    if part not in ("base", "technology"):
        known |= {"lab"}
    for module in imports_of(path):
        if module.startswith("weir."):
            inner = module.removeprefix("weir.")
            allowed = any(inner == other or inner.startswith(f"{other}.") for other in known)
            assert allowed, f"{name(path)}: {part} must not import {module}"


@pytest.mark.parametrize("path", sorted((PACKAGE / "fabric").rglob("*.py")), ids=name)
def test_netlink_sockets_are_made_where_ctrl_c_waits(path: Path) -> None:
    """By `fabric.netlink`, which is given their kind."""
    tree = tree_of(path)
    kinds = {
        module.rpartition(".")[2]
        for module in imports_of(path)
        if module.startswith("pyroute2.")
        and module.endswith(("Socket", "IPRoute", "Ethtool", "NetNS", "NDB"))
    }
    made = [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in kinds
    ]
    assert made == [], f"{name(path)} makes sockets of {kinds} in lines {made}: use netlink.opened"


@each_file(SOURCES)
def test_nothing_but_commands_imports_the_command_line(path: Path) -> None:
    if part_of(path) != "cli" and not is_command(path):
        assert not [module for module in imports_of(path) if module.startswith("weir.cli")]


@each_file(SOURCES)
def test_nothing_but_its_command_imports_the_pages_that_are_served(path: Path) -> None:
    if part_of(path) != "web" and path != PACKAGE / "cli" / "serve.py":
        assert not [module for module in imports_of(path) if f"{module}.".startswith("weir.web.")]


def is_command(path: Path) -> bool:
    """A procedure's command, or a part of it such as outside_command.py, or what shows how far it is."""
    last = path.stem.rpartition("_")[2]
    return path.parent.parent == PACKAGE / "procedures" and last in ("command", "progress")


@pytest.mark.parametrize("path", PROCEDURE_FILES, ids=name)
def test_a_procedure_knows_instruments_and_no_other_procedure(path: Path) -> None:
    own = ".".join(("procedures", *path.relative_to(PACKAGE / "procedures").parts[:-1]))
    known = PROCEDURES_MAY_IMPORT | {own}
    if is_section(path):
        known = SECTIONS_MAY_IMPORT | {f"{own}.{one.stem}" for one in path.parent.glob("section*.py")}
    elif is_command(path):
        known |= {"cli", "report", "planning", "technology"}
    for module in imports_of(path):
        if module.startswith("weir."):
            inner = module.removeprefix("weir.")
            # A folder's own module, imported by its name: weir.procedures.soak.section_rows.
            allowed = any(inner == other or inner.startswith(f"{other}.") for other in known)
            assert allowed, f"{name(path)} must not import {module}"


def is_section(path: Path) -> bool:
    """A procedure's part of reports; or its own text, where it has none."""
    return path.stem.startswith("section") or path.stem == "text"


@each_file(SOURCES)
def test_only_commands_and_sections_of_a_procedure_are_reached_from_outside(path: Path) -> None:
    """And those by name, from the list in weir.procedures."""
    if part_of(path) in ("procedures", "cli"):
        return
    others = {one for one in imports_of(path) if one.startswith("weir.procedures.")}
    allowed = {"weir.procedures.PROCEDURES"}
    if path.parent.name == "calibration":  # builds chains, as procedures do
        allowed |= {one for one in others if one.startswith("weir.procedures.driver.")}
    if path.name in CHAINS:  # stand a measured cloud, or a tester at one, up as theirs do
        shared = ("weir.procedures.driver.", "weir.procedures.tenants.")
        allowed |= {one for one in others if one.startswith(shared)}
    assert not others - allowed, name(path)


@each_file(SOURCES)
def test_only_fabric_touches_the_system(path: Path) -> None:
    touching = {module.split(".")[0] for module in imports_of(path)} & SYSTEM_MODULES
    if part_of(path) not in MAY_TOUCH_SYSTEM | {"cli"}:
        assert not touching, (
            f"{name(path)} imports {', '.join(sorted(touching))}; only fabric touches the system"
        )


@each_file(SOURCES)
def test_the_product_never_imports_scapy(path: Path) -> None:
    assert "scapy" not in {module.split(".")[0] for module in imports_of(path)}


MODULES = {
    ".".join(("weir", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__"): path
    for path in SOURCES
}


def known_modules(path: Path) -> set[str]:
    """Modules of ours that a file imports, at its top or anywhere inside; for types alone does not count."""
    package = ("weir", *path.relative_to(PACKAGE).parts[:-1])
    tree = tree_of(path)
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = []
    found = set()
    for one in imported(tree, package):
        target = one if one in MODULES else one.rpartition(".")[0]
        if target in MODULES:
            found.add(target)
    return found


def with_packages(module: str) -> set[str]:
    """Importing a module imports the packages that it is in."""
    parts = module.split(".")
    return {".".join(parts[: count + 1]) for count in range(len(parts))}


@pytest.fixture(scope="module")
def graph() -> dict[str, set[str]]:
    """Each module, and those that it imports."""
    return {name_: known_modules(path) - {name_} for name_, path in MODULES.items()}


@pytest.mark.long
def test_no_modules_import_each_other_in_a_circle(graph: dict[str, set[str]]) -> None:
    assert circle_in(graph) is None


RUN_REACHES_LINES = 24_888
"""Of code, in modules, the sections and formats of a run among them. The fewer the better: lower it when you
can. Lines, since a count of modules would hold back who divides a large one; without comments and docstrings,
which nobody is to spare."""


def code_lines(path: Path) -> int:
    """On which something begins or ends that is neither comment nor docstring."""
    texts: set[ast.AST] = set()
    found: set[int] = set()
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            texts |= {node, node.value}
        elif isinstance(node, ast.expr | ast.stmt) and node not in texts:
            found.add(node.lineno)
            if isinstance(node, ast.expr):
                found.add(node.end_lineno or node.lineno)
    return len(found)


def test_a_run_needs_no_more_of_the_source_than_it_did(graph: dict[str, set[str]]) -> None:
    """Each line is in a file that somebody opens who follows `weir run`."""
    formats = [
        place.partition(":")[0]
        for name_, place in FORMATS.items()
        if name_ in ("terminal", "json", "csv", "html")
    ]
    sections = [f"weir.procedures.{one.name}.section" for one in PROCEDURES if one.every_run]
    waiting = ["weir.procedures.throughput.command", *sections, *formats]
    reached: set[str] = set()
    while waiting:
        for module in with_packages(waiting.pop()) - reached:
            reached.add(module)
            waiting += graph[module] - reached
    lines = sum(code_lines(MODULES[one]) for one in reached)
    assert lines <= RUN_REACHES_LINES, f"weir run reaches {lines} lines in {len(reached)} modules"


@pytest.mark.long
def test_consoles_are_made_in_one_place_that_takes_no_part_of_a_mac_address_for_an_emoji() -> None:
    """Rich does unless told: 02:57:c1:cd:00:01 has a compact disc in it."""
    made = [
        name(path)
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Call | ast.ClassDef)
        for used in (node.bases if isinstance(node, ast.ClassDef) else [node.func])
        if isinstance(used, ast.Name) and used.id == "Console"
    ]
    assert made == ["src/weir/report/blocks.py"]
    out = io.StringIO()
    new_console(out).print("02:57:c1:cd:00:01")
    assert out.getvalue() == "02:57:c1:cd:00:01\n"


def test_no_file_has_a_name_that_says_nothing() -> None:
    places = [ROOT / part for part in ("src", "native", "tests", "tools", "bench")]
    files = [path for place in places for path in place.rglob("*") if path.suffix in (".py", ".c", ".h")]
    assert len(files) > 20
    assert not [name(path) for path in files if FORBIDDEN_STEMS.search(path.stem)]


def test_the_rule_for_imports_sees_imports_inside_functions() -> None:
    tree = ast.parse("def f():\n    from ..fabric import deploy\n    import weir.cli.main\n")
    assert imported(tree, ("weir", "plan")) == ["weir.fabric.deploy", "weir.cli.main"]
