/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rule sets for tests and benches, the same from the same seed. Their make-up follows what Taylor
 * and Turner found in real filter sets (ClassBench: A Packet Classification Benchmark, IEEE/ACM
 * Transactions on Networking 15(3), 2007): few protocols, few distinct port ranges, prefixes that
 * nest in few networks, and pairs of prefix lengths as the tables in rules.c have them.
 */
#ifndef WEIR_TESTING_RULES_H
#define WEIR_TESTING_RULES_H

#include <stdint.h>
#include <stdio.h>

#include "toolkit/classifier.h"

enum weir_test_rules {
	WEIR_TEST_ACL, /* access lists: specific destinations and services */
	WEIR_TEST_FW,  /* firewalls: often any source or any destination, ranges on both sides */
	WEIR_TEST_IPC, /* IP chains: pairs of hosts */
	WEIR_TEST_UNIFORM, /* everything drawn evenly: not like real ones, and harder for tuple
			      space */
	WEIR_TEST_RULE_SETS,
};
extern const char *const weir_test_rules_names[];

/* xorshift64*: a number from a state that must not be 0. */
static inline uint64_t
weir_test_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dULL;
}

/* Writes `count` rules, no two the same; specific ones tend to stand before general ones. */
void weir_test_rules_make(enum weir_test_rules kind, uint64_t seed, struct weir_rule *rules,
			  uint32_t count);

/* Writes its fields as rule files have them, "tcp 10.0.0.0/8 0.0.0.0/0 0-65535 80-80", and ends the
 * line. */
void weir_test_rule_write(FILE *file, const struct weir_rule *rule);

/* A packet somewhere in `rule`; with ports if its protocol has them. */
struct weir_tuple weir_test_tuple_in(const struct weir_rule *rule, uint64_t *random);
/* Likewise, or near it, with a field changed. NULL: anywhere. */
struct weir_tuple weir_test_tuple_near(const struct weir_rule *rule, uint64_t *random);

/* The slow, obvious answer: each rule in turn, field by field. */
uint32_t weir_test_first_rule(const struct weir_rule *rules, uint32_t count,
			      const struct weir_tuple *tuple);

#endif
