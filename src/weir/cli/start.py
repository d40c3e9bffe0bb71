# SPDX-License-Identifier: Apache-2.0
"""Where the program begins. Ctrl-C before a command has begun ends it as any program: without a traceback of
what was being imported."""

import signal


def main() -> None:
    """Runs the command line; ends the process with its exit code."""
    # A command handles its signals itself (`exits.reporting`); one that was ignored stays so.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from weir.cli.main import main as run

    run()
