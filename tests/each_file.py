# SPDX-License-Identifier: Apache-2.0
"""One test of many files: a test for each cost more to list than to run, and they were half of all tests."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def each_file(paths: Iterable[Path]) -> Callable[[Callable[[Path], None]], Callable[[], None]]:
    """The test is given each of them; what it says of one is said of that one."""

    def decorate(test: Callable[[Path], None]) -> Callable[[], None]:
        def of_each() -> None:
            wrong = []
            for path in paths:
                try:
                    test(path)
                except AssertionError as error:
                    wrong.append(f"{path.relative_to(ROOT)}: {error}")
            assert not wrong, "\n".join(wrong)

        of_each.__name__, of_each.__doc__, of_each.__module__ = test.__name__, test.__doc__, test.__module__
        return of_each

    return decorate
