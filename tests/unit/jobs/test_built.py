# SPDX-License-Identifier: Apache-2.0
"""A port that cannot be opened: the error has what the driver said, as its log goes with the deployment."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from weir import plan
from weir.dataplane import DataPlaneError
from weir.jobs.built import configured
from weir.plan.steps import LOG


class Refusing:
    """A weir-dp that opens no port."""

    def __init__(self, code: str) -> None:
        self._code = code

    def hello(self) -> None: ...

    def configure(self, _config: object) -> None:
        raise DataPlaneError(self._code, "DPDK cannot open net_virtio_user0", where="tester.left")


@pytest.mark.parametrize(("code", "told"), [("port_failed", True), ("bad_argument", False)])
def test_the_drivers_own_words_are_in_the_error(
    code: str, told: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan, "dataplane_config", lambda *_: {})
    (tmp_path / LOG).write_text("virtio: connect error\nEAL: cannot attach\n")
    client: Any = Refusing(code)
    deployment: Any = SimpleNamespace(run_dir=tmp_path, devices={})
    nothing: Any = None
    with pytest.raises(DataPlaneError) as caught:
        configured(client, nothing, nothing, deployment)
    assert ("virtio: connect error | EAL: cannot attach" in str(caught.value)) == told
    assert str(caught.value).startswith("tester.left: DPDK cannot open net_virtio_user0")
