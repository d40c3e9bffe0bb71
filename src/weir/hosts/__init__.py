# SPDX-License-Identifier: Apache-2.0
"""Many hosts that measure one lab: what each offers, which gets what, how the head talks to them."""
