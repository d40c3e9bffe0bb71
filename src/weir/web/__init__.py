# SPDX-License-Identifier: Apache-2.0
"""Pages of the store, for a browser: labs, their histories, runs, comparisons. They read and never write."""
