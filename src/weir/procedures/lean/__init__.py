# SPDX-License-Identifier: Apache-2.0
"""What forwarding code costs, measured without a tester, a network card or a switch."""
