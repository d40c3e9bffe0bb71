/* SPDX-License-Identifier: Apache-2.0 */
/* Changes of single rules: random ones, and those that the parts of a set are built for, against
 * rules in an array. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <rte_common.h>

#include "rule_change_fixture_test.h"
#include "testing/file.h"
#include "testing/rules.h"

static uint32_t
below(uint64_t *random, uint32_t bound)
{
	return (uint32_t)(weir_test_random(random) >> 33) % bound;
}

#define CHOSEN(words) words[below(random, RTE_DIM(words))]

/* Few addresses and ports: rules that lie across each other, hide each other, are the same. */
static void
write_rule(char rule[96], uint64_t *random)
{
	static const char *const protocols[] = {"any", "tcp", "tcp",  "udp",
						"udp", "47",  "icmp", "icmpv6"};
	static const char *const prefixes[] = {"any",	     "any",	     "10.0.0.0/8",
					       "10.0.0.0/9", "10.0.0.0/15",  "10.0.0.0/31",
					       "10.0.0.1",   "192.0.2.0/24", "192.0.2.128/25"};
	static const char *const prefixes6[] = {"any", "2001:db8::/32", "2001:db8::/127",
						"2001:db8::1", "::/1"};
	static const char *const ports[] = {"any",	  "80",	   "53",	"0-1023",
					    "1024-65535", "79-81", "4000-5000", "80-60000"};
	static const char *const types[] = {"8", "0-255", "0", "3-11"};
	const char *protocol = CHOSEN(protocols);
	bool is_ipv6 = strcmp(protocol, "icmpv6") == 0 ||
		       (strcmp(protocol, "icmp") != 0 && below(random, 4) == 0);
	int used = snprintf(rule, 96, "%s %s %s %s", below(random, 2) == 0 ? "permit" : "deny",
			    protocol, is_ipv6 ? CHOSEN(prefixes6) : CHOSEN(prefixes),
			    is_ipv6 ? CHOSEN(prefixes6) : CHOSEN(prefixes));

	if (protocol[0] == 'i' && below(random, 2) == 0)
		snprintf(rule + used, 96 - used, " %s", CHOSEN(types));
	else if (protocol[0] != 'i' && protocol[0] != '4' && below(random, 3) != 0)
		snprintf(rule + used, 96 - used, " %s %s", CHOSEN(ports), CHOSEN(ports));
}

/* --- random changes ----------------------------------------------------------------------------
 */

#define KNOWN 48 /* texts that rules have, some of them several times */

static void
write_random_change(char known[KNOWN][96], uint64_t *random)
{
	const char *rule = known[below(random, KNOWN)];

	switch (below(random, 6)) {
	case 0:
		write_line("add %s", rule);
		break;
	case 1:
		write_line("add %s first", rule);
		break;
	case 2:
		write_line("add %s before %s", rule, known[below(random, KNOWN)]);
		break;
	case 3:
		write_line("add %s after %s # as told", rule, known[below(random, KNOWN)]);
		break;
	default:
		write_line("remove %s", rule);
	}
}

static void
agrees_with_an_array_after_each_of_thousands_of_random_changes(void **state)
{
	unsigned int done = 0, refused = 0;
	uint64_t seeds = 1;

	(void)state;
	for (unsigned int set = 0; set < 150; set++) {
		char known[KNOWN][96];
		struct pair pair;

		for (unsigned int i = 0; i < KNOWN; i++)
			write_rule(known[i], &seeds);
		for (uint32_t left = below(&seeds, 2 * KNOWN); left > 0; left--)
			write_line("%s", known[below(&seeds, KNOWN)]);
		pair = pair_of(set % 2 == 0, weir_test_random(&seeds));
		for (unsigned int transaction = 0; transaction < 40; transaction++) {
			for (uint32_t left = 1 + below(&seeds, transaction % 4 == 0 ? 12 : 2);
			     left > 0; left--)
				write_random_change(known, &seeds);
			if (try_change(&pair, transaction % 5 != 0))
				done++;
			else
				refused++;
			assert_agrees(&pair, 1);
		}
		assert_agrees(&pair, 4);
		ends(&pair);
	}
	assert_in_range(done, 1500, 6000);
	assert_in_range(refused, 500, 6000);
}

/* --- trees -------------------------------------------------------------------------------------
 */

static void
rules_that_a_tree_left_out_are_found_once_who_hid_them_is_removed(void **state)
{
	uint64_t random = 3;
	struct pair pair;
	static const char *const covers[] = {"permit any any any", "deny any any any",
					     "permit any 0.0.0.0/0 any"};

	(void)state;
	for (unsigned int i = 0; i < 1200; i++) {
		unsigned int low = below(&random, 60000);

		if (i >= 1150 && i % 10 == 5 && i < 1180)
			write_line("%s", covers[(i - 1150) / 10]);
		else
			write_line("%s %s any any %u-%u %u", i % 2 == 0 ? "permit" : "deny",
				   below(&random, 2) == 0 ? "tcp" : "udp", low,
				   low + below(&random, i < 1150 ? 100 : 5000), below(&random, 4));
	}
	pair = pair_of(false, 4);
	assert_in_range(weir_classifier_shape(pair.set->ipv4).trees, 1, 100);
	assert_true(weir_classifier_hides(pair.set->ipv4, 1155));
	for (unsigned int i = 0; i < RTE_DIM(covers); i++) {
		write_line("remove %s", covers[i]);
		change(&pair);
		assert_agrees(&pair, 200);
	}
	for (unsigned int i = 0; i < 300; i++) {
		const struct weir_model_rule *rule =
			&pair.model.rules[below(&random, pair.model.count)];

		write_line("remove %s %s any any %u-%u %u", rule->permits ? "permit" : "deny",
			   rule->rule.ipv4.protocol == IPPROTO_TCP ? "tcp" : "udp",
			   rule->rule.ipv4.src_port_low, rule->rule.ipv4.src_port_high,
			   rule->rule.ipv4.dst_port_low);
		change(&pair);
		assert_agrees(&pair, 2);
	}
	assert_int_equal(pair.builds, 0);
	ends(&pair);
}

/* --- all anew ----------------------------------------------------------------------------------
 */

static void
all_is_built_anew_where_many_were_added(void **state)
{
	struct pair pair = pair_of(false, 5);

	(void)state;
	for (unsigned int transaction = 0; transaction < 30; transaction++) {
		for (unsigned int i = 0; i < 100; i++)
			write_line("add %s udp any 10.%u.%u.0/24 any 1-%u first",
				   i % 3 == 0 ? "permit" : "deny", transaction, i, 60000 - i);
		change(&pair);
		assert_agrees(&pair, 2);
	}
	assert_in_range(pair.builds, 1, 5);
	ends(&pair);
}

static void
all_is_built_anew_where_many_were_removed(void **state)
{
	struct pair pair;

	(void)state;
	for (unsigned int i = 0; i < 3000; i++)
		write_line("%s udp any 10.0.%u.%u", i % 3 == 0 ? "permit" : "deny", i / 256,
			   i % 256);
	pair = pair_of(true, 6);
	for (unsigned int i = 0; i < 3000; i += 250) {
		for (unsigned int j = i; j < i + 250; j++)
			write_line("remove %s udp any 10.0.%u.%u", j % 3 == 0 ? "permit" : "deny",
				   j / 256, j % 256);
		change(&pair);
		assert_agrees(&pair, 10);
	}
	assert_int_equal(pair.set->count, 0);
	assert_in_range(pair.builds, 1, 3);
	ends(&pair);
}

static void
all_is_built_anew_where_many_added_rules_are_under_one_key(void **state)
{
	struct pair pair = pair_of(false, 7);

	(void)state;
	for (unsigned int i = 0; i < 200; i++) {
		write_line("add %s tcp any any %u-%u any", i % 2 == 0 ? "permit" : "deny", 300 - i,
			   300 + i * 300);
		change(&pair);
		assert_agrees(&pair, 2);
	}
	assert_in_range(pair.builds, 2, 10);
	ends(&pair);
}

/* --- orders ------------------------------------------------------------------------------------
 */

static void
rules_keep_their_order_however_often_one_is_put_at_the_same_place(void **state)
{
	static const char *const places[] = {"before deny udp 10.0.0.0/8 any", "first",
					     "after permit tcp 10.0.0.0/8 any"};
	struct pair pair;

	(void)state;
	for (unsigned int place = 0; place < RTE_DIM(places); place++) {
		write_line("permit tcp 10.0.0.0/8 any");
		write_line("permit udp any any");
		pair = pair_of(false, 8 + place);
		write_line("add deny udp 10.0.0.0/8 any after permit tcp 10.0.0.0/8 any");
		change(&pair);
		for (unsigned int i = 0; i < 900; i++) {
			write_line("add %s udp 10.%u.%u.0/24 any any 1-%u %s",
				   i / 128 % 2 == 0 ? "permit" : "deny", i % 32, i / 32 % 4,
				   60000 - i, places[place]);
			if (i % 9 == 8) {
				change(&pair);
				assert_agrees(&pair, 1);
			}
		}
		assert_agrees(&pair, 40);
		ends(&pair);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agrees_with_an_array_after_each_of_thousands_of_random_changes),
		cmocka_unit_test(rules_that_a_tree_left_out_are_found_once_who_hid_them_is_removed),
		cmocka_unit_test(all_is_built_anew_where_many_were_added),
		cmocka_unit_test(all_is_built_anew_where_many_were_removed),
		cmocka_unit_test(all_is_built_anew_where_many_added_rules_are_under_one_key),
		cmocka_unit_test(rules_keep_their_order_however_often_one_is_put_at_the_same_place),
	};

	return cmocka_run_group_tests(tests, NULL, weir_test_file_remove);
}
