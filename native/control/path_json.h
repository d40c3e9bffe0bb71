/* SPDX-License-Identifier: Apache-2.0 */
/* What the paths of all kinds of areas have, from JSON and in the ledger: queues, which are the
 * request's ports and rings, and a direction. */
#ifndef WEIR_CONTROL_PATH_JSON_H
#define WEIR_CONTROL_PATH_JSON_H

#include <jansson.h>

#include "engine/outputs.h"
#include "fields.h"

extern const char *const weir_directions[]; /* of a WEIR_FIELD_CHOICE, as enum weir_direction */

/* A weir_read_fn: the configured port of that name into a struct weir_port *. */
int weir_read_port(const json_t *name, const char *where, void *target, struct weir_error *error);

/* The port or ring of that name into `queue`. */
int weir_queue_from_name(const char *name, const char *where, struct weir_queue *queue,
			 struct weir_error *error);

/* `names` is one name or a list of 1 to `max`; gives the queues and their number. */
int weir_queues_from_json(const json_t *names, const char *where, struct weir_queue *queues,
			  unsigned int max, unsigned int *count, struct weir_error *error);

/* Fails unless all of them are rings. */
int weir_queues_are_rings(const struct weir_queue *queues, unsigned int count, const char *where,
			  struct weir_error *error);

/* For the ledger; new references. */
json_t *weir_counter_json(const uint64_t *counter);
json_t *weir_path_json(const char *name, const struct weir_queue *inputs, unsigned int input_count,
		       const struct weir_outputs *out, const uint64_t *rx_packets, json_t *stages);

#endif
