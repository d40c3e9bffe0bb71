/* SPDX-License-Identifier: Apache-2.0 */
/* A verb of the control protocol: one function and its line in the table of control/verbs.c. */
#ifndef WEIR_CONTROL_VERB_H
#define WEIR_CONTROL_VERB_H

#include <jansson.h>

#include "engine/error.h"

/* Of the control protocol, told by `hello`: one more when an older client or answer would no longer
 * do. */
#define WEIR_PROTOCOL_VERSION 2

/*
 * Runs one request. `args` is a JSON object, borrowed (empty when the request had none). On success
 * returns 0 and may set `*result` to a new reference (left NULL: an empty object is answered). On
 * failure returns -1 with `error` filled; nothing of what the request asked for has taken effect.
 */
typedef int (*weir_verb_fn)(const json_t *args, json_t **result, struct weir_error *error);

/* Fails with bad_argument if `args` has a key that is not in the NULL-terminated list `known`. */
int weir_refuse_unknown(const json_t *args, const char *where, const char *const known[],
			struct weir_error *error);

int weir_verb_exchange(const json_t *args, json_t **result, struct weir_error *error);
int weir_verb_trace(const json_t *args, json_t **result, struct weir_error *error);
int weir_verb_nf_command(const json_t *args, json_t **result, struct weir_error *error);
int weir_verb_nf_report(const json_t *args, json_t **result, struct weir_error *error);
int weir_verb_traffic_configure(const json_t *args, json_t **result, struct weir_error *error);
int weir_verb_traffic_start(const json_t *args, json_t **result, struct weir_error *error);
int weir_verb_traffic_result(const json_t *args, json_t **result, struct weir_error *error);
int weir_verb_traffic_so_far(const json_t *args, json_t **result, struct weir_error *error);
int weir_verb_traffic_interval(const json_t *args, json_t **result, struct weir_error *error);
int weir_verb_traffic_finish(const json_t *args, json_t **result, struct weir_error *error);
int weir_verb_traffic_delays(const json_t *args, json_t **result, struct weir_error *error);

/* Forgets streams and runs; called before the ports close. */
void weir_traffic_forget(void);

#endif
