# SPDX-License-Identifier: Apache-2.0
"""`weir verify`: whether a cloud does what it should, suite by suite, whatever drives it.

A suite is a file in `suites/`, a driver one in `drivers/`, and a line in their list.
"""
