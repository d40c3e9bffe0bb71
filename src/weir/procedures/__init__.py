# SPDX-License-Identifier: Apache-2.0
"""What Weir does with a chain: one folder a procedure, and the driver that runs the chain for all of them."""
