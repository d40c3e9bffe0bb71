# SPDX-License-Identifier: Apache-2.0
"""Functions in network namespaces: their interfaces, routes and commands, and what was lost in them."""
