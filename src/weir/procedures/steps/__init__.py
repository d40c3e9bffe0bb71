# SPDX-License-Identifier: Apache-2.0
"""What each step brings, of labs whose variants are steps: a part of reports, of what a run found anyway."""
