# SPDX-License-Identifier: Apache-2.0
"""bring-up: a chain of 16 functions under linux-bridge, built by Weir and by Mininet.

18 namespaces, 17 bridges, 34 veth pairs. Neither side starts a data plane: Mininet has none.
"""

from __future__ import annotations

import secrets
import subprocess
import tempfile
import time
from pathlib import Path

from bench.pairs import Line, SkipError, interleave, line
from weir import fabric, plan
from weir.lab import load_lab

FUNCTIONS = 16
LAB = f"""
weir: 1
name: bring-up
technology: linux-bridge
chain: [[{", ".join(["f"] * FUNCTIONS)}]]
functions: {{f: {{nf: l2fwd}}}}
traffic: {{frames: [64]}}
"""
_PEER = Path(__file__).with_name("mininet_chain.py")


def run() -> Line:
    """Ratio of Mininet's seconds to Weir's."""
    if subprocess.run(
        ["/usr/bin/python3", "-c", "import mininet"], capture_output=True, check=False
    ).returncode:
        raise SkipError("Mininet is not installed (Debian package mininet)")
    refusal = fabric.check("linux-bridge")
    if refusal is not None:
        raise SkipError(refusal.missing)
    return line("bring-up", interleave(_weir_s, _mininet_s), target=3.0, unit="s", less_is_better=True)


def _weir_s() -> float:
    with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
        file.write(LAB)
        file.flush()
        lab = load_lab(Path(file.name))
    topology = plan.build_topology(
        lab, "linux-bridge", lab.chains()[0], plan.deployment_id(lab.name, secrets.token_hex(4))
    )
    steps = [step for step in plan.steps(topology, lab) if step.kind not in ("weir-dp", "hugepages")]
    begin = time.perf_counter()
    deployment = fabric.Deployment.deploy(steps, topology)
    taken = time.perf_counter() - begin
    deployment.destroy()
    return taken


def _mininet_s() -> float:
    done = subprocess.run(
        ["/usr/bin/python3", str(_PEER), str(FUNCTIONS)], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise SkipError(f"Mininet failed: {done.stderr.strip().splitlines()[-1:]}")
    return float(done.stdout.split()[-1])
