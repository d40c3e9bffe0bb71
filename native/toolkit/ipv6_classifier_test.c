/* SPDX-License-Identifier: Apache-2.0 */
/* The classifier for IPv6 against the slow, obvious answer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <rte_common.h>

#include "ipv6_classifier.h"
#include "testing/ipv6_rules.h"

#define RULES_MAX 3000

static void
assert_agrees(const struct weir_ipv6_rule *rules, uint32_t count, unsigned int batches,
	      uint64_t *random)
{
	struct weir_error error = {0};
	struct weir_ipv6_classifier *classifier =
		weir_ipv6_classifier_build(rules, count, "rules", &error);

	if (classifier == NULL)
		fail_msg("%s", error.message);
	for (unsigned int batch = 0; batch < batches; batch++) {
		struct weir_ipv6_tuple tuples[WEIR_CLASSIFIER_BULK];
		uint32_t found[WEIR_CLASSIFIER_BULK];

		for (unsigned int i = 0; i < WEIR_CLASSIFIER_BULK; i++)
			tuples[i] = weir_test_ipv6_tuple_near(rules, count, random);
		weir_ipv6_classifier_classify(classifier, tuples, found, WEIR_CLASSIFIER_BULK);
		for (unsigned int i = 0; i < WEIR_CLASSIFIER_BULK; i++)
			assert_int_equal(found[i],
					 weir_test_first_ipv6_rule(rules, count, &tuples[i]));
	}
	weir_ipv6_classifier_free(classifier);
}

static void
without_rules_nothing_matches(void **state)
{
	uint64_t random = 1;

	(void)state;
	assert_agrees(NULL, 0, 1, &random);
}

static void
random_rule_sets_of_any_size_decide_as_a_linear_search_does(void **state)
{
	struct weir_ipv6_rule *rules = calloc(RULES_MAX, sizeof(*rules));
	uint64_t random = 7;

	(void)state;
	assert_non_null(rules);
	for (unsigned int round = 0; round < 60; round++) {
		static const uint32_t counts[] = {1, 2, 7, 40, 300};
		uint32_t count = counts[round % RTE_DIM(counts)];

		for (uint32_t i = 0; i < count; i++)
			rules[i] = weir_test_ipv6_rule(&random, 12);
		assert_agrees(rules, count, 20, &random);
	}
	free(rules);
}

/* More pairs of prefix lengths than there are tables: the rare ones are looked through. */
static void
rules_of_all_prefix_lengths_decide_as_a_linear_search_does(void **state)
{
	struct weir_ipv6_rule *rules = calloc(RULES_MAX, sizeof(*rules));
	uint64_t random = 11;

	(void)state;
	assert_non_null(rules);
	for (uint32_t i = 0; i < RULES_MAX; i++)
		rules[i] = weir_test_ipv6_rule(&random, 129);
	assert_agrees(rules, RULES_MAX, 40, &random);
	free(rules);
}

static void
addresses_at_both_ends_of_a_prefix_are_in_it_and_their_neighbours_are_not(void **state)
{
	static const struct {
		const char *address;
		bool in;
	} asked[] = {
		{"2001:db8:8000::", true},
		{"2001:db8:bfff:ffff:ffff:ffff:ffff:ffff", true},
		{"2001:db8:7fff:ffff:ffff:ffff:ffff:ffff", false},
		{"2001:db8:c000::", false},
		{"::", false},
		{"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", false},
	};
	struct weir_ipv6_rule rule = {.src.length = 34,
				      .rest = {.src_port_high = UINT16_MAX,
					       .dst_port_high = UINT16_MAX,
					       .any_protocol = true}};
	struct weir_error error = {0};
	struct weir_ipv6_classifier *classifier;

	(void)state;
	inet_pton(AF_INET6, "2001:db8:8000::", rule.src.address);
	classifier = weir_ipv6_classifier_build(&rule, 1, "rules", &error);
	assert_non_null(classifier);
	for (unsigned int i = 0; i < RTE_DIM(asked); i++) {
		struct weir_ipv6_tuple tuple = {.rest.protocol = IPPROTO_UDP};
		uint32_t found;

		inet_pton(AF_INET6, asked[i].address, tuple.src_ip);
		weir_ipv6_classifier_classify(classifier, &tuple, &found, 1);
		assert_int_equal(found, asked[i].in ? 0 : WEIR_RULE_NONE);
	}
	weir_ipv6_classifier_free(classifier);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_rules_nothing_matches),
		cmocka_unit_test(random_rule_sets_of_any_size_decide_as_a_linear_search_does),
		cmocka_unit_test(rules_of_all_prefix_lengths_decide_as_a_linear_search_does),
		cmocka_unit_test(
			addresses_at_both_ends_of_a_prefix_are_in_it_and_their_neighbours_are_not),
	};

	return cmocka_run_group_tests_name("ipv6_classifier", tests, NULL, NULL);
}
