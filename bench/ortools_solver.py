# SPDX-License-Identifier: Apache-2.0
"""OR-Tools on an integer model. Imports nothing of Weir: the HiGHS of both cannot be in one process."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence


def solve(
    columns: Sequence[tuple[float, int]],
    rows: Sequence[tuple[float, float, Mapping[int, float]]],
    limit_s: float,
    name: str,
) -> tuple[float, float]:
    """(cost, proved bound), on as many threads as there are cores; cost is infinite where nothing was found.

    `columns`, `rows`: as in weir.planning.fleet.whole_fleet. `name`: "SCIP", or "SAT" for CP-SAT.
    """
    from ortools.linear_solver import pywraplp

    solver = pywraplp.Solver.CreateSolver(name)
    solver.SetTimeLimit(int(limit_s * 1000))
    solver.SetNumThreads(len(os.sched_getaffinity(0)))
    variables = [solver.IntVar(0, most, "") for _, most in columns]
    for least, most, entries in rows:
        row = solver.RowConstraint(least, most, "")
        for index, value in entries.items():
            row.SetCoefficient(variables[index], value)
    objective = solver.Objective()
    for variable, (cost, _) in zip(variables, columns, strict=True):
        objective.SetCoefficient(variable, cost)
    objective.SetMinimization()
    found = solver.Solve() in (solver.OPTIMAL, solver.FEASIBLE)
    return (objective.Value() if found else math.inf), objective.BestBound()
