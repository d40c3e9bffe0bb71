#!/usr/lib/weir/bin/python3 -I
# SPDX-License-Identifier: Apache-2.0
from weir.cli.start import main

main()
