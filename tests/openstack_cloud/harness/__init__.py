# SPDX-License-Identifier: Apache-2.0
"""An OpenStack for tests, all of it on this host: Debian's packages, run in namespaces of their own
(processes, mounts, network), so that one process that ends takes all of it with it. What it writes is in one
directory.

`python -m tests.openstack_cloud.harness up`, `down`, `status`, `run COMMAND ...` (inside).
"""
