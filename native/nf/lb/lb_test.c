/* SPDX-License-Identifier: Apache-2.0 */
/* What users of a balancer expect of connections and back-ends, packet by packet. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <string.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <rte_tcp.h>

#include "lb_fixture_test.h"
#include "testing/report.h"

static void
test_a_request_goes_to_a_backend_and_the_answer_comes_from_the_service(void **state)
{
	char backend[INET_ADDRSTRLEN];
	struct weir_test_outcome outcome;
	struct rte_tcp_hdr *tcp;

	(void)state;
	lb_start_with_three_backends();
	strcpy(backend, lb_backend_of(4000, SYN));
	assert_string_equal(lb_seen_from(backend, 4000, SYN | ACK), VIP);
	outcome = lb_pass(WEIR_OUTBOUND, &(struct weir_test_ipv4){.src = CLIENT,
								  .dst = VIP,
								  .protocol = IPPROTO_TCP,
								  .src_port = 4000,
								  .dst_port = 80});
	tcp = rte_pktmbuf_mtod_offset(outcome.packet, struct rte_tcp_hdr *, 34);
	assert_int_equal(ntohs(tcp->dst_port), 8080);
	rte_pktmbuf_free(outcome.packet);
}

static void
test_all_backends_get_connections(void **state)
{
	(void)state;
	lb_start_with_three_backends();
	for (unsigned int i = 1; i <= 3; i++) {
		char backend[INET_ADDRSTRLEN];

		snprintf(backend, sizeof(backend), "10.0.0.%u", i);
		lb_port_to(backend, 1000 * i);
	}
}

static void
test_a_service_is_a_port_and_a_protocol_too(void **state)
{
	const struct weir_test_ipv4 other_port = {
		.src = CLIENT, .dst = VIP, .protocol = IPPROTO_TCP, .dst_port = 81};
	const struct weir_test_ipv4 other_protocol = {
		.src = CLIENT, .dst = VIP, .protocol = IPPROTO_UDP, .dst_port = 80};
	const struct weir_test_ipv4 names = {
		.src = CLIENT, .dst = VIP, .protocol = IPPROTO_UDP, .dst_port = 53};

	(void)state;
	lb_start_with_three_backends();
	assert_string_equal(lb_address_in(lb_pass(WEIR_OUTBOUND, &other_port), 16), VIP);
	assert_string_equal(lb_address_in(lb_pass(WEIR_OUTBOUND, &other_protocol), 16), VIP);
	assert_string_equal(lb_address_in(lb_pass(WEIR_OUTBOUND, &names), 16), "10.0.0.1");
}

static void
test_a_connection_stays_with_its_backend_when_others_come(void **state)
{
	char backend[100][INET_ADDRSTRLEN];
	unsigned int moved = 0;

	(void)state;
	lb_start_with_three_backends();
	for (unsigned int i = 0; i < 100; i++)
		strcpy(backend[i], lb_backend_of(5000 + i, SYN));
	lb_command("backend-add", "10.0.0.4:8080");
	for (unsigned int i = 0; i < 100; i++)
		assert_string_equal(lb_backend_of(5000 + i, ACK), backend[i]);
	for (unsigned int i = 0; i < 100; i++)
		moved += strcmp(lb_backend_of(6000 + i, SYN), "10.0.0.4") == 0;
	assert_in_range(moved, 10, 45); /* a quarter of the new ones */
}

static void
test_a_draining_backend_keeps_its_connections_and_gets_no_new_ones(void **state)
{
	uint16_t port;

	(void)state;
	lb_start_with_three_backends();
	port = lb_port_to("10.0.0.2", 1000);
	lb_command("backend-drain", "10.0.0.2:8080");
	assert_string_equal(lb_backend_of(port, ACK), "10.0.0.2");
	assert_string_equal(lb_seen_from("10.0.0.2", port, ACK), VIP);
	for (uint16_t i = 0; i < 100; i++)
		assert_string_not_equal(lb_backend_of(7000 + i, SYN), "10.0.0.2");
	lb_command("backend-add", "10.0.0.2:8080");
	lb_port_to("10.0.0.2", 8000);
}

static void
test_connections_of_a_removed_backend_go_to_another_one_and_stay_there(void **state)
{
	char other[INET_ADDRSTRLEN];
	uint16_t port;

	(void)state;
	lb_start_with_three_backends();
	port = lb_port_to("10.0.0.2", 1000);
	lb_command("backend-remove", "10.0.0.2:8080");
	strcpy(other, lb_backend_of(port, ACK));
	assert_string_not_equal(other, "10.0.0.2");
	assert_string_equal(lb_seen_from("10.0.0.2", port, ACK), "10.0.0.2");
	/* A newcomer with the number of the removed one does not inherit its connections. */
	lb_command("backend-add", "10.0.0.9:8080");
	assert_string_equal(lb_backend_of(port, ACK), other);
}

static void
test_a_service_without_backends_drops(void **state)
{
	(void)state;
	lb_start_with_three_backends();
	lb_command("backend-drain", "10.0.0.1:8080");
	lb_command("backend-remove", "10.0.0.2:8080");
	lb_command("backend-remove", "10.0.0.3:8080");
	assert_string_equal(lb_backend_of(4000, SYN), "no_backend");
}

static void
test_a_backend_cannot_speak_in_anothers_connection(void **state)
{
	uint16_t port;

	(void)state;
	lb_start_with_three_backends();
	port = lb_port_to("10.0.0.1", 1000);
	assert_string_equal(lb_seen_from("10.0.0.2", port, RST), "other_backend");
	assert_string_equal(lb_backend_of(port, ACK), "10.0.0.1");
}

static void
test_a_syn_behind_the_end_of_a_connection_begins_a_new_one(void **state)
{
	uint16_t port;

	(void)state;
	lb_start_with_three_backends();
	port = lb_port_to("10.0.0.2", 1000);
	lb_command("backend-drain", "10.0.0.2:8080");
	assert_string_equal(lb_backend_of(port, SYN), "10.0.0.2"); /* sent again: not ended */
	lb_backend_of(port, FIN | ACK);
	assert_string_equal(lb_backend_of(port, SYN), "10.0.0.2"); /* half closed */
	lb_seen_from("10.0.0.2", port, FIN | ACK);
	assert_string_equal(lb_backend_of(port, ACK), "10.0.0.2"); /* the last ACK */
	assert_string_not_equal(lb_backend_of(port, SYN), "10.0.0.2");
}

/* Whether the connection of `port` is still known: then its draining back-end still has it. */
static bool
is_known(uint16_t port)
{
	return strcmp(lb_backend_of(port, ACK), "10.0.0.2") == 0;
}

static void
test_idle_connections_end_by_their_state(void **state)
{
	static const char *const options[][2] = {
		{"services", SERVICE " 10.0.0.1:8080," SERVICE " 10.0.0.2:8080"},
		{"tcp_timeout_s", "100"},
		{"syn_timeout_s", "10"},
		{"fin_timeout_s", "20"},
		{NULL, NULL}};
	uint16_t begun, open, ended;

	(void)state;
	lb_start(options);
	begun = lb_port_to("10.0.0.2", 1000);
	open = lb_port_to("10.0.0.2", begun + 1);
	ended = lb_port_to("10.0.0.2", open + 1);
	lb_command("backend-drain", "10.0.0.2:8080");
	lb_backend_of(open, ACK);
	lb_backend_of(ended, RST);
	lb_wait_s(9);
	assert_true(lb_seen_from("10.0.0.2", begun, ACK) != NULL); /* counts as activity */
	lb_wait_s(13);
	assert_false(is_known(begun));
	assert_false(is_known(ended));
	lb_wait_s(70);
	assert_true(is_known(open));
	lb_wait_s(99);
	assert_true(is_known(open));
	lb_wait_s(103);
	assert_false(is_known(open));
}

/* Starts with these options. The port of a client whose connection goes to 10.0.0.2, to which no
 * new one goes from then on. */
static uint16_t
lb_one_connection(const char *const (*options)[2])
{
	uint16_t port;

	lb_start(options);
	port = lb_port_to("10.0.0.2", 1000);
	lb_backend_of(port, ACK);
	lb_command("backend-drain", "10.0.0.2:8080");
	return port;
}

static void
test_no_connection_ends_before_it_was_idle_for_its_timeout(void **state)
{
	static const char *const options[][2] = {
		{"services", SERVICE " 10.0.0.1:8080," SERVICE " 10.0.0.2:8080"},
		{"tcp_timeout_s", "1"},
		{NULL, NULL}};
	uint16_t port;

	(void)state;
	port = lb_one_connection(options);
	lb_now_s = 1000.999;
	assert_true(is_known(port));
	lb_sweep();
	lb_now_s = 1001.998;
	lb_sweep();
	assert_true(is_known(port));
	lb_sweep();
	lb_now_s = 1003.01;
	lb_sweep();
	assert_false(is_known(port));
}

static void
test_a_flush_ends_connections_without_packets_and_no_others(void **state)
{
	static const char *const options[][2] = {
		{"services", SERVICE " 10.0.0.1:8080," SERVICE " 10.0.0.2:8080"},
		{"connections_max", "99999"}, /* a round of the sweep is a second */
		{NULL, NULL}};
	static const char *const nothing[][2] = {{NULL, NULL}};
	uint16_t quiet, talking;

	(void)state;
	lb_start(options);
	quiet = lb_port_to("10.0.0.2", 1000);
	talking = lb_port_to("10.0.0.2", quiet + 1);
	lb_backend_of(quiet, ACK);
	lb_command("backend-drain", "10.0.0.2:8080");
	assert_null(weir_test_command(&weir_nf_lb, lb, "flush", nothing));
	lb_wait_s(1);
	lb_backend_of(talking, ACK);
	lb_wait_s(1);
	assert_true(is_known(talking));
	assert_false(is_known(quiet));
}

static void
test_answers_keep_a_connection(void **state)
{
	static const char *const options[][2] = {
		{"services", SERVICE " 10.0.0.1:8080," SERVICE " 10.0.0.2:8080"},
		{"tcp_timeout_s", "10"},
		{NULL, NULL}};
	uint16_t port;

	(void)state;
	port = lb_one_connection(options);
	for (unsigned int i = 0; i < 5; i++) {
		lb_wait_s(6);
		assert_string_equal(lb_seen_from("10.0.0.2", port, ACK), VIP);
	}
	assert_true(is_known(port));
}

static void
test_more_connections_than_fit_are_forwarded_by_the_hash_or_dropped(void **state)
{
	static const char *const stateless[][2] = {
		{"services", SERVICE " 10.0.0.1:8080," SERVICE " 10.0.0.2:8080"},
		{"connections_max", "10"},
		{NULL, NULL}};
	static const char *const strict[][2] = {{"services", SERVICE " 10.0.0.1:8080"},
						{"connections_max", "10"},
						{"when_full", "drop"},
						{NULL, NULL}};
	char backend[INET_ADDRSTRLEN];

	(void)state;
	lb_start(stateless);
	for (uint16_t i = 0; i < 10; i++)
		lb_backend_of(1000 + i, SYN);
	strcpy(backend, lb_backend_of(2000, SYN));
	assert_string_equal(lb_backend_of(2000, ACK), backend);
	assert_string_equal(lb_seen_from(backend, 2000, ACK), VIP);
	lb_start(strict);
	for (uint16_t i = 0; i < 10; i++)
		assert_string_equal(lb_backend_of(1000 + i, SYN), "10.0.0.1");
	assert_string_equal(lb_backend_of(2000, SYN), "table_full");
	assert_string_equal(lb_backend_of(1009, ACK), "10.0.0.1");
	lb_wait_s(62);
	assert_string_equal(lb_backend_of(2000, SYN), "10.0.0.1");
}

static void
test_connections_and_what_each_backend_had_are_reported(void **state)
{
	const char *const second[] = {SERVICE, "10.0.0.2:8080", "active", NULL};
	const char *const draining[] = {"10.0.0.2:8080", "draining", NULL};
	const uint64_t bytes = 60;
	uint16_t port;

	(void)state;
	lb_start_with_three_backends();
	port = lb_port_to("10.0.0.2", 1000);
	lb_backend_of(port, ACK);
	lb_seen_from("10.0.0.2", port, ACK);
	assert_int_equal(weir_test_figure(&weir_nf_lb, lb, "connections"), port - 1000 + 1);
	assert_int_equal(weir_test_counted(&weir_nf_lb, lb, second).packets, 3);
	lb_command("backend-drain", "10.0.0.2:8080");
	assert_int_equal(weir_test_counted(&weir_nf_lb, lb, draining).bytes, 3 * bytes);
	lb_wait_s(1000);
	assert_int_equal(weir_test_figure(&weir_nf_lb, lb, "connections"), 0);
	/* Another back-end in its place begins at 0. */
	lb_command("backend-remove", "10.0.0.2:8080");
	lb_command("backend-add", "10.0.0.2:8080");
	assert_int_equal(weir_test_counted(&weir_nf_lb, lb, second).packets, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_a_request_goes_to_a_backend_and_the_answer_comes_from_the_service),
		cmocka_unit_test(test_all_backends_get_connections),
		cmocka_unit_test(test_a_service_is_a_port_and_a_protocol_too),
		cmocka_unit_test(test_a_connection_stays_with_its_backend_when_others_come),
		cmocka_unit_test(
			test_a_draining_backend_keeps_its_connections_and_gets_no_new_ones),
		cmocka_unit_test(
			test_connections_of_a_removed_backend_go_to_another_one_and_stay_there),
		cmocka_unit_test(test_a_service_without_backends_drops),
		cmocka_unit_test(test_a_backend_cannot_speak_in_anothers_connection),
		cmocka_unit_test(test_a_syn_behind_the_end_of_a_connection_begins_a_new_one),
		cmocka_unit_test(test_idle_connections_end_by_their_state),
		cmocka_unit_test(test_no_connection_ends_before_it_was_idle_for_its_timeout),
		cmocka_unit_test(test_a_flush_ends_connections_without_packets_and_no_others),
		cmocka_unit_test(test_answers_keep_a_connection),
		cmocka_unit_test(
			test_more_connections_than_fit_are_forwarded_by_the_hash_or_dropped),
		cmocka_unit_test(test_connections_and_what_each_backend_had_are_reported),
	};

	return cmocka_run_group_tests_name("lb", tests, weir_test_eal, lb_stop);
}
