# SPDX-License-Identifier: Apache-2.0
"""The store as pages read it: opened anew when it was written to, and what takes long remembered until then.

One request reads at a time: SQLite's file is opened as one that does not change, and a copy in memory has one
connection.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from weir.store import history
from weir.store.connection import StoreError, default_location, stamp
from weir.store.store import Store

REMEMBERED = 64
"""Answers at most; the one that was asked for longest ago goes first."""

Found = TypeVar("Found")


class Reading:
    """A store that others may write to meanwhile."""

    def __init__(self, location: str | None = None) -> None:
        """Opens nothing yet: there may be no store before the first run."""
        self.location = location or default_location()
        self._lock = threading.RLock()
        self._store: Store | None = None
        self._stamp: tuple[int, ...] = ()
        self._state: Hashable = None
        self._known: OrderedDict[Hashable, Any] = OrderedDict()

    @contextmanager
    def store(self) -> Iterator[Store]:
        """For one request. NoStoreError, StoreError."""
        with self._lock:
            now = stamp(self.location)
            if self._store is None or now != self._stamp:
                self.close()
                self._store, self._stamp = Store(self.location, reading=True, changing=False), now
            try:
                yield self._store
            except StoreError:
                self.close()  # it may have been written to in this moment: the next one opens it anew
                raise

    def remembered(self, what: Hashable, make: Callable[[], Found]) -> Found:
        """What `make` found since the last finished run came or went."""
        with self._lock:
            with self.store() as store:
                state = history.state(store)
            if state != self._state:
                self._known.clear()
                self._state = state
            if what not in self._known:
                self._known[what] = make()
            self._known.move_to_end(what)
            while len(self._known) > REMEMBERED:
                self._known.popitem(last=False)
            found: Found = self._known[what]
            return found

    def stamp(self) -> tuple[int, ...]:
        """Another one after a file's store was written to; of a server always ()."""
        return stamp(self.location)

    def close(self) -> None:
        """Closes the store; a later request opens it again."""
        with self._lock:
            if self._store is not None:
                self._store.close()
                self._store = None
