/* SPDX-License-Identifier: Apache-2.0 */
/*
 * classifier-bench: how long a large rule set takes to build, and to look up beside a smaller one.
 *
 *   classifier-bench EAL-ARGUMENTS -- KIND RULES FEW ROUNDS
 *
 * KIND is of testing/rules.h. Packets lie in random rules of the set that they are looked up in. A
 * round is a line of JSON, the order changing from round to round: "build_s", seconds to build the
 * classifier of RULES; "many" and "few", nanoseconds a packet in sets of RULES and of FEW;
 * "disagreements", packets (of some that are compared each round) for which the first rule found is
 * not the one that looking through all rules in turn finds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_eal.h>

#include "testing/rules.h"

#define PACKETS (1 << 18)
#define COMPARED 200
#define SEED 1

struct set {
	uint32_t count;
	struct weir_rule *rules;
	struct weir_tuple *packets;
	struct weir_classifier *classifier;
};

static double
seconds_since(uint64_t begin)
{
	return (double)(rte_rdtsc_precise() - begin) / (double)rte_get_tsc_hz();
}

/* Seconds that it took. */
static double
build(struct set *set)
{
	struct weir_error error;
	uint64_t begin = rte_rdtsc_precise();

	weir_classifier_free(set->classifier);
	set->classifier =
		weir_classifier_build(set->rules, set->count, WEIR_RULES_INDEXED, "rules", &error);
	if (set->classifier == NULL)
		rte_exit(1, "classifier-bench: %s\n", error.message);
	return seconds_since(begin);
}

static void
make(struct set *set, enum weir_test_rules kind)
{
	uint64_t random = SEED;

	set->rules = malloc(set->count * sizeof(*set->rules));
	set->packets = malloc(PACKETS * sizeof(*set->packets));
	if (set->rules == NULL || set->packets == NULL)
		rte_exit(1, "classifier-bench: no memory for %u rules\n", set->count);
	weir_test_rules_make(kind, SEED, set->rules, set->count);
	for (uint32_t i = 0; i < PACKETS; i++)
		set->packets[i] = weir_test_tuple_in(
			&set->rules[weir_test_random(&random) % set->count], &random);
	build(set);
}

/* Nanoseconds a packet. */
static double
look_up(const struct set *set, uint32_t *found)
{
	uint64_t begin = rte_rdtsc_precise();

	for (uint32_t i = 0; i < PACKETS; i += WEIR_CLASSIFIER_BULK)
		weir_classifier_classify(set->classifier, set->packets + i, found + i,
					 WEIR_CLASSIFIER_BULK);
	return seconds_since(begin) * 1e9 / PACKETS;
}

static unsigned int
disagreements(const struct set *set, const uint32_t *found, unsigned int round)
{
	unsigned int count = 0;

	for (uint32_t i = 0; i < COMPARED; i++) {
		uint32_t at = (round * COMPARED + i) % PACKETS;

		count += found[at] !=
			 weir_test_first_rule(set->rules, set->count, &set->packets[at]);
	}
	return count;
}

static void
run_rounds(struct set *sets, unsigned int rounds)
{
	static uint32_t found[2][PACKETS];

	for (unsigned int round = 0; round < rounds; round++) {
		double build_s = build(&sets[0]), ns[2];

		for (unsigned int i = 0; i < 2; i++) {
			unsigned int which = (round + i) % 2;

			ns[which] = look_up(&sets[which], found[which]);
		}
		printf("{\"build_s\": %.3f, \"many\": %.2f, \"few\": %.2f, \"disagreements\": "
		       "%u}\n",
		       build_s, ns[0], ns[1], disagreements(&sets[0], found[0], round));
	}
}

int
main(int argc, char **argv)
{
	static struct set sets[2];
	unsigned int kind = 0;
	int used = rte_eal_init(argc, argv);

	if (used < 0 || argc - used != 5)
		rte_exit(2, "usage: classifier-bench EAL-ARGUMENTS -- KIND RULES FEW ROUNDS\n");
	argv += used + 1;
	while (kind < WEIR_TEST_RULE_SETS && strcmp(weir_test_rules_names[kind], argv[0]) != 0)
		kind++;
	for (unsigned int i = 0; i < 2; i++)
		sets[i].count = strtoul(argv[1 + i], NULL, 10);
	if (kind == WEIR_TEST_RULE_SETS || sets[0].count == 0 || sets[1].count == 0)
		rte_exit(2, "classifier-bench: KIND is one of testing/rules.h, RULES and FEW "
			    "numbers\n");
	for (unsigned int i = 0; i < 2; i++)
		make(&sets[i], kind);
	run_rounds(sets, strtoul(argv[3], NULL, 10));
	return 0;
}
