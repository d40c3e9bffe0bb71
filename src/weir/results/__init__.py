# SPDX-License-Identifier: Apache-2.0
"""The shapes of all that is measured, predicted and placed; each module has the records of one subject."""
