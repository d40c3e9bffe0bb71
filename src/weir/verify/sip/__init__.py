# SPDX-License-Identifier: Apache-2.0
"""Calls through SIP functions in servers of a cloud: Kamailio as an IMS or a proxy, SIPp as both ends."""
