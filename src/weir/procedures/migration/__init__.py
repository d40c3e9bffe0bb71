# SPDX-License-Identifier: Apache-2.0
"""Live migration of a virtual machine while traffic runs through it."""
