/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An entry of the fast path as rules for a network card (DPDK's rte_flow): which packets they take,
 * which are only such as the fast path would follow, and what they do with them.
 *
 * They are rules of the card's embedded switch (`transfer`): from what the port in stands for, on
 * the wire, to what the port out stands for.
 */
#ifndef WEIR_PORT_CARD_RULES_RULE_H
#define WEIR_PORT_CARD_RULES_RULE_H

#include <rte_flow.h>

#include "engine/flow_entry.h"

/* No rule asks for a time to live above a bound; but one may ask for its highest bits. So one of an
 * entry takes 128 and above, one 64 to 127, one 32 to 63: less goes up. */
#define WEIR_CARD_RULES_MAX 3
#define WEIR_CARD_TTL_DECREMENTS_MAX 4
#define WEIR_CARD_ITEMS_MAX 6
#define WEIR_CARD_ACTIONS_MAX (8 + WEIR_CARD_TTL_DECREMENTS_MAX + 1)

/* All that rte_flow is given of one rule. It points into itself: it is not to be copied. */
struct weir_card_rule {
	struct rte_flow_attr attr;
	struct rte_flow_item pattern[WEIR_CARD_ITEMS_MAX];
	struct rte_flow_action actions[WEIR_CARD_ACTIONS_MAX];
	struct rte_flow_item_ethdev in;
	struct rte_flow_item_eth ethernet;
	struct rte_flow_item_integrity integrity;
	struct rte_flow_item_ipv4 ip, ip_mask;
	struct rte_flow_item_tcp tcp;
	struct rte_flow_item_udp udp;
	struct rte_flow_action_set_mac src_mac, dst_mac;
	struct rte_flow_action_set_ipv4 src_ip, dst_ip;
	struct rte_flow_action_set_tp src_port, dst_port;
	struct rte_flow_action_ethdev out;
};

/* How many rules are that entry; 0: a protocol or a decrement that none is for. */
unsigned int weir_card_rules_of(const struct weir_flow_entry *entry);

/* The rule with that number, below weir_card_rules_of(). `in`, `out`: ports of DPDK. `counter`: an
 * indirect action, which counts. */
void weir_card_rule_fill(struct weir_card_rule *rule, const struct weir_flow_entry *entry,
			 unsigned int number, uint16_t in, uint16_t out,
			 struct rte_flow_action_handle *counter);

#endif
