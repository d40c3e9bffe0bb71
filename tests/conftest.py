# SPDX-License-Identifier: Apache-2.0
"""What every test starts from."""

import signal

# Background jobs of a shell, and of nohup, ignore signals that tests send, and so would all that they start.
for number, handler in (
    (signal.SIGINT, signal.default_int_handler),
    (signal.SIGTERM, signal.SIG_DFL),
    (signal.SIGHUP, signal.SIG_DFL),
):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, handler)
