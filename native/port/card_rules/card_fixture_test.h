/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A card with rules, for tests: it keeps what rte_flow gives it, and does with a frame what its
 * rules say, to the letter. The linker puts its functions in front of DPDK's, which other ports
 * still have (`test_link_args` in meson.build).
 */
#ifndef WEIR_PORT_CARD_RULES_CARD_FIXTURE_TEST_H
#define WEIR_PORT_CARD_RULES_CARD_FIXTURE_TEST_H

#include <rte_flow.h>
#include <rte_mbuf.h>

#define CARD_IN 90 /* ports of DPDK that there are not */
#define CARD_OUT 91
#define CARD_PROXY 95

struct rule_card {
	unsigned int rules, counters;	 /* that are there now */
	unsigned int created, destroyed; /* rules, since it was made */
	unsigned int rules_max;		 /* more are refused */
	unsigned int refuses_number;	 /* of those that are asked for: that one is; 0: none */
	bool keeps;			 /* a rule that is to go is not destroyed but by flush */
	bool counts_nothing;		 /* counters cannot be read */
	bool has_no_proxy;
	uint16_t mtu_out;
};
extern struct rule_card rule_card;

/* A new one, which takes all. */
void new_rule_card(void);
/* The frame as it leaves the card, and by which of its outputs (from CARD_OUT on). False: no rule
 * is for it. */
bool rule_card_run(struct rte_mbuf *packet, unsigned int *output);

#endif
