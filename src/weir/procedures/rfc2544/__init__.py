# SPDX-License-Identifier: Apache-2.0
"""The procedures of RFC 2544 section 26, RFC 6201 and RFC 9004, each a composition of Weir's trials."""
