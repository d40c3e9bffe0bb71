# SPDX-License-Identifier: Apache-2.0
"""Every file that is generated from the code, and how. To add one: a line in `files`.

The functions and the protocol are described here and in nf.json; contract tests compare both with the built
weir-dp, so that the pages can be made without it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tools.docs import cli_page, dataplane_pages, kernel_vnf_page, regime_page, schema_page
from tools.docs import dataplane_schema as protocol
from weir.cli.main import app
from weir.host import diagnosis
from weir.lab import fleet_load, sut, tenants_load
from weir.lab.overlay import lab_schema
from weir.report import data_formats
from weir.results import (
    comparison,
    explanation,
    fleet_placement,
    host_graph,
    kernel_vnf,
    lab_plan,
    lean,
    outside_lean,
    trend,
    verification,
)
from weir.results import model as cost_model

LAB_INTRO = """\
A lab file is YAML. `weir validate FILE` checks one without touching the machine; unknown keys and bad values
are refused with file, line, what was expected and the nearest valid name. The same as JSON Schema, for
editors: [schema/lab.schema.json](../../schema/lab.schema.json)."""

RESULT_INTRO = """\
What `weir run` stores and `weir report --format json` writes. Units are in the names; rates are totals over
both directions unless a field says otherwise. How a number comes about: [method](../design/method.md). JSON
Schema: [schema/result.schema.json](../../schema/result.schema.json)."""


LEAN_INTRO = """\
What `weir lean --json` writes, and `--baseline FILE` reads. Units are in the names; "per packet" is per
packet that enters the chain, for stages too, so that they add up. How a number comes about:
[method](../design/method.md#lean-measurement). JSON Schema:
[schema/lean.schema.json](../../schema/lean.schema.json)."""

MODEL_INTRO = """\
What `weir model calibrate` writes, and `weir model predict` reads. How it is measured and fitted:
[the cost model](../design/model.md). JSON Schema:
[schema/model.schema.json](../../schema/model.schema.json)."""

LEAN_MACHINE_INTRO = """\
What `weir lean --machine --json` writes: cycles of one load, by where its data was. How it is measured
and what it cannot show:
[what a machine costs](../how-to/measure-without-a-tester.md#what-does-this-machine-cost). JSON
Schema: [schema/lean-machine.schema.json](../../schema/lean-machine.schema.json)."""

OUTSIDE_LEAN_INTRO = """\
What `weir lean --json` writes of functions outside weir-dp: CPU time a packet. How it is measured and what
it cannot show:
[functions outside weir-dp](../how-to/measure-without-a-tester.md#functions-outside-weir-dp). JSON Schema:
[schema/lean-outside.schema.json](../../schema/lean-outside.schema.json)."""

DOCTOR_INTRO = """\
What `weir doctor --json` writes: findings, worst first, and the facts that they rest on. What to do about
them: [tune a host](../how-to/tune-a-host.md). JSON Schema:
[schema/doctor.schema.json](../../schema/doctor.schema.json)."""


KERNEL_VNF_INTRO = """\
What `weir model kernel-vnf` prints with `--json`: a list of these entries. `predict` has one for each flow
count, and within it for each frame size, in the order of the options; `rank` has for each of these all
configurations that fit, best first. How a number comes about:
[the model](../design/kernel-vnf-model.md). JSON Schema:
[schema/kernel-vnf.schema.json](../../schema/kernel-vnf.schema.json)."""


FLEET_INTRO = """\
A fleet file is YAML, for [`weir fleet plan`](../how-to/plan-a-fleet.md). Unknown keys and bad values are
refused with file, line, what was expected and the nearest valid name. JSON Schema, for editors:
[schema/fleet.schema.json](../../schema/fleet.schema.json)."""

TENANTS_INTRO = """\
A lab file with `tenants`, for [`weir deploy`](../how-to/build-a-cloud.md) and
[`weir run`](../how-to/measure-a-cloud.md). Unknown keys and bad values are
refused with file, line, what was expected and the nearest valid name. JSON Schema, for editors:
[schema/tenants.schema.json](../../schema/tenants.schema.json)."""

SUT_INTRO = """\
The file of a system under test, for [`weir verify`](../how-to/verify-a-cloud.md). Unknown keys and bad values
are refused with file, line, what was expected and the nearest valid name. JSON Schema, for editors:
[schema/sut.schema.json](../../schema/sut.schema.json)."""

VERIFICATION_INTRO = """\
What `weir verify --json` prints, and verification.json in a run's folder. Units are in the names. What the
outcomes mean: [verify a cloud](../how-to/verify-a-cloud.md). JSON Schema:
[schema/verification.schema.json](../../schema/verification.schema.json)."""

PLACEMENT_INTRO = """\
What `weir fleet plan` prints with `--json` and writes with `--output`. Units are in the names. JSON Schema:
[schema/placement.schema.json](../../schema/placement.schema.json)."""

LAB_PLAN_INTRO = """\
What `weir plan` prints with `--json`. Units are in the names. How a placement is chosen:
[plan a lab](../how-to/plan-a-lab.md). JSON Schema:
[schema/lab-plan.schema.json](../../schema/lab-plan.schema.json)."""

HOST_GRAPH_INTRO = """\
What `weir graph -f json` writes. Units are in the names. How to look at a host:
[see a host's network](../how-to/see-a-network.md). JSON Schema:
[schema/host-graph.schema.json](../../schema/host-graph.schema.json)."""

EXPLANATION_INTRO = """\
What `weir explain --json` prints. Units are in the names. How a verdict comes about, and what it cannot know:
[explain a result](../how-to/explain-a-result.md). JSON Schema:
[schema/explanation.schema.json](../../schema/explanation.schema.json)."""

COMPARISON_INTRO = """\
What `weir compare --json` prints of two sides; of more, [several](comparisons.md). Units are in the names.
What its words mean, and how it is judged: [compare runs](../how-to/compare-runs.md). JSON Schema:
[schema/comparison.schema.json](../../schema/comparison.schema.json)."""

COMPARISONS_INTRO = """\
What `weir compare --json` prints of more than two sides. Units are in the names. What its words mean, and how
it is judged: [compare runs](../how-to/compare-runs.md#more-than-two-sides). JSON Schema:
[schema/comparisons.schema.json](../../schema/comparisons.schema.json)."""

TREND_INTRO = """\
What `weir trend --json` prints. Units are in the names. How steps are told from noise:
[watch a lab](../how-to/watch-a-lab.md). JSON Schema:
[schema/trend.schema.json](../../schema/trend.schema.json)."""


def as_text(schema: Mapping[str, Any]) -> str:
    """Indented, with a final newline."""
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def files(root: Path) -> dict[str, str]:
    """Path below the root → text."""
    functions = json.loads((root / "src" / "weir" / "lab" / "nf.json").read_text(encoding="utf-8"))
    return {
        "schema/lab.schema.json": as_text(lab_schema()),
        "schema/dataplane.schema.json": as_text(protocol.protocol_schema()),
        "schema/result.schema.json": as_text(data_formats.schema()),
        "schema/lean.schema.json": as_text(lean.schema()),
        "schema/model.schema.json": as_text(cost_model.schema()),
        "schema/lean-machine.schema.json": as_text(lean.machine_schema()),
        "schema/lean-outside.schema.json": as_text(outside_lean.schema()),
        "schema/doctor.schema.json": as_text(diagnosis.schema()),
        "schema/kernel-vnf.schema.json": as_text(kernel_vnf.schema()),
        "schema/fleet.schema.json": as_text(fleet_load.fleet_schema()),
        "schema/tenants.schema.json": as_text(tenants_load.tenants_schema()),
        "schema/sut.schema.json": as_text(sut.sut_schema()),
        "schema/verification.schema.json": as_text(verification.verification_schema()),
        "schema/placement.schema.json": as_text(fleet_placement.schema()),
        "schema/lab-plan.schema.json": as_text(lab_plan.schema()),
        "schema/host-graph.schema.json": as_text(host_graph.schema()),
        "schema/explanation.schema.json": as_text(explanation.schema()),
        "schema/comparison.schema.json": as_text(comparison.schema()),
        "schema/comparisons.schema.json": as_text(comparison.several_schema()),
        "schema/trend.schema.json": as_text(trend.schema()),
        "docs/reference/cli.md": cli_page.page(app),
        "docs/reference/lab.md": schema_page.page("Lab file", LAB_INTRO, lab_schema()),
        "docs/reference/result.md": schema_page.page("Result", RESULT_INTRO, data_formats.schema()),
        "docs/reference/lean.md": schema_page.page("Lean result", LEAN_INTRO, lean.schema()),
        "docs/reference/model.md": schema_page.page("Cost model", MODEL_INTRO, cost_model.schema()),
        "docs/reference/lean-machine.md": schema_page.page(
            "Lean machine", LEAN_MACHINE_INTRO, lean.machine_schema()
        ),
        "docs/reference/lean-outside.md": schema_page.page(
            "Lean outside", OUTSIDE_LEAN_INTRO, outside_lean.schema()
        ),
        "docs/reference/doctor.md": schema_page.page("Doctor's findings", DOCTOR_INTRO, diagnosis.schema()),
        "docs/reference/kernel-vnf.md": schema_page.page(
            "Prediction by kernel-vnf", KERNEL_VNF_INTRO, kernel_vnf.schema()
        ),
        kernel_vnf_page.PAGE: kernel_vnf_page.page(root),
        regime_page.PAGE: regime_page.page(root),
        "docs/reference/fleet.md": schema_page.page("Fleet file", FLEET_INTRO, fleet_load.fleet_schema()),
        "docs/reference/tenants.md": schema_page.page(
            "Lab file with tenants", TENANTS_INTRO, tenants_load.tenants_schema()
        ),
        "docs/reference/sut.md": schema_page.page("System under test", SUT_INTRO, sut.sut_schema()),
        "docs/reference/verification.md": schema_page.page(
            "Verification", VERIFICATION_INTRO, verification.verification_schema()
        ),
        "docs/reference/placement.md": schema_page.page(
            "Placement", PLACEMENT_INTRO, fleet_placement.schema()
        ),
        "docs/reference/lab-plan.md": schema_page.page("Plan of a lab", LAB_PLAN_INTRO, lab_plan.schema()),
        "docs/reference/trend.md": schema_page.page("Trend", TREND_INTRO, trend.schema()),
        "docs/reference/comparison.md": schema_page.page("Comparison", COMPARISON_INTRO, comparison.schema()),
        "docs/reference/comparisons.md": schema_page.page(
            "Several comparisons", COMPARISONS_INTRO, comparison.several_schema()
        ),
        "docs/reference/host-graph.md": schema_page.page(
            "Graph of a host", HOST_GRAPH_INTRO, host_graph.schema()
        ),
        "docs/reference/explanation.md": schema_page.page(
            "Explanation", EXPLANATION_INTRO, explanation.schema()
        ),
        "docs/reference/data-plane.md": dataplane_pages.protocol(),
        "docs/reference/functions.md": dataplane_pages.functions(functions, root),
    }
