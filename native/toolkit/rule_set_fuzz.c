/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target of rule files and the classifier: any text is read or refused with its line, and what
 * was read decides as a linear search does, on packets in and around its rules. */
#include <stdlib.h>
#include <string.h>

#include "rule_set.h"
#include "testing/ipv6_rules.h"
#include "testing/rules.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void
compare(const struct weir_rule_set *set, uint64_t random)
{
	struct weir_tuple tuples[WEIR_CLASSIFIER_BULK];
	uint32_t found[WEIR_CLASSIFIER_BULK];

	for (unsigned int i = 0; i < WEIR_CLASSIFIER_BULK; i++) {
		uint32_t rule = (uint32_t)(weir_test_random(&random) >> 32) % set->ipv4_count;

		tuples[i] = weir_test_tuple_in(&set->ipv4_rules[rule], &random);
		if (i % 4 == 0)
			tuples[i].dst_ip ^= (uint32_t)weir_test_random(&random);
	}
	weir_classifier_classify(set->ipv4, tuples, found, WEIR_CLASSIFIER_BULK);
	for (unsigned int i = 0; i < WEIR_CLASSIFIER_BULK; i++) {
		if (found[i] != weir_test_first_rule(set->ipv4_rules, set->ipv4_count, &tuples[i]))
			abort();
	}
}

static void
compare_ipv6(const struct weir_rule_set *set, uint64_t random)
{
	struct weir_ipv6_tuple tuples[WEIR_CLASSIFIER_BULK];
	uint32_t found[WEIR_CLASSIFIER_BULK];

	for (unsigned int i = 0; i < WEIR_CLASSIFIER_BULK; i++)
		tuples[i] = weir_test_ipv6_tuple_near(set->ipv6.rules, set->ipv6.count, &random);
	weir_ipv6_classifier_classify(set->ipv6.classifier, tuples, found, WEIR_CLASSIFIER_BULK);
	for (unsigned int i = 0; i < WEIR_CLASSIFIER_BULK; i++) {
		if (found[i] !=
		    weir_test_first_ipv6_rule(set->ipv6.rules, set->ipv6.count, &tuples[i]))
			abort();
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	/* A copy of just that size: reading one byte too far is seen by AddressSanitizer. */
	char *text = malloc(size != 0 ? size : 1);
	struct weir_error error = {0};
	struct weir_rule_set *set;

	if (text == NULL)
		return 0;
	memcpy(text, bytes, size);
	set = weir_rule_set_parse(text, size, "fuzz", false, "rules", &error);
	if (set == NULL && strncmp(error.message, "fuzz:", 5) != 0)
		abort();
	if (set != NULL && set->ipv4_count > 0)
		compare(set, size + 1);
	if (set != NULL && set->ipv6.count > 0)
		compare_ipv6(set, size + 1);
	weir_rule_set_free(set);
	free(text);
	return 0;
}
