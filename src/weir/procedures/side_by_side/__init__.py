# SPDX-License-Identifier: Apache-2.0
"""What a packet costs, side by side: a part of reports, of what a run found anyway."""
