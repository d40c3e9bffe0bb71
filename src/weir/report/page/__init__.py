# SPDX-License-Identifier: Apache-2.0
"""The parts of the HTML report: one module a section, `document` puts them together."""
