/* SPDX-License-Identifier: Apache-2.0 */
/* What is done in another network namespace. */
#ifndef WEIR_PORT_NETNS_H
#define WEIR_PORT_NETNS_H

#include "engine/error.h"

/*
 * Runs `run` in the network namespace of that path, and comes back; gives what it gives, or -1 with
 * `error`. `whose`: for what, in errors.
 */
int weir_netns_run(const char *path, const char *whose,
		   int (*run)(void *argument, struct weir_error *error), void *argument,
		   struct weir_error *error);

#endif
