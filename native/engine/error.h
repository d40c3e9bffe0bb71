/* SPDX-License-Identifier: Apache-2.0 */
/* An error that a user can act on: what, where, what was expected, what to do. */
#ifndef WEIR_ENGINE_ERROR_H
#define WEIR_ENGINE_ERROR_H

struct weir_error {
	char code[32];	    /* for machines; those of the control protocol:
			       tools/docs/dataplane_schema.py */
	char message[256];  /* what happened */
	char where[96];	    /* "areas[2].core" */
	char expected[192]; /* "a CPU given with --cores: 0, 1" */
	char fix[192];	    /* what to do */
};

/* Fills `error` (expected, fix and where may be NULL) and returns -1, so that callers can `return
 * weir_fail(…)`. What is too long is cut, and what is not UTF-8 becomes question marks. */
int weir_fail(struct weir_error *error, const char *code, const char *where, const char *expected,
	      const char *fix, const char *format, ...) __attribute__((format(printf, 6, 7)));

#endif
