/* SPDX-License-Identifier: Apache-2.0 */
/* Changes of single rules, against rules in an array. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <rte_common.h>

#include "rule_change.h"
#include "testing/file.h"
#include "testing/rule_model.h"
#include "testing/rules.h"

#define TEXT_BYTES (1 << 20)

/* A set of rules, and the same as a model. */
struct pair {
	struct weir_rule_set *set;
	struct weir_rule_model model;
	uint64_t random;
	unsigned int builds; /* how often all was built anew */
};

static char text[TEXT_BYTES];
static size_t text_bytes;

static void
write_line(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	text_bytes += vsnprintf(text + text_bytes, TEXT_BYTES - text_bytes, format, arguments);
	va_end(arguments);
	text[text_bytes++] = '\n';
	text[text_bytes] = '\0';
}

static void
clear_text(void)
{
	text_bytes = 0;
	text[0] = '\0';
}

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

/* Runs the command as nf.command does. NULL, or its error. */
static const char *
changed(struct pair *pair, bool is_committed)
{
	static struct weir_error error;
	struct weir_rule_change_arguments *arguments = calloc(1, sizeof(*arguments));
	void *prepared;
	int status;

	assert_non_null(arguments);
	snprintf(arguments->path, sizeof(arguments->path), "%s", weir_test_file(text));
	status = weir_rule_change_prepare(arguments, pair->set, "args", &prepared, &error);
	free(arguments);
	if (status < 0)
		return error.message;
	if (is_committed) {
		struct weir_rule_set *set = weir_rule_change_commit(prepared);

		pair->builds += set != pair->set;
		pair->set = set;
	}
	weir_rule_change_release(prepared);
	return NULL;
}

static void
assert_agrees(struct pair *pair, unsigned int batches)
{
	assert_int_equal(pair->set->count, pair->model.count);
	assert_int_equal(pair->set->names_ports, weir_rule_model_names_ports(&pair->model));
	for (unsigned int batch = 0; batch < batches; batch++) {
		struct weir_tuple tuples[WEIR_CLASSIFIER_BULK];
		struct weir_ipv6_tuple tuple6 =
			weir_rule_model_ipv6_tuple(&pair->model, &pair->random);
		bool permits[WEIR_CLASSIFIER_BULK];

		for (unsigned int i = 0; i < WEIR_CLASSIFIER_BULK; i++)
			tuples[i] = weir_rule_model_tuple(&pair->model, &pair->random);
		weir_rule_set_permits(pair->set, tuples, permits, WEIR_CLASSIFIER_BULK);
		for (unsigned int i = 0; i < WEIR_CLASSIFIER_BULK; i++)
			assert_int_equal(permits[i],
					 weir_rule_model_permits(&pair->model, &tuples[i]));
		assert_int_equal(weir_rule_set_permits_ipv6(pair->set, &tuple6),
				 weir_rule_model_permits_ipv6(&pair->model, &tuple6));
	}
}

/* Of the text, whose lines are rules. */
static struct pair
pair_of(bool default_permits, uint64_t random)
{
	struct pair pair = {.model = {.default_permits = default_permits}, .random = random};
	struct weir_error error;
	char line[128];

	pair.set = weir_rule_set_parse(text, text_bytes, "test", default_permits, "rules", &error);
	if (pair.set == NULL)
		fail_msg("%s", error.message);
	for (const char *at = text; *at != '\0'; at = strchr(at, '\n') + 1) {
		int bytes = snprintf(line, sizeof(line), "add %.*s\n", (int)(strchr(at, '\n') - at),
				     at);

		assert_true(weir_rule_model_change(&pair.model, line, bytes));
	}
	clear_text();
	return pair;
}

/* What the text says, of both. */
static void
change(struct pair *pair)
{
	const char *message = changed(pair, true);

	if (message != NULL)
		fail_msg("%s", message);
	assert_true(weir_rule_model_change(&pair->model, text, text_bytes));
	clear_text();
}

static void
ends(struct pair *pair)
{
	weir_rule_set_free(pair->set);
	weir_rule_model_free(&pair->model);
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

/* Both do it, or both refuse it and stay as they were; or none does, since it is not committed. */
static bool
try_change(struct pair *pair, bool is_committed)
{
	bool is_done = changed(pair, is_committed) == NULL;

	if (is_committed)
		assert_int_equal(weir_rule_model_change(&pair->model, text, text_bytes), is_done);
	clear_text();
	return is_done;
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
		cmocka_unit_test(agrees_with_an_array_after_each_of_thousands_of_random_changes),
		cmocka_unit_test(rules_that_a_tree_left_out_are_found_once_who_hid_them_is_removed),
		cmocka_unit_test(all_is_built_anew_where_many_were_added),
		cmocka_unit_test(all_is_built_anew_where_many_were_removed),
		cmocka_unit_test(all_is_built_anew_where_many_added_rules_are_under_one_key),
		cmocka_unit_test(rules_keep_their_order_however_often_one_is_put_at_the_same_place),
		cmocka_unit_test(of_rules_that_say_the_same_the_first_is_meant),
		cmocka_unit_test(a_change_that_cannot_be_done_names_its_line_and_changes_nothing),
		cmocka_unit_test(a_change_is_given_as_a_file_or_as_a_list),
		cmocka_unit_test(those_are_concerned_whom_a_changed_rule_is_about_and_no_others),
	};

	return cmocka_run_group_tests(tests, NULL, weir_test_file_remove);
}
