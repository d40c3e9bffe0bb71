/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEIR_PORT_VHOST_THREAD_H
#define WEIR_PORT_VHOST_THREAD_H

/* As DPDK calls its thread that accepts and serves vhost-user connections. */
#define WEIR_VHOST_THREAD "vhost-events"

/*
 * Makes that thread look at its sockets now. It polls those that it knew when its poll began, for
 * up to a second, and does not notice a new one before that: whoever connects waits for as long. A
 * signal ends its poll. Without such a thread, or with one that needs no waking, nothing happens.
 */
void weir_vhost_wake(void);

#endif
