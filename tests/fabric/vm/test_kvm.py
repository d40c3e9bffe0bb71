# SPDX-License-Identifier: Apache-2.0
"""Who may use KVM."""

from __future__ import annotations

from pathlib import Path

from weir.fabric.host.guest import kvm_groups


def test_it_is_used_by_its_group_unless_that_is_roots(tmp_path: Path) -> None:
    device = tmp_path / "kvm"
    assert kvm_groups(str(device)) is None
    device.touch()
    device.chmod(0o600)
    assert kvm_groups(str(device)) is None
    device.chmod(0o660)
    own = device.stat().st_gid
    assert kvm_groups(str(device)) == ([own] if own != 0 else None)
    device.chmod(0o666)
    assert kvm_groups(str(device)) == []
