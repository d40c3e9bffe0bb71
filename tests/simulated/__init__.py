# SPDX-License-Identifier: Apache-2.0
"""A simulated device, and a tester around it: for tests and benches."""
