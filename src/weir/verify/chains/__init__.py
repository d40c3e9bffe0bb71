# SPDX-License-Identifier: Apache-2.0
"""Chains of a cloud's instances, loaded by the tester: measured by the trials and the search that every chain
of Weir has, and judged."""
