# SPDX-License-Identifier: Apache-2.0
"""NDR, PDR and loss curves of everything that a lab compares (MLRsearch)."""
