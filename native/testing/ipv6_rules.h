/* SPDX-License-Identifier: Apache-2.0 */
/* Rules for IPv6 and packets to ask them about, for tests, as rules.h has them of IPv4. */
#ifndef WEIR_TESTING_IPV6_RULES_H
#define WEIR_TESTING_IPV6_RULES_H

#include "toolkit/ipv6_classifier.h"

/* Any rule, with prefixes of `lengths` different lengths, 1 to 129, among few addresses. */
struct weir_ipv6_rule weir_test_ipv6_rule(uint64_t *random, unsigned int lengths);
/* A packet in one of the rules; or near it, with a bit of its addresses changed; or anywhere. */
struct weir_ipv6_tuple weir_test_ipv6_tuple_near(const struct weir_ipv6_rule *rules, uint32_t count,
						 uint64_t *random);
/* The first rule that the packet matches, or WEIR_RULE_NONE: one after the other. */
uint32_t weir_test_first_ipv6_rule(const struct weir_ipv6_rule *rules, uint32_t count,
				   const struct weir_ipv6_tuple *tuple);

#endif
