# SPDX-License-Identifier: Apache-2.0
"""Step kinds of a cloud of tenants."""
