# SPDX-License-Identifier: Apache-2.0
"""The subscriber server of an IMS: Cx (3GPP TS 29.228, 29.229) over Diameter (RFC 6733), AKA by Milenage.

It is the smallest one that lets subscribers register and be called. It runs as a program of its own, in a
server of the cloud that is verified, and knows nothing of Weir.
"""
