/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A network function: a descriptor with one option table (feeds parsing, --describe, schema and
 * docs), drop reasons, and a batch loop. An NF never names its execution mode: areas run its
 * stages.
 */
#ifndef WEIR_CORE_NF_H
#define WEIR_CORE_NF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "error.h"
#include "ledger.h"

#define WEIR_BURST 32

/* The packets that pass one stage together. A stage may drop: it compacts `packet` and lowers
 * `count`. */
struct weir_batch {
	uint16_t count;
	struct rte_mbuf *packet[WEIR_BURST];
};

enum weir_option_type {
	WEIR_OPTION_ENUM, /* stored as unsigned int: the index in `values` */
	WEIR_OPTION_MAC,  /* struct rte_ether_addr; all zero when not given */
	WEIR_OPTION_INT,  /* uint64_t, within [min, max] */
	WEIR_OPTION_BOOL, /* bool */
};

struct weir_option {
	const char *name;
	enum weir_option_type type;
	const char *unit;	   /* NULL: none */
	const char *default_text;  /* NULL: not given means zero */
	uint64_t min, max;	   /* WEIR_OPTION_INT */
	const char *const *values; /* WEIR_OPTION_ENUM, NULL-terminated */
	const char *help;
	size_t offset; /* in the NF's state */
};

struct weir_nf {
	const char *name;
	const char *summary;
	const struct weir_option *options;
	unsigned int option_count;
	const struct weir_drop_reason *drop_reasons;
	unsigned int drop_reason_count;
	bool returns; /* false: no packet leaves it, so it can only end a chain */
	size_t state_size;
	/* Checks the options and completes the state; may be NULL. */
	int (*init)(void *state, const char *where, struct weir_error *error);
	void (*fini)(void *state); /* may be NULL */
	/* Handles one batch in place; what it drops it frees and counts in ledger->drops. */
	void (*process)(void *state, struct weir_batch *batch, struct weir_stage_ledger *ledger);
};

const char *weir_option_type_name(enum weir_option_type type);

/* One option as text, from the control protocol. */
struct weir_option_value {
	const char *name;
	const char *text;
};

/*
 * A new, cache-aligned state with defaults and `values` parsed into it, and init() run. NULL with
 * `error` filled for an unknown option or a bad value. Freed by weir_nf_destroy().
 */
void *weir_nf_create(const struct weir_nf *nf, const struct weir_option_value *values,
		     unsigned int count, const char *where, struct weir_error *error);
void weir_nf_destroy(const struct weir_nf *nf, void *state);

/* The network functions that this program has; nf/table.c. */
extern const struct weir_nf *const weir_nf_table[];
extern const unsigned int weir_nf_count;
const struct weir_nf *weir_nf_find(const char *name);

#endif
