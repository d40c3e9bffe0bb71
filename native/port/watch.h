/* SPDX-License-Identifier: Apache-2.0 */
/* Ports of DPDK whose drivers hand over frames that are not whole: each frame is looked at, and
 * those are dropped and counted. For the files of this folder. */
#ifndef WEIR_PORT_WATCH_H
#define WEIR_PORT_WATCH_H

#include "port.h"

/* Does nothing for other drivers. -1 with `error`: frames that are cut or unfinished would pass for
 * whole ones. */
int weir_watch_begin(struct weir_port *port, struct weir_error *error);
/* Behind the device's stop, before it goes. */
void weir_watch_end(struct weir_port *port);

#endif
