# SPDX-License-Identifier: Apache-2.0
"""What a machine is, as facts, and what that means for packets, as findings. Pure: `fabric.host` reads."""
