/* SPDX-License-Identifier: Apache-2.0 */
/* One function alone in a chain between two rings, with a clock of the test's own: for functions
 * that keep packets. */
#ifndef WEIR_TESTING_WIRED_H
#define WEIR_TESTING_WIRED_H

#include <rte_ring.h>

#include "engine/chain.h"

#define WEIR_TEST_RING_PACKETS 1024

struct weir_test_wired {
	struct weir_chain *chain; /* NULL: none */
	struct rte_ring *in, *out;
	uint64_t now_tsc;
};
extern struct weir_test_wired weir_test_wired;

/* Ends the chain before, and makes one of the function with these options ({"name", "text"} pairs
 * ended by NULL). */
void weir_test_wire(const struct weir_nf *nf, const char *const (*options)[2]);
/* Ends the chain, if there is one, and frees what came out of it; a tear-down of cmocka. */
int weir_test_unwire(void **state);
void weir_test_pass_us(double us);
/* One poll; what leaves is in `out`. */
void weir_test_poll_wired(void);
/* One poll; frees what leaves and returns how many. */
unsigned int weir_test_poll_and_free(void);
const struct weir_stage_ledger *weir_test_wired_ledger(void);

#endif
