/* SPDX-License-Identifier: Apache-2.0 */
/* Rules that are read, or changed, on one thread while packets flow on another. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <rte_cycles.h>

#include "firewall_fixture_test.h"
#include "testing/eal.h"

#define RELOADS 20
#define RULES 2000

/* What the control thread hands to the thread of the state, and back. */
struct handover {
	void *firewall;
	void *prepared;
	bool is_prepared, is_committed, is_done;
};

/* On the control thread: prepared, committed by the other thread, released. */
static void
hand_over(struct handover *handover, const struct weir_command *command, const void *arguments)
{
	struct weir_error error;

	if (command->prepare(handover->firewall, arguments, "args", &handover->prepared, &error) <
	    0)
		abort();
	__atomic_store_n(&handover->is_prepared, true, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&handover->is_committed, __ATOMIC_ACQUIRE))
		rte_delay_us_sleep(100);
	__atomic_store_n(&handover->is_committed, false, __ATOMIC_RELAXED);
	command->release(handover->prepared);
}

/* On the thread of the state, between two batches. Whether there was something. */
static bool
commit_prepared(struct handover *handover, const struct weir_command *command)
{
	if (!__atomic_load_n(&handover->is_prepared, __ATOMIC_ACQUIRE))
		return false;
	handover->is_prepared = false;
	command->commit(handover->firewall, handover->prepared, NULL);
	__atomic_store_n(&handover->is_committed, true, __ATOMIC_RELEASE);
	return true;
}

static void *
reload_again_and_again(void *argument)
{
	const struct weir_rule_reload_arguments same_file = {0};
	struct handover *handover = argument;

	for (unsigned int i = 0; i < RELOADS; i++)
		hand_over(handover, &weir_nf_firewall.commands[0], &same_file);
	__atomic_store_n(&handover->is_done, true, __ATOMIC_RELEASE);
	return NULL;
}

/* Many rules that are not about the test's hosts, then one that permits them. */
static const char *
many_rules(void)
{
	static char text[RULES * 64];
	size_t used = 0;

	for (unsigned int i = 0; i < RULES; i++)
		used += snprintf(text + used, sizeof(text) - used,
				 "deny tcp 172.16.%u.%u any any 80\n", i / 256, i % 256);
	snprintf(text + used, sizeof(text) - used, "permit udp 10.0.0.0/8 any\n");
	return text;
}

static void
no_packet_of_a_session_is_lost_while_rules_are_reloaded(void **state)
{
	struct handover handover = {.firewall =
					    firewall_test_with(many_rules(), "default", "deny")};
	void *firewall = handover.firewall;
	unsigned int commits = 0;
	pthread_t control;

	(void)state;
	assert_int_equal(pthread_create(&control, NULL, reload_again_and_again, &handover), 0);
	while (!__atomic_load_n(&handover.is_done, __ATOMIC_ACQUIRE)) {
		assert_null(OUT(from_inside(IPPROTO_UDP, 1000, 0), 0));
		assert_null(IN(from_outside(IPPROTO_UDP, 1000, 0), 0));
		commits += commit_prepared(&handover, &weir_nf_firewall.commands[0]);
	}
	pthread_join(control, NULL);
	assert_int_equal(commits, RELOADS);
	ends(firewall);
}

/* Whose decisions of the fast path a reload forgets. */
static bool
is_forgotten(struct firewall *firewall, const struct weir_rule_set *rules, const char *src,
	     uint16_t src_port, const char *dst, uint16_t dst_port)
{
	struct firewall_judging judging = {.firewall = firewall, .rules = rules};
	struct weir_tuple tuple = {.src_port = rte_cpu_to_be_16(src_port),
				   .dst_port = rte_cpu_to_be_16(dst_port),
				   .protocol = IPPROTO_UDP};

	inet_pton(AF_INET, src, &tuple.src_ip);
	inet_pton(AF_INET, dst, &tuple.dst_ip);
	return firewall_is_refused(&tuple, WEIR_OUTBOUND, &judging);
}

static void
the_fast_path_forgets_both_directions_of_the_sessions_that_end_and_no_others(void **state)
{
	static const char text[] = "deny udp any any 1001 80\npermit udp 10.0.0.0/8 any";
	void *firewall = firewall_test_with("permit any any any", "default", "deny");
	struct weir_error error;
	struct weir_rule_set *rules =
		weir_rule_set_parse(text, sizeof(text) - 1, "new", false, "rules", &error);

	(void)state;
	assert_non_null(rules);
	assert_null(OUT(from_inside(IPPROTO_UDP, 1000, 0), 0));
	assert_null(OUT(from_inside(IPPROTO_UDP, 1001, 0), 0));
	assert_false(is_forgotten(firewall, rules, INSIDE, 1000, OUTSIDE, 80));
	assert_false(is_forgotten(firewall, rules, OUTSIDE, 80, INSIDE, 1000));
	assert_true(is_forgotten(firewall, rules, INSIDE, 1001, OUTSIDE, 80));
	assert_true(is_forgotten(firewall, rules, OUTSIDE, 80, INSIDE, 1001));
	weir_rule_set_free(rules);
	ends(firewall);
}

/* Runs the command: NULL, or its error. */
static const char *
change(void *firewall, const char *list)
{
	const char *const arguments[][2] = {{"change_list", list}, {NULL, NULL}};

	return weir_test_command(&weir_nf_firewall, firewall, "change", arguments);
}

static void
a_change_ends_the_sessions_that_rules_refuse_then_and_no_others(void **state)
{
	void *firewall = firewall_test_with("permit udp 10.0.0.0/8 any any 80\n"
					    "permit tcp 10.0.0.0/8 any\n",
					    "default", "deny");

	(void)state;
	assert_null(OUT(from_inside(IPPROTO_UDP, 1000, 0), 0));
	assert_null(OUT(from_inside(IPPROTO_UDP, 1001, 0), 0));
	assert_null(OUT(from_inside(IPPROTO_TCP, 1000, RTE_TCP_SYN_FLAG), 0));
	assert_null(change(firewall, "add deny udp any any 1001 any first,"
				     "remove permit tcp 10.0.0.0/8 any"));
	assert_null(IN(from_outside(IPPROTO_UDP, 1000, 0), 0));
	assert_drop("denied", IN(from_outside(IPPROTO_UDP, 1001, 0), 0));
	assert_drop("denied", OUT(from_inside(IPPROTO_UDP, 1001, 0), 0));
	assert_drop("no_session",
		    IN(from_outside(IPPROTO_TCP, 1000, RTE_TCP_SYN_FLAG | RTE_TCP_ACK_FLAG), 0));
	assert_non_null(change(firewall, "remove permit udp 10.0.0.0/8 any any 80,"
					 "remove permit tcp 10.0.0.0/8 any"));
	assert_null(IN(from_outside(IPPROTO_UDP, 1000, 0), 0));
	ends(firewall);
}

static void
a_change_that_can_refuse_nothing_asks_about_no_session_anew(void **state)
{
	struct firewall *firewall =
		firewall_test_with("deny tcp any any\npermit udp any any", "default", "deny");
	uint32_t generation = firewall->generation;

	(void)state;
	assert_null(change((void *)firewall, "remove deny tcp any any, add permit tcp any any,"
					     "add permit any 10.0.0.0/8 any first"));
	assert_int_equal(firewall->generation, generation);
	assert_null(change((void *)firewall, "remove permit udp any any"));
	assert_int_equal(firewall->generation, generation + 1);
	ends(firewall);
}

static void *
change_again_and_again(void *argument)
{
	static const char *const lists[] = {
		"add deny udp any any 2000 any first, add deny tcp any any any 81,"
		"remove deny tcp 172.16.0.7 any any 80",
		"remove deny udp any any 2000 any, remove deny tcp any any any 81,"
		"add deny tcp 172.16.0.7 any any 80 first"};
	struct weir_rule_change_arguments *arguments = calloc(1, sizeof(*arguments));
	struct handover *handover = argument;

	for (unsigned int i = 0; arguments != NULL && i < RELOADS; i++) {
		snprintf(arguments->list, sizeof(arguments->list), "%s", lists[i % 2]);
		hand_over(handover, &weir_nf_firewall.commands[1], arguments);
	}
	free(arguments);
	__atomic_store_n(&handover->is_done, true, __ATOMIC_RELEASE);
	return NULL;
}

static void
packets_find_the_rules_as_they_are_while_single_ones_change(void **state)
{
	struct handover handover = {.firewall =
					    firewall_test_with(many_rules(), "default", "deny")};
	void *firewall = handover.firewall;
	unsigned int commits = 0;
	pthread_t control;

	(void)state;
	assert_int_equal(pthread_create(&control, NULL, change_again_and_again, &handover), 0);
	while (!__atomic_load_n(&handover.is_done, __ATOMIC_ACQUIRE)) {
		assert_null(OUT(from_inside(IPPROTO_UDP, 1000, 0), 0));
		if (commits % 2 == 1)
			assert_drop("denied", OUT(from_inside(IPPROTO_UDP, 2000, 0), 0));
		else
			assert_null(OUT(from_inside(IPPROTO_UDP, 2000, 0), 0));
		commits += commit_prepared(&handover, &weir_nf_firewall.commands[1]);
	}
	pthread_join(control, NULL);
	assert_int_equal(commits, RELOADS);
	assert_int_equal(((struct firewall *)firewall)->rules->count, RULES + 1);
	ends(firewall);
}

static void
the_fast_path_forgets_what_a_change_refuses_and_nothing_else(void **state)
{
	struct firewall *firewall = firewall_test_with("permit any any any", "default", "deny");
	struct weir_rule_change_arguments *arguments = calloc(1, sizeof(*arguments));
	struct firewall_judging judging = {.firewall = firewall};
	struct weir_tuple flow = {.protocol = IPPROTO_UDP, .dst_port = rte_cpu_to_be_16(80)};
	struct weir_error error;
	void *prepared;

	(void)state;
	assert_non_null(arguments);
	inet_pton(AF_INET, INSIDE, &flow.src_ip);
	inet_pton(AF_INET, OUTSIDE, &flow.dst_ip);
	assert_null(OUT(from_inside(IPPROTO_UDP, 1000, 0), 0));
	assert_null(OUT(from_inside(IPPROTO_UDP, 1001, 0), 0));
	assert_null(OUT(from_inside(IPPROTO_UDP, 1002, 0), 0));
	snprintf(arguments->list, sizeof(arguments->list),
		 "add deny udp any any 1001 80 first, add deny udp any any 1002 80,"
		 "add permit udp any any 1000 80");
	assert_int_equal(
		weir_rule_change_prepare(arguments, firewall->rules, "args", &prepared, &error), 0);
	firewall->rules = weir_rule_change_commit(prepared);
	judging.rules = firewall->rules;
	judging.change = prepared;
	for (unsigned int port = 1000; port < 1003; port++) {
		flow.src_port = rte_cpu_to_be_16(port);
		/* 1002 is denied behind all that permit it. */
		assert_int_equal(firewall_is_refused(&flow, WEIR_OUTBOUND, &judging), port == 1001);
	}
	weir_rule_change_release(prepared);
	free(arguments);
	ends(firewall);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_packet_of_a_session_is_lost_while_rules_are_reloaded),
		cmocka_unit_test(
			the_fast_path_forgets_both_directions_of_the_sessions_that_end_and_no_others),
		cmocka_unit_test(a_change_ends_the_sessions_that_rules_refuse_then_and_no_others),
		cmocka_unit_test(a_change_that_can_refuse_nothing_asks_about_no_session_anew),
		cmocka_unit_test(packets_find_the_rules_as_they_are_while_single_ones_change),
		cmocka_unit_test(the_fast_path_forgets_what_a_change_refuses_and_nothing_else),
	};

	return cmocka_run_group_tests(tests, weir_test_eal, weir_test_file_remove);
}
