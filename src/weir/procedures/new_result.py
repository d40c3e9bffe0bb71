# SPDX-License-Identifier: Apache-2.0
"""The result that a run begins with: what it is of, and on which machine."""

from __future__ import annotations

import hashlib
import json
import secrets
from datetime import UTC, datetime

from weir import __version__, fabric
from weir.lab import Lab
from weir.results.result import Result


def new_result(lab: Lab, *, quick: bool, baseline: str, kind: str = "") -> Result:
    """Of a run that begins now, without setups. `kind` follows the lab's name in its id, such as "-soak"."""
    spec = lab.model_dump(mode="json")
    digest = hashlib.sha256(json.dumps(spec, sort_keys=True).encode()).hexdigest()
    began = datetime.now(UTC)
    return Result(
        weir=__version__,
        id=f"{lab.name}{kind}-{began:%Y%m%d-%H%M%S}-{secrets.token_hex(2)}",
        lab=lab.name,
        title=lab.title or lab.name,
        quick=quick,
        spec_sha256=digest,
        seed=lab.measure.seed,
        started_at=began.isoformat(timespec="seconds"),
        baseline=baseline,
        fingerprint=fabric.fingerprint(0, "unknown", {}),
        spec=spec,
    )
