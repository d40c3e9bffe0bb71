/* SPDX-License-Identifier: Apache-2.0 */
/* The verbs of the control protocol. Each is in the file of its subject; the table is in verbs.c.
 */
#ifndef WEIR_CONTROL_VERBS_H
#define WEIR_CONTROL_VERBS_H

#include "fields.h"

struct weir_verb {
	const char *name;
	const char *summary;
	/*
	 * On success returns 0 and may set `*result` to a new reference (left NULL: an empty object
	 * is answered). On failure returns -1 with `error` filled; nothing of what the request
	 * asked for has taken effect. What it was to replace may be gone: streams, of
	 * `traffic.configure`.
	 */
	int (*run)(const void *arguments, json_t **result, struct weir_error *error);
	const struct weir_field *fields; /* of its arguments; NULL: it has none */
	size_t arguments_bytes;		 /* of the struct that `fields` fill */
};

extern bool weir_quit_asked;

/* The verb of that name, or NULL. */
const struct weir_verb *weir_verb_named(const char *name);
/* Their names and summaries: a new reference. */
json_t *weir_verbs_json(void);
/* Reads `args` and runs the verb as weir_verb.run does. */
int weir_verb_run(const struct weir_verb *verb, const json_t *args, json_t **result,
		  struct weir_error *error);

extern const struct weir_verb weir_verb_configure, weir_verb_nf_command, weir_verb_nf_report,
	weir_verb_nf_listen, weir_verb_trace, weir_verb_exchange, weir_verb_announce,
	weir_verb_traffic_configure, weir_verb_traffic_start, weir_verb_traffic_result,
	weir_verb_traffic_so_far, weir_verb_traffic_interval, weir_verb_traffic_finish,
	weir_verb_traffic_delays, weir_verb_connections_configure, weir_verb_connections_start,
	weir_verb_connections_result;

#endif
