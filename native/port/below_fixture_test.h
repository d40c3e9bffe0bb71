/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of what an entry of the fast path may live in below the data plane, against the plain
 * chain: what is forwarded there is what the chain would have, and everything else is left alone.
 * Each kind says how its packets get there.
 */
#ifndef WEIR_PORT_BELOW_FIXTURE_TEST_H
#define WEIR_PORT_BELOW_FIXTURE_TEST_H

#include "engine/chain.h"
#include "engine/offload.h"
#include "testing/packet.h"

#define FRAME_BYTES_MAX 1514
#define ELEPHANT 2

/* What is below: set before the tests run. */
struct below {
	/* With two outputs; skips the test where it cannot be. */
	struct weir_offload *(*load)(uint32_t flows);
	/* The packet as it leaves there, and by which output. False: it goes up, as it came. */
	bool (*run)(const struct weir_offload *offload, struct rte_mbuf *packet,
		    unsigned int *output);
};
extern struct below below;

/* A chain with it below its path, which closes it. */
struct weir_chain *chain_above(struct weir_offload *offload, uint32_t flows);
uint64_t forwarded_by(const struct weir_offload *offload, unsigned int output);
/* So many packets of the flow from that port, below or above. */
void pass(struct weir_chain *chain, const struct weir_offload *offload, uint16_t src_port,
	  unsigned int count);
/* One more packet of flow 16, which is below: it is forwarded there. */
bool goes_below(const struct weir_offload *offload, struct weir_test_ipv4 what,
		bool has_wrong_checksum);
/* Random and damaged packets and changes: that leave as from the plain chain, at least so many by
 * each output of what is below. */
void differ_nowhere(uint32_t entries, uint64_t below_min);

void random_and_damaged_frames_with_random_changes_leave_as_without_it(void **state);
void so_they_do_when_most_flows_find_no_entry(void **state);
void elephants_go_below_as_far_as_there_is_room_and_mice_stay(void **state);
void what_the_fast_path_would_not_follow_goes_up(void **state);
void what_was_counted_below_reaches_the_functions_when_an_entry_comes_up(void **state);
void an_entry_that_carries_nothing_comes_up(void **state);

#define BELOW_TESTS                                                                                \
	cmocka_unit_test(random_and_damaged_frames_with_random_changes_leave_as_without_it),       \
		cmocka_unit_test(so_they_do_when_most_flows_find_no_entry),                        \
		cmocka_unit_test(elephants_go_below_as_far_as_there_is_room_and_mice_stay),        \
		cmocka_unit_test(what_the_fast_path_would_not_follow_goes_up),                     \
		cmocka_unit_test(                                                                  \
			what_was_counted_below_reaches_the_functions_when_an_entry_comes_up),      \
		cmocka_unit_test(an_entry_that_carries_nothing_comes_up)

#endif
