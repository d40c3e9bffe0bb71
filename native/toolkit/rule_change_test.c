/* SPDX-License-Identifier: Apache-2.0 */
/* Changes of single rules, as the command takes them. */
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

static void
of_rules_that_say_the_same_the_first_is_meant(void **state)
{
	struct pair pair;

	(void)state;
	write_line("permit udp any any");
	write_line("deny udp any any");
	write_line("permit udp any any");
	pair = pair_of(true, 9);
	write_line("remove permit udp any any");
	change(&pair);
	assert_int_equal(pair.set->count, 2);
	assert_agrees(&pair, 10);
	write_line("remove deny udp 0.0.0.0/0 any");
	assert_string_equal(strstr(changed(&pair, true), ":1:"),
			    ":1: there is no rule deny udp 0.0.0.0/0 any");
	clear_text();
	ends(&pair);
}

/* --- all or nothing ----------------------------------------------------------------------------
 */

static void
a_change_that_cannot_be_done_names_its_line_and_changes_nothing(void **state)
{
	static const struct {
		const char *line, *message;
	} refused[] = {
		{"remove permit tcp any any 1 1", "there is no rule permit tcp any any 1 1"},
		{"remove", "a rule has four words, five with types of ICMP, or six with ports"},
		{"drop permit any any any", "'drop' is not a change"},
		{"add permit tcp any any first of", "'of' is not the end of the line"},
		{"add permit tcp any any before deny udp any any",
		 "there is no rule deny udp any any"},
		{"add permit tcp any any after", "a rule has four words, five with types of ICMP, "
						 "or six with ports"},
		{"add accept tcp any any", "'accept' is not an action"},
		{"add permit tcp any 10.0.0.1/8", "'10.0.0.1/8' is not a prefix: it has host bits"},
		{"add a b c d e f g h i j k l m n", "more words than a change has"},
	};
	struct pair pair;
	char expected[160];

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(refused); i++) {
		write_line("permit tcp any any any 80");
		write_line("deny any any any");
		pair = pair_of(false, 10);
		write_line("# The next three can be done.");
		write_line("add permit udp any any first");
		write_line("remove deny any any any");
		write_line("add permit any any any before permit udp any any");
		write_line("%s", refused[i].line);
		snprintf(expected, sizeof(expected), ":5: %s", refused[i].message);
		assert_string_equal(strstr(changed(&pair, true), ":5:"), expected);
		clear_text();
		assert_agrees(&pair, 4);
		write_line("remove deny any any any");
		change(&pair);
		assert_agrees(&pair, 4);
		ends(&pair);
	}
}

static void
a_change_is_given_as_a_file_or_as_a_list(void **state)
{
	struct weir_rule_change_arguments *arguments = calloc(1, sizeof(*arguments));
	struct pair pair = pair_of(false, 11);
	struct weir_error error;
	void *prepared;

	(void)state;
	assert_non_null(arguments);
	assert_int_equal(weir_rule_change_prepare(arguments, pair.set, "args", &prepared, &error),
			 -1);
	assert_string_equal(error.expected, "changes or change_list");
	strcpy(arguments->list, "add permit udp any any, add permit tcp any any,remove deny any "
				"any any");
	assert_int_equal(weir_rule_change_prepare(arguments, pair.set, "args", &prepared, &error),
			 -1);
	assert_string_equal(error.message, "change_list:3: there is no rule deny any any any");
	*strrchr(arguments->list, ',') = '\0';
	assert_int_equal(weir_rule_change_prepare(arguments, pair.set, "args", &prepared, &error),
			 0);
	assert_ptr_equal(weir_rule_change_commit(prepared), pair.set);
	weir_rule_change_release(prepared);
	assert_int_equal(pair.set->count, 2);
	free(arguments);
	ends(&pair);
}

/* --- whom it concerns --------------------------------------------------------------------------
 */

/* 'r': a rule that changed may refuse it; 'c': another one is about it; '-': none. */
static char
concerned(const struct weir_rule_change *prepared, const char *src)
{
	struct weir_tuple tuple = {.protocol = IPPROTO_UDP};
	bool may_refuse;

	inet_pton(AF_INET, src, &tuple.src_ip);
	if (!weir_rule_change_concerns(prepared, &tuple, &may_refuse))
		return '-';
	return may_refuse ? 'r' : 'c';
}

static void
those_are_concerned_whom_a_changed_rule_is_about_and_no_others(void **state)
{
	struct weir_rule_change_arguments *arguments = calloc(1, sizeof(*arguments));
	struct weir_error error;
	struct pair pair;
	void *prepared;

	(void)state;
	assert_non_null(arguments);
	write_line("permit any 10.1.0.0/16 any");
	write_line("deny any 10.2.0.0/16 any");
	write_line("permit any 10.0.0.0/8 any");
	pair = pair_of(false, 12);
	strcpy(arguments->list,
	       "remove permit any 10.1.0.0/16 any, remove deny any 10.2.0.0/16 any,"
	       "add deny any 10.3.0.0/16 any, add permit any 10.4.0.0/16 any,"
	       "add deny any 10.5.0.0/16 any, remove deny any 10.5.0.0/16 any");
	assert_int_equal(weir_rule_change_prepare(arguments, pair.set, "args", &prepared, &error),
			 0);
	assert_true(weir_rule_change_may_refuse(prepared));
	assert_int_equal(concerned(prepared, "10.1.2.3"), 'r');
	assert_int_equal(concerned(prepared, "10.2.2.3"), 'c');
	assert_int_equal(concerned(prepared, "10.3.2.3"), 'r');
	assert_int_equal(concerned(prepared, "10.4.2.3"), 'c');
	assert_int_equal(concerned(prepared, "10.5.2.3"), '-');
	assert_int_equal(concerned(prepared, "10.6.2.3"), '-');
	weir_rule_change_release(prepared);
	strcpy(arguments->list, "remove deny any 10.2.0.0/16 any, add permit any any any");
	assert_int_equal(weir_rule_change_prepare(arguments, pair.set, "args", &prepared, &error),
			 0);
	assert_false(weir_rule_change_may_refuse(prepared));
	weir_rule_change_release(prepared);
	free(arguments);
	ends(&pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_rules_that_say_the_same_the_first_is_meant),
		cmocka_unit_test(a_change_that_cannot_be_done_names_its_line_and_changes_nothing),
		cmocka_unit_test(a_change_is_given_as_a_file_or_as_a_list),
		cmocka_unit_test(those_are_concerned_whom_a_changed_rule_is_about_and_no_others),
	};

	return cmocka_run_group_tests(tests, NULL, weir_test_file_remove);
}
