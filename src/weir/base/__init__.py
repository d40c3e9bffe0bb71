# SPDX-License-Identifier: Apache-2.0
"""Shapes that labs, technologies, plans and the fabric share: topology, cores, steps. Knows no other part."""
