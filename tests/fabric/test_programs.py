# SPDX-License-Identifier: Apache-2.0
"""Programs that a case runs in servers: what is missing is named with its package; CPUs of each."""

from __future__ import annotations

import pytest

from weir.base.error import FabricError
from weir.fabric.cloud.programs import require_programs
from weir.verify.driver import CannotRunError
from weir.verify.drivers.local_hosts import cores


def test_what_is_missing_is_named_with_the_packages_to_install() -> None:
    require_programs({"sh": "dash"})
    with pytest.raises(FabricError) as refused:
        require_programs(
            {"sh": "dash", "no-such-program": "kamailio", "*/none/none.so": "kamailio-ims-modules"}
        )
    assert refused.value.message == "there is no no-such-program, */none/none.so here"
    assert refused.value.fix == "install the Debian packages: kamailio kamailio-ims-modules"


def test_servers_get_their_cpus_in_turn_and_all_of_them_where_that_is_all() -> None:
    assert cores(3, 1, there=[0, 1]) == [[0], [1], [0]]
    assert cores(2, 2, there=[4, 5, 6]) == [[4, 5], [4, 6]]
    assert cores(2, 2, there=[0, 1]) == [[], []]
    assert cores(2, 0, there=[0, 1]) == [[], []]
    with pytest.raises(CannotRunError, match=r"^servers can have 2 of this machine's CPUs, not 4$"):
        cores(2, 4, there=[0, 1])
