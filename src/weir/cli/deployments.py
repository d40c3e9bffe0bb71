# SPDX-License-Identifier: Apache-2.0
"""Which deployment a command means."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from weir.cli.exits import USAGE, CommandError

if TYPE_CHECKING:
    from weir.fabric import Deployment

DeploymentId = Annotated[
    str | None, typer.Argument(metavar="ID", help="A deployment; may be absent where there is only one.")
]


def one_of(deployments: Sequence[Deployment], wanted: str | None) -> Deployment:
    """The deployment of that id, or the only one. CommandError lists those that there are."""
    known = [deployment.id for deployment in deployments]
    if wanted is None and len(known) == 1:
        return deployments[0]
    if wanted is None:
        raise CommandError(f"which deployment? There are: {', '.join(known)}", USAGE)
    if wanted not in known:
        from weir.lab.problem import did_you_mean

        listed = f"there are: {', '.join(known)}" if known else "nothing is deployed"
        raise CommandError(f"no deployment {wanted!r}; {listed}{did_you_mean(wanted, known)}", USAGE)
    return deployments[known.index(wanted)]
