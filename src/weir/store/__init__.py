# SPDX-License-Identifier: Apache-2.0
"""Results: their shape (`weir.store.result`) and the database that keeps them (`weir.store.store`).

Nothing is imported here: who wants a shape does not wait for the database's library.
"""
