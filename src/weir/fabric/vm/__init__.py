# SPDX-License-Identifier: Apache-2.0
"""Functions in virtual machines: guest images, QEMU, and what is asked of a guest that runs."""
