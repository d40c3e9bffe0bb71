/* SPDX-License-Identifier: Apache-2.0 */
/* Queues of areas from JSON: names of the request's ports and rings. */
#ifndef WEIR_CONTROL_QUEUE_JSON_H
#define WEIR_CONTROL_QUEUE_JSON_H

#include <jansson.h>

#include "engine/error.h"
#include "engine/nf.h"
#include "engine/queue.h"

/* The port or ring of that name into `queue`. */
int weir_queue_from_name(const char *name, const char *where, struct weir_queue *queue,
			 struct weir_error *error);

/* `names` is one name or a list of 1 to `max`; gives the queues and their number. */
int weir_queues_from_json(const json_t *names, const char *where, struct weir_queue *queues,
			  unsigned int max, unsigned int *count, struct weir_error *error);

/* Fails unless all of them are rings. */
int weir_queues_are_rings(const struct weir_queue *queues, unsigned int count, const char *where,
			  struct weir_error *error);

/* The `direction` of a path; absent: outbound. */
int weir_direction_from_json(const json_t *object, const char *where,
			     enum weir_direction *direction, struct weir_error *error);

#endif
