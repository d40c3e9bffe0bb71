/* SPDX-License-Identifier: Apache-2.0 */
/* What a set of rules is made of, for those who ask it and those who change it. */
#ifndef WEIR_TOOLKIT_RULE_SET_PARTS_H
#define WEIR_TOOLKIT_RULE_SET_PARTS_H

#include "rule_text.h"

struct weir_added_rules;
struct weir_rule_book;

/* What a rule as it is written is, beside its fields. */
enum weir_rule_written {
	WEIR_RULE_WRITTEN_IPV4 = 1 << 0,
	WEIR_RULE_WRITTEN_IPV6 = 1 << 1,
	WEIR_RULE_WRITTEN_PERMITS = 1 << 2,
};

/* Of one family, in the order in which they are written, and what each says. */
struct weir_ipv6_part {
	uint32_t count;
	struct weir_ipv6_rule *rules;
	bool *permits;
	struct weir_ipv6_classifier *classifier;
};

struct weir_rule_set {
	uint32_t count; /* of rules as they are written */
	bool default_permits;
	enum weir_rule_index ipv4_index;
	bool names_ports; /* or types of ICMP: a later fragment alone does not decide */
	uint32_t ipv4_count;
	struct weir_rule *ipv4_rules;
	bool *ipv4_permits;
	struct weir_classifier *ipv4;
	struct weir_ipv6_part ipv6;
	/* Changes of single rules (rule_change.h): those of IPv4 that were added since all were
	 * built, or NULL, and the place of each built one among all rules as they were written. */
	struct weir_added_rules *added;
	uint32_t *ipv4_places;
	/* For who changes rules, not for who looks them up. */
	uint8_t *written; /* enum weir_rule_written, of each rule that was built */
	uint32_t built_count;
	struct weir_rule_book *book; /* or NULL: nothing was changed yet */
};

/* Order of the rule at that place, and of all that are added: behind it, and before the next. */
#define WEIR_RULE_ORDER_BITS 40

static inline uint64_t
weir_rule_order_of_place(uint32_t place)
{
	return ((uint64_t)place + 1) << WEIR_RULE_ORDER_BITS;
}

#endif
