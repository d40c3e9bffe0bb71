/* SPDX-License-Identifier: Apache-2.0 */
/* What the test card keeps of a rule: between its driver (card_fixture_test.c) and what it does
 * with frames (card_frames_test.c). */
#ifndef WEIR_PORT_CARD_RULES_CARD_PARTS_TEST_H
#define WEIR_PORT_CARD_RULES_CARD_PARTS_TEST_H

#include <rte_flow.h>

#define PARTS_MAX 20
#define PART_BYTES 64

struct part {
	int type;
	uint8_t spec[PART_BYTES], mask[PART_BYTES];
};

/* DPDK leaves both to drivers. */
struct rte_flow {
	struct rte_flow *next;
	unsigned int item_count, action_count;
	struct part items[PARTS_MAX], actions[PARTS_MAX];
	struct rte_flow_action_handle *counter;
};

struct rte_flow_action_handle {
	uint64_t hits, bytes;
};

extern struct rte_flow *rule_card_rules; /* that are there, newest first */

#endif
