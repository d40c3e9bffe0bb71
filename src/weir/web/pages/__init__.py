# SPDX-License-Identifier: Apache-2.0
"""One module a page. Each reads, and returns a `Page`; what it cannot read it says, and shows the rest."""
