/* SPDX-License-Identifier: Apache-2.0 */
/* By which clock arrivals at a port are timed. For the files of this folder; control thread. */
#ifndef WEIR_CONTROL_TIMESTAMPS_H
#define WEIR_CONTROL_TIMESTAMPS_H

#include <stdbool.h>

#include <jansson.h>

#include "engine/error.h"
#include "port/port.h"

/* Of an open port: -1 with `error` if it must have hardware timestamps and has none. */
int weir_timestamps_check(struct weir_port *port, enum weir_timestamps wish,
			  struct weir_error *error);
/* Which clock it is, how exact, and why not the other; a new reference. */
json_t *weir_timestamps_json(const struct weir_port *port);

/*
 * Reads the devices' clocks, if it is time to, and tells the receivers. Call it at least every
 * WEIR_CLOCK_FOLLOW_MS as long as it returns true: there are some.
 */
bool weir_clocks_follow(void);
/* Before a run. With timestamps `auto`: if more than 1 % of the last run's packets had no plausible
 * hardware timestamp, the time-stamp counter is used from now on. */
void weir_clocks_review(void);

#endif
