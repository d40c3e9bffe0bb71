/* SPDX-License-Identifier: Apache-2.0 */
/* The classifier against the slow, obvious answer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <rte_common.h>

#include "classifier.h"
#include "testing/rules.h"

static const struct weir_rule any_packet = {
	.src_port_high = UINT16_MAX,
	.dst_port_high = UINT16_MAX,
	.any_protocol = true,
};

static struct weir_classifier *
built_as(enum weir_rule_index index, const struct weir_rule *rules, uint32_t count)
{
	struct weir_error error = {0};
	struct weir_classifier *classifier =
		weir_classifier_build(rules, count, index, "rules", &error);

	if (classifier == NULL)
		fail_msg("%s", error.message);
	return classifier;
}

static struct weir_classifier *
built(const struct weir_rule *rules, uint32_t count)
{
	return built_as(WEIR_RULES_INDEXED, rules, count);
}

static uint32_t
below(uint64_t *random, uint32_t bound)
{
	return (uint32_t)(weir_test_random(random) >> 33) % bound;
}

/* A packet in one of the rules; or near it, with a field changed; or anywhere. */
static struct weir_tuple
some_tuple(const struct weir_rule *rules, uint32_t count, uint64_t *random)
{
	return weir_test_tuple_near(
		count > 0 && below(random, 8) != 0 ? &rules[below(random, count)] : NULL, random);
}

static void
assert_agrees_as(enum weir_rule_index index, const struct weir_rule *rules, uint32_t count,
		 unsigned int batches, uint64_t *random)
{
	struct weir_classifier *classifier = built_as(index, rules, count);

	for (unsigned int batch = 0; batch < batches; batch++) {
		unsigned int size = 1 + below(random, WEIR_CLASSIFIER_BULK);
		struct weir_tuple tuples[WEIR_CLASSIFIER_BULK];
		uint32_t found[WEIR_CLASSIFIER_BULK];

		for (unsigned int i = 0; i < size; i++)
			tuples[i] = some_tuple(rules, count, random);
		weir_classifier_classify(classifier, tuples, found, size);
		for (unsigned int i = 0; i < size; i++)
			assert_int_equal(found[i], weir_test_first_rule(rules, count, &tuples[i]));
	}
	weir_classifier_free(classifier);
}

static void
assert_agrees(const struct weir_rule *rules, uint32_t count, unsigned int batches, uint64_t *random)
{
	assert_agrees_as(WEIR_RULES_INDEXED, rules, count, batches, random);
}

static void
agrees_with_a_linear_search_on_rule_sets_of_each_kind(void **state)
{
	static const uint32_t counts[] = {0, 1, 2, 3, 5, 17, 200, 3000, 40000};
	static struct weir_rule rules[40000];
	uint64_t random = 1;

	(void)state;
	for (unsigned int kind = 0; kind < WEIR_TEST_RULE_SETS; kind++) {
		for (unsigned int i = 0; i < RTE_DIM(counts); i++) {
			weir_test_rules_make(kind, i + 1, rules, counts[i]);
			assert_agrees(rules, counts[i], 40, &random);
		}
	}
}

/* Few addresses and many ranges that lie across each other: keys with trees, rules that hide rules.
 */
static struct weir_rule
cramped_rule(uint64_t *random)
{
	static const unsigned int lengths[] = {0, 8, 9, 16, 17, 24, 25, 31, 32};
	unsigned int src = lengths[below(random, RTE_DIM(lengths))];
	unsigned int dst = lengths[below(random, RTE_DIM(lengths))];
	struct weir_rule rule = any_packet;

	rule.src_mask = src == 0 ? 0 : rte_cpu_to_be_32(UINT32_MAX << (32 - src));
	rule.dst_mask = dst == 0 ? 0 : rte_cpu_to_be_32(UINT32_MAX << (32 - dst));
	rule.src_ip = rte_cpu_to_be_32(0x0a000000 + below(random, 3)) & rule.src_mask;
	rule.dst_ip = rte_cpu_to_be_32(0x0a000000 + below(random, 3)) & rule.dst_mask;
	if (below(random, 2) == 0) {
		rule.src_port_low = (uint16_t)below(random, 65536);
		rule.src_port_high =
			rule.src_port_low + (uint16_t)below(random, 65536 - rule.src_port_low);
	}
	if (below(random, 2) == 0) {
		rule.dst_port_low = (uint16_t)below(random, 65536);
		rule.dst_port_high =
			rule.dst_port_low + (uint16_t)below(random, 65536 - rule.dst_port_low);
	}
	rule.any_protocol = below(random, 3) == 0;
	rule.protocol = below(random, 2) == 0 ? IPPROTO_TCP : (uint8_t)below(random, 256);
	return rule;
}

static void
agrees_with_a_linear_search_on_thousands_of_cramped_rule_sets(void **state)
{
	struct weir_rule rules[60];
	uint64_t random = 2;

	(void)state;
	for (unsigned int set = 0; set < 4000; set++) {
		uint32_t count = below(&random, RTE_DIM(rules) + 1);

		for (uint32_t i = 0; i < count; i++)
			rules[i] = cramped_rule(&random);
		assert_agrees(rules, count, 2, &random);
	}
}

static void
agrees_with_a_linear_search_when_one_key_has_all_rules(void **state)
{
	static struct weir_rule rules[2000];
	uint64_t random = 3;

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(rules); i++) {
		rules[i] = cramped_rule(&random);
		rules[i].src_ip = rules[i].src_mask = rules[i].dst_ip = rules[i].dst_mask = 0;
	}
	assert_agrees(rules, RTE_DIM(rules), 200, &random);
}

static void
agrees_with_a_linear_search_when_there_are_more_pairs_of_lengths_than_tables(void **state)
{
	static struct weir_rule rules[33 * 33];
	struct weir_classifier *classifier;
	uint64_t random = 4;

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(rules); i++) {
		unsigned int src = 32 - i / 33, dst = 32 - i % 33;

		rules[i] = any_packet;
		rules[i].src_mask = src == 0 ? 0 : rte_cpu_to_be_32(UINT32_MAX << (32 - src));
		rules[i].dst_mask = dst == 0 ? 0 : rte_cpu_to_be_32(UINT32_MAX << (32 - dst));
		rules[i].src_ip = (uint32_t)weir_test_random(&random) & rules[i].src_mask;
		rules[i].dst_ip = (uint32_t)weir_test_random(&random) & rules[i].dst_mask;
	}
	assert_agrees(rules, RTE_DIM(rules), 200, &random);
	classifier = built(rules, RTE_DIM(rules));
	assert_int_equal(weir_classifier_shape(classifier).tables, 255);
	weir_classifier_free(classifier);
}

static void
the_first_of_two_same_rules_wins(void **state)
{
	const struct weir_rule rules[] = {any_packet, any_packet};
	const struct weir_tuple tuple = {.src_ip = 1, .dst_ip = 2, .protocol = IPPROTO_TCP};
	struct weir_classifier *classifier = built(rules, RTE_DIM(rules));
	uint32_t found;

	(void)state;
	weir_classifier_classify(classifier, &tuple, &found, 1);
	assert_int_equal(found, 0);
	weir_classifier_free(classifier);
}

static void
a_rule_that_names_ports_does_not_match_a_packet_without(void **state)
{
	struct weir_rule rules[] = {any_packet, any_packet};
	struct weir_tuple tuples[2] = {{.protocol = IPPROTO_UDP}, {.protocol = IPPROTO_UDP}};
	struct weir_classifier *classifier;
	uint32_t found[2];

	(void)state;
	rules[0].dst_port_high = 1023; /* port 0, which the packet's field says, is in it */
	tuples[1].zero[0] = WEIR_TUPLE_PORTLESS;
	classifier = built(rules, RTE_DIM(rules));
	weir_classifier_classify(classifier, tuples, found, 2);
	assert_int_equal(found[0], 0);
	assert_int_equal(found[1], 1);
	weir_classifier_free(classifier);
}

static void
memory_is_bounded_when_every_rule_has_networks_of_its_own(void **state)
{
	static struct weir_rule rules[40000];
	struct weir_classifier *classifier;

	(void)state;
	for (uint32_t i = 0; i < RTE_DIM(rules); i++) {
		rules[i] = any_packet;
		rules[i].src_ip = rules[i].dst_ip = rte_cpu_to_be_32(i * 107374);
		rules[i].src_mask = rules[i].dst_mask = UINT32_MAX;
	}
	classifier = built(rules, RTE_DIM(rules));
	assert_in_range(weir_classifier_shape(classifier).bytes, 1, 180UL << 20);
	weir_classifier_free(classifier);
}

static void
more_rules_than_the_limit_are_refused_by_number(void **state)
{
	struct weir_error error;

	(void)state;
	assert_null(weir_classifier_build(NULL, WEIR_CLASSIFIER_RULES_MAX + 1, WEIR_RULES_INDEXED,
					  "rules", &error));
	assert_string_equal(error.message, "1048577 rules are too many");
	assert_string_equal(error.expected, "at most 1048576 rules");
}

static void
without_an_index_the_same_rules_are_found_in_one_list(void **state)
{
	static const uint32_t counts[] = {0, 1, 2, 17, 3000};
	static struct weir_rule rules[3000];
	struct weir_classifier *classifier;
	struct weir_classifier_shape shape;
	uint64_t random = 5;

	(void)state;
	for (unsigned int kind = 0; kind < WEIR_TEST_RULE_SETS; kind++) {
		for (unsigned int i = 0; i < RTE_DIM(counts); i++) {
			weir_test_rules_make(kind, i + 1, rules, counts[i]);
			assert_agrees_as(WEIR_RULES_ONE_BY_ONE, rules, counts[i], 40, &random);
		}
	}
	classifier = built_as(WEIR_RULES_ONE_BY_ONE, rules, RTE_DIM(rules));
	shape = weir_classifier_shape(classifier);
	assert_int_equal(shape.keys, 1);
	assert_int_equal(shape.trees, 0);
	assert_int_equal(shape.longest, RTE_DIM(rules));
	weir_classifier_free(classifier);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agrees_with_a_linear_search_on_rule_sets_of_each_kind),
		cmocka_unit_test(agrees_with_a_linear_search_on_thousands_of_cramped_rule_sets),
		cmocka_unit_test(agrees_with_a_linear_search_when_one_key_has_all_rules),
		cmocka_unit_test(
			agrees_with_a_linear_search_when_there_are_more_pairs_of_lengths_than_tables),
		cmocka_unit_test(the_first_of_two_same_rules_wins),
		cmocka_unit_test(a_rule_that_names_ports_does_not_match_a_packet_without),
		cmocka_unit_test(memory_is_bounded_when_every_rule_has_networks_of_its_own),
		cmocka_unit_test(without_an_index_the_same_rules_are_found_in_one_list),
		cmocka_unit_test(more_rules_than_the_limit_are_refused_by_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
