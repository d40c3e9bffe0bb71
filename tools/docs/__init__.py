# SPDX-License-Identifier: Apache-2.0
"""Makes the generated files (schemas, reference pages) and renders the documentation as HTML."""
