/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of the fast path, and of where its entries may live: a chain of three small functions,
 * random packets for it, and random changes. All by rand(). */
#ifndef WEIR_ENGINE_FASTPATH_FIXTURE_TEST_H
#define WEIR_ENGINE_FASTPATH_FIXTURE_TEST_H

#include "chain.h"

#define SESSIONS 16

/* The first function's state: rewrites source address and port by the session of the source port; a
 * session can be refused. */
struct mapper {
	struct session {
		uint32_t src_ip;
		uint16_t src_port;
		bool refused;
		struct weir_counter counter;
		struct weir_invalidation_list invalidation;
	} sessions[SESSIONS];
};

/* One path: a mapper, rules by port, and a hop that lives one less and chooses one of two outputs.
 * With a fast path for `flows`; 0: none. */
struct weir_chain *weir_fastpath_chain(uint32_t flows);
/* One of TCP in `event_every` has SYN, or RST, which changes its session. */
struct rte_mbuf *weir_fastpath_packet(unsigned int event_every);
/* The same change of both. */
void weir_fastpath_change(struct weir_chain *const chains[2]);
/* Drops of all stages, and all counters of the functions; the second chain is flushed before. */
void weir_fastpath_assert_same_counts(struct weir_chain *const chains[2]);

#endif
