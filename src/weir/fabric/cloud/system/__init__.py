# SPDX-License-Identifier: Apache-2.0
"""A small system in an instance: files, processes and a name of its own, SSH, and a script at its start."""
