# SPDX-License-Identifier: Apache-2.0
"""Parts of a second, one in the other."""

NS_PER_US = US_PER_MS = MS_PER_S = 1_000
NS_PER_MS = US_PER_S = 1_000_000
NS_PER_S = 1_000_000_000
