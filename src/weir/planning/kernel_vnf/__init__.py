# SPDX-License-Identifier: Apache-2.0
"""The published model of a VM's kernel forwarding: Vladislavić, Huljenić, Ožegović, "Virtual Network Resource
Optimization Model for Network Function Virtualization", 2021: [ExecAreas]. Equation and table
numbers are its own.

A set of x + y cores carries flows through a VM: x run the infrastructure's execution areas, y the VM's. f
sets run side by side. What they carry follows from what a packet costs on the fullest core of a set.
"""

from __future__ import annotations
