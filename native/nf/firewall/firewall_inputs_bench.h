/* SPDX-License-Identifier: Apache-2.0 */
/* What firewall-bench times its contenders on: the same rules in rte_acl and in the classifier, and
 * packets. */
#ifndef WEIR_NF_FIREWALL_FIREWALL_INPUTS_BENCH_H
#define WEIR_NF_FIREWALL_FIREWALL_INPUTS_BENCH_H

#include <rte_acl.h>

#include "engine/stage.h"
#include "nf/firewall/firewall.h"
#include "testing/rules.h"

#define PACKETS (1 << 18)
#define L4_AT 34 /* in every packet: IPv4 without tag or options */

struct inputs {
	uint32_t count; /* of rules */
	struct weir_rule *rules;
	char path[64]; /* the file with them; one rule in five denies */
	struct rte_acl_ctx *acl;
	struct weir_rule_set *set;
	double acl_build_s, load_s;
	/* PACKETS each: random packets in random rules; packets of 10,000 flows that rules permit,
	 * first one of each flow. */
	struct weir_tuple *fresh, *reused;
	struct weir_headers *fresh_headers, *reused_headers;
	struct weir_tuple *missed; /* PACKETS that no rule matches, or NULL: all do */
	double miss_share;	   /* of packets drawn evenly */
};

/* Draws `count` rules, writes them to a file of this process, builds both and draws packets. Ends
 * the program where something of it fails. */
void inputs_make(struct inputs *inputs, enum weir_test_rules kind, uint32_t count);

#endif
