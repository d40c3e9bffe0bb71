/* SPDX-License-Identifier: Apache-2.0 */
/* The table of verbs. */
#ifndef WEIR_CONTROL_VERBS_H
#define WEIR_CONTROL_VERBS_H

#include "verb.h"

struct weir_verb {
	const char *name;
	const char *summary;
	weir_verb_fn run;
};

extern const struct weir_verb weir_verbs[];
extern const unsigned int weir_verb_count;

int weir_verb_configure(const json_t *args, json_t **result, struct weir_error *error);
int weir_verb_teach(const json_t *args, json_t **result, struct weir_error *error);

/*
 * Listens on `path` and answers until `quit` or a signal. Returns 0, or -1 with `error` when the
 * socket cannot be made. The socket file is removed at the end.
 */
int weir_serve(const char *path, struct weir_error *error);

#endif
