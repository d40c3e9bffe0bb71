# SPDX-License-Identifier: Apache-2.0
"""placement-direct: Weir's search against solvers on the plain integer model, host by host, in the same time.

HiGHS, and of OR-Tools, where it is installed, SCIP and CP-SAT; 500 chains in 30 classes on 50 hosts. `ratio`
is the gap that the best of them proves to the one that Weir does.
"""

from __future__ import annotations

import importlib.util
import math
import multiprocessing

import highspy

from bench import ortools_solver, placement
from bench.pairs import Line
from weir.planning.fleet.instance import fleet_of
from weir.planning.fleet.whole_fleet import Plain, plain

CHAINS, HOSTS, CLASSES = 500, 50, 30
LIMIT_S = 25.0
OR_TOOLS = {"scip": "SCIP", "cp_sat": "SAT"}


def run() -> Line:
    """Ratio of the gaps."""
    ours = placement.placed(CHAINS, HOSTS, CLASSES, LIMIT_S)[0].standing
    model = plain(fleet_of(placement.drawn(CHAINS, HOSTS, CLASSES)))
    peers = {"highs": by_highs(model, LIMIT_S)}
    if importlib.util.find_spec("ortools") is not None:
        peers |= {name: by_ortools(model, LIMIT_S, solver) for name, solver in OR_TOOLS.items()}
    else:
        print("  without OR-Tools: pip install -r requirements-bench.lock")
    gaps = {name: (cost - bound) / cost if cost < math.inf else 1.0 for name, (cost, bound) in peers.items()}
    for name, (cost, bound) in peers.items():
        print(f"  {name}: cost {cost:.1f}, bound {bound:.1f}, gap {gaps[name]:.2%}", flush=True)
    ratio = min(gaps.values()) / max(ours.gap, 1e-4)
    return Line(
        name="placement-direct",
        ratio=ratio,
        min=ratio,
        max=max(gaps.values()) / max(ours.gap, 1e-4),
        n=len(peers),
        target=1.0,
        detail={
            "ours": {"cost": ours.cost, "bound": ours.cost_bound, "gap": round(ours.gap, 5)},
            **{
                name: {"cost": cost if cost < math.inf else None, "bound": bound, "gap": round(gaps[name], 5)}
                for name, (cost, bound) in peers.items()
            },
        },
    )


def by_highs(plain: Plain, limit_s: float) -> tuple[float, float]:
    """(cost, proved bound); cost is infinite where nothing was found."""
    model: highspy.Highs = highspy.Highs()  # type: ignore[no-untyped-call]
    model.setOptionValue("output_flag", False)
    model.setOptionValue("time_limit", limit_s)
    plain.load(model)
    model.run()
    info = model.getInfo()
    return float(info.objective_function_value), float(info.mip_dual_bound)


def by_ortools(plain: Plain, limit_s: float, name: str) -> tuple[float, float]:
    """The same by one of OR-Tools' solvers, in a process of its own: it brings another HiGHS along."""
    with multiprocessing.get_context("spawn").Pool(1) as process:
        return process.apply(ortools_solver.solve, (plain.columns, plain.rows, limit_s, name))
