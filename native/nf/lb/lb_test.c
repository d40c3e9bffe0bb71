/* SPDX-License-Identifier: Apache-2.0 */
/* What users of a balancer expect, packet by packet. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <string.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <rte_cycles.h>
#include <rte_ip.h>
#include <rte_tcp.h>

#include "testing/eal.h"
#include "testing/packet.h"

extern const struct weir_nf weir_nf_lb;

#define VIP "203.0.113.10"
#define CLIENT "198.51.100.1"
#define SERVICE VIP ":80/tcp"
#define SYN RTE_TCP_SYN_FLAG
#define ACK RTE_TCP_ACK_FLAG
#define FIN RTE_TCP_FIN_FLAG
#define RST RTE_TCP_RST_FLAG

static void *lb;
static uint64_t now_s;

static void
start(const char *const (*options)[2])
{
	if (lb != NULL)
		weir_nf_destroy(&weir_nf_lb, lb);
	lb = weir_test_state(&weir_nf_lb, options);
	now_s = 1000;
}

static void
start_with_three_backends(void)
{
	static const char *const options[][2] = {
		{"services", SERVICE " 10.0.0.1:8080," SERVICE " 10.0.0.2:8080," SERVICE
				     " 10.0.0.3:8080, " VIP ":53/udp 10.0.0.1:53"},
		{NULL, NULL},
	};

	start(options);
}

static struct weir_test_outcome
pass(enum weir_direction direction, const struct weir_test_ipv4 *what)
{
	return weir_test_run(&weir_nf_lb, lb, direction, weir_test_ipv4_packet(what),
			     now_s * rte_get_tsc_hz());
}

/* The address at `offset` in the IP header of a forwarded packet, as text; frees it. */
static const char *
address_in(struct weir_test_outcome outcome, size_t offset)
{
	static char text[INET_ADDRSTRLEN];
	uint8_t *frame;

	if (outcome.packet == NULL)
		return outcome.drop_reason;
	frame = rte_pktmbuf_mtod(outcome.packet, uint8_t *);
	assert_true(weir_test_checksums_right(frame, outcome.packet->pkt_len));
	inet_ntop(AF_INET, frame + RTE_ETHER_HDR_LEN + offset, text, sizeof(text));
	rte_pktmbuf_free(outcome.packet);
	return text;
}

/* Where a packet of the client's goes; `port` tells its connections apart. A drop reason if
 * nowhere. */
static const char *
backend_of(uint16_t port, uint8_t tcp_flags)
{
	const struct weir_test_ipv4 what = {
		.src = CLIENT,
		.dst = VIP,
		.protocol = IPPROTO_TCP,
		.src_port = port,
		.dst_port = 80,
		.tcp_flags = tcp_flags,
	};

	return address_in(pass(WEIR_OUTBOUND, &what), 16);
}

/* Whom the client sees as the sender of what a back-end sends. */
static const char *
seen_from(const char *backend, uint16_t port, uint8_t tcp_flags)
{
	const struct weir_test_ipv4 what = {
		.src = backend,
		.dst = CLIENT,
		.protocol = IPPROTO_TCP,
		.src_port = 8080,
		.dst_port = port,
		.tcp_flags = tcp_flags,
	};

	return address_in(pass(WEIR_INBOUND, &what), 12);
}

static void
command(const char *name, const char *backend)
{
	const char *const arguments[][2] = {
		{"service", SERVICE}, {"backend", backend}, {NULL, NULL}};

	assert_null(weir_test_command(&weir_nf_lb, lb, name, arguments));
}

/* Time passes, and the whole table is swept. */
static void
wait_s(unsigned int seconds)
{
	for (unsigned int i = 0; i < seconds; i++) {
		now_s++;
		for (unsigned int j = 0; j < 1000; j++)
			weir_nf_lb.tick(lb, now_s * rte_get_tsc_hz(), NULL);
	}
}

/* A client port whose new connection that back-end gets; ports are tried from `from` up, and each
 * attempt is a connection. */
static uint16_t
port_to(const char *backend, uint16_t from)
{
	for (uint16_t port = from; port < from + 100; port++) {
		if (strcmp(backend_of(port, SYN), backend) == 0)
			return port;
	}
	fail_msg("no connection went to %s", backend);
	return 0;
}

static void
test_a_request_goes_to_a_backend_and_the_answer_comes_from_the_service(void **state)
{
	char backend[INET_ADDRSTRLEN];
	struct weir_test_outcome outcome;
	struct rte_tcp_hdr *tcp;

	(void)state;
	start_with_three_backends();
	strcpy(backend, backend_of(4000, SYN));
	assert_string_equal(seen_from(backend, 4000, SYN | ACK), VIP);
	outcome = pass(WEIR_OUTBOUND, &(struct weir_test_ipv4){.src = CLIENT,
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
	start_with_three_backends();
	for (unsigned int i = 1; i <= 3; i++) {
		char backend[INET_ADDRSTRLEN];

		snprintf(backend, sizeof(backend), "10.0.0.%u", i);
		port_to(backend, 1000 * i);
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
	start_with_three_backends();
	assert_string_equal(address_in(pass(WEIR_OUTBOUND, &other_port), 16), VIP);
	assert_string_equal(address_in(pass(WEIR_OUTBOUND, &other_protocol), 16), VIP);
	assert_string_equal(address_in(pass(WEIR_OUTBOUND, &names), 16), "10.0.0.1");
}

static void
test_other_traffic_is_dropped_if_the_option_says_so(void **state)
{
	static const char *const options[][2] = {
		{"services", SERVICE " 10.0.0.1:8080"}, {"other", "drop"}, {NULL, NULL}};
	const struct weir_test_ipv4 other = {.src = CLIENT, .dst = "192.0.2.7"};
	static const uint8_t arp[60] = {[12] = 0x08, [13] = 0x06};
	struct weir_test_outcome outcome;

	(void)state;
	start(options);
	assert_string_equal(address_in(pass(WEIR_OUTBOUND, &other), 16), "not_for_service");
	outcome = weir_test_run(&weir_nf_lb, lb, WEIR_OUTBOUND, weir_test_packet(arp, sizeof(arp)),
				0);
	assert_non_null(outcome.packet);
	rte_pktmbuf_free(outcome.packet);
}

static void
test_a_connection_stays_with_its_backend_when_others_come(void **state)
{
	char backend[100][INET_ADDRSTRLEN];
	unsigned int moved = 0;

	(void)state;
	start_with_three_backends();
	for (unsigned int i = 0; i < 100; i++)
		strcpy(backend[i], backend_of(5000 + i, SYN));
	command("backend-add", "10.0.0.4:8080");
	for (unsigned int i = 0; i < 100; i++)
		assert_string_equal(backend_of(5000 + i, ACK), backend[i]);
	for (unsigned int i = 0; i < 100; i++)
		moved += strcmp(backend_of(6000 + i, SYN), "10.0.0.4") == 0;
	assert_in_range(moved, 10, 45); /* a quarter of the new ones */
}

static void
test_a_draining_backend_keeps_its_connections_and_gets_no_new_ones(void **state)
{
	uint16_t port;

	(void)state;
	start_with_three_backends();
	port = port_to("10.0.0.2", 1000);
	command("backend-drain", "10.0.0.2:8080");
	assert_string_equal(backend_of(port, ACK), "10.0.0.2");
	assert_string_equal(seen_from("10.0.0.2", port, ACK), VIP);
	for (uint16_t i = 0; i < 100; i++)
		assert_string_not_equal(backend_of(7000 + i, SYN), "10.0.0.2");
	command("backend-add", "10.0.0.2:8080");
	port_to("10.0.0.2", 8000);
}

static void
test_connections_of_a_removed_backend_go_to_another_one_and_stay_there(void **state)
{
	char other[INET_ADDRSTRLEN];
	uint16_t port;

	(void)state;
	start_with_three_backends();
	port = port_to("10.0.0.2", 1000);
	command("backend-remove", "10.0.0.2:8080");
	strcpy(other, backend_of(port, ACK));
	assert_string_not_equal(other, "10.0.0.2");
	assert_string_equal(seen_from("10.0.0.2", port, ACK), "10.0.0.2");
	/* A newcomer with the number of the removed one does not inherit its connections. */
	command("backend-add", "10.0.0.9:8080");
	assert_string_equal(backend_of(port, ACK), other);
}

static void
test_a_service_without_backends_drops(void **state)
{
	(void)state;
	start_with_three_backends();
	command("backend-drain", "10.0.0.1:8080");
	command("backend-remove", "10.0.0.2:8080");
	command("backend-remove", "10.0.0.3:8080");
	assert_string_equal(backend_of(4000, SYN), "no_backend");
}

static void
test_a_backend_cannot_speak_in_anothers_connection(void **state)
{
	uint16_t port;

	(void)state;
	start_with_three_backends();
	port = port_to("10.0.0.1", 1000);
	assert_string_equal(seen_from("10.0.0.2", port, RST), "other_backend");
	assert_string_equal(backend_of(port, ACK), "10.0.0.1");
}

static void
test_a_syn_behind_the_end_of_a_connection_begins_a_new_one(void **state)
{
	uint16_t port;

	(void)state;
	start_with_three_backends();
	port = port_to("10.0.0.2", 1000);
	command("backend-drain", "10.0.0.2:8080");
	assert_string_equal(backend_of(port, SYN), "10.0.0.2"); /* sent again: not ended */
	backend_of(port, FIN | ACK);
	assert_string_equal(backend_of(port, SYN), "10.0.0.2"); /* half closed */
	seen_from("10.0.0.2", port, FIN | ACK);
	assert_string_equal(backend_of(port, ACK), "10.0.0.2"); /* the last ACK */
	assert_string_not_equal(backend_of(port, SYN), "10.0.0.2");
}

/* Whether the connection of `port` is still known: then its draining back-end still has it. */
static bool
is_known(uint16_t port)
{
	return strcmp(backend_of(port, ACK), "10.0.0.2") == 0;
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
	start(options);
	begun = port_to("10.0.0.2", 1000);
	open = port_to("10.0.0.2", begun + 1);
	ended = port_to("10.0.0.2", open + 1);
	command("backend-drain", "10.0.0.2:8080");
	backend_of(open, ACK);
	backend_of(ended, RST);
	wait_s(9);
	assert_true(seen_from("10.0.0.2", begun, ACK) != NULL); /* counts as activity */
	wait_s(13);
	assert_false(is_known(begun));
	assert_false(is_known(ended));
	wait_s(70);
	assert_true(is_known(open));
	wait_s(99);
	assert_true(is_known(open));
	wait_s(103);
	assert_false(is_known(open));
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
	start(options);
	port = port_to("10.0.0.2", 1000);
	backend_of(port, ACK);
	command("backend-drain", "10.0.0.2:8080");
	for (unsigned int i = 0; i < 5; i++) {
		wait_s(6);
		assert_string_equal(seen_from("10.0.0.2", port, ACK), VIP);
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
	start(stateless);
	for (uint16_t i = 0; i < 10; i++)
		backend_of(1000 + i, SYN);
	strcpy(backend, backend_of(2000, SYN));
	assert_string_equal(backend_of(2000, ACK), backend);
	assert_string_equal(seen_from(backend, 2000, ACK), VIP);
	start(strict);
	for (uint16_t i = 0; i < 10; i++)
		assert_string_equal(backend_of(1000 + i, SYN), "10.0.0.1");
	assert_string_equal(backend_of(2000, SYN), "table_full");
	assert_string_equal(backend_of(1009, ACK), "10.0.0.1");
	wait_s(62);
	assert_string_equal(backend_of(2000, SYN), "10.0.0.1");
}

static void
test_fragments_follow_their_first_one_both_ways(void **state)
{
	static const uint8_t data[64];
	struct weir_test_ipv4 request = {.src = CLIENT,
					 .dst = VIP,
					 .dst_port = 53,
					 .src_port = 4000,
					 .identification = 7,
					 .more_fragments = true,
					 .payload = data,
					 .payload_bytes = 56};
	struct weir_test_ipv4 answer = {.src = "10.0.0.1",
					.dst = CLIENT,
					.src_port = 53,
					.dst_port = 4000,
					.identification = 8,
					.more_fragments = true,
					.payload = data,
					.payload_bytes = 56};

	(void)state;
	start_with_three_backends();
	assert_string_equal(address_in(pass(WEIR_OUTBOUND, &request), 16), "10.0.0.1");
	assert_string_equal(address_in(pass(WEIR_INBOUND, &answer), 12), VIP);
	request.fragment_offset_bytes = answer.fragment_offset_bytes = 64;
	assert_string_equal(address_in(pass(WEIR_OUTBOUND, &request), 16), "10.0.0.1");
	assert_string_equal(address_in(pass(WEIR_INBOUND, &answer), 12), VIP);
	request.identification = 9;
	assert_string_equal(address_in(pass(WEIR_OUTBOUND, &request), 16), "fragment_unknown");
	now_s += 61;
	assert_string_equal(address_in(pass(WEIR_INBOUND, &answer), 12), "fragment_unknown");
	request.dst = "192.0.2.9";
	assert_string_equal(address_in(pass(WEIR_OUTBOUND, &request), 16), "192.0.2.9");
}

/* An ICMP error with the first bytes of the packet `inside`. */
static struct weir_test_outcome
pass_error(enum weir_direction direction, const char *src, const char *dst,
	   const struct weir_test_ipv4 *inside)
{
	uint8_t frame[WEIR_TEST_FRAME_BYTES];

	weir_test_ipv4_frame(inside, frame);
	return pass(direction, &(struct weir_test_ipv4){.src = src,
							.dst = dst,
							.protocol = IPPROTO_ICMP,
							.icmp_type = 3,
							.icmp_code = 4,
							.payload = frame + RTE_ETHER_HDR_LEN,
							.payload_bytes = 40});
}

/* The IP header inside is right, and is of a packet between these. */
static void
assert_inside(const struct weir_test_outcome *outcome, const char *src, const char *dst,
	      uint16_t src_port, uint16_t dst_port)
{
	uint8_t *ip = rte_pktmbuf_mtod_offset(outcome->packet, uint8_t *, 14 + 20 + 8);
	char text[INET_ADDRSTRLEN];

	assert_int_equal(rte_raw_cksum(ip, 20), 0xffff);
	assert_string_equal(inet_ntop(AF_INET, ip + 12, text, sizeof(text)), src);
	assert_string_equal(inet_ntop(AF_INET, ip + 16, text, sizeof(text)), dst);
	assert_int_equal(ip[20] << 8 | ip[21], src_port);
	assert_int_equal(ip[22] << 8 | ip[23], dst_port);
	/* The whole TCP header is there: its checksum still is over the pseudo header. */
	assert_int_equal(rte_ipv4_udptcp_cksum_verify((struct rte_ipv4_hdr *)ip, ip + 20), 0);
}

static void
test_an_icmp_error_reaches_the_backend_and_speaks_of_its_packet(void **state)
{
	struct weir_test_ipv4 sent = {
		.src = VIP, .dst = CLIENT, .protocol = IPPROTO_TCP, .src_port = 80};
	struct weir_test_outcome outcome;

	(void)state;
	start_with_three_backends();
	sent.dst_port = port_to("10.0.0.3", 1000);
	outcome = pass_error(WEIR_OUTBOUND, "192.0.2.254", VIP, &sent);
	assert_non_null(outcome.packet);
	assert_inside(&outcome, "10.0.0.3", CLIENT, 8080, sent.dst_port);
	assert_string_equal(address_in(outcome, 16), "10.0.0.3");
}

static void
test_an_icmp_error_to_a_client_speaks_of_the_service(void **state)
{
	const struct weir_test_ipv4 sent = {.src = CLIENT,
					    .dst = "10.0.0.1",
					    .src_port = 4000,
					    .protocol = IPPROTO_TCP,
					    .dst_port = 8080};
	struct weir_test_outcome outcome;

	(void)state;
	start_with_three_backends();
	outcome = pass_error(WEIR_INBOUND, "10.0.0.1", CLIENT, &sent);
	assert_non_null(outcome.packet);
	assert_inside(&outcome, CLIENT, VIP, 4000, 80);
	assert_string_equal(address_in(outcome, 12), VIP);
	outcome = pass_error(WEIR_INBOUND, "10.0.0.254", CLIENT, &sent); /* a router before it */
	assert_inside(&outcome, CLIENT, VIP, 4000, 80);
	assert_string_equal(address_in(outcome, 12), "10.0.0.254");
}

static void
test_both_directions_of_a_connection_meet_the_same_worker(void **state)
{
	struct weir_headers request = {
		.tuple = {.src_ip = 1, .dst_ip = 2, .src_port = 3, .dst_port = 4}};
	struct weir_headers answer = {
		.tuple = {.src_ip = 9, .dst_ip = 1, .src_port = 8, .dst_port = 3}};
	struct weir_headers other = {.tuple = {.src_ip = 1, .dst_ip = 2, .src_port = 4}};

	(void)state;
	start_with_three_backends();
	assert_int_equal(weir_nf_lb.steer(lb, &request, WEIR_OUTBOUND),
			 weir_nf_lb.steer(lb, &answer, WEIR_INBOUND));
	assert_int_not_equal(weir_nf_lb.steer(lb, &request, WEIR_OUTBOUND),
			     weir_nf_lb.steer(lb, &other, WEIR_OUTBOUND));
}

static const char *
refusal(const char *services, const char *table_size)
{
	static struct weir_error error;
	const struct weir_option_value values[] = {{"services", services},
						   {"table_size", table_size}};

	assert_null(weir_nf_create(&weir_nf_lb, values, 2, "options", &error));
	return error.message;
}

static void
test_a_configuration_that_makes_no_sense_is_refused_with_what_is_wrong(void **state)
{
	const char *const unknown[][2] = {
		{"service", SERVICE}, {"backend", "10.9.9.9:1"}, {NULL, NULL}};

	(void)state;
	assert_string_equal(refusal("", "65537"), "lb is given no list, or two");
	assert_string_equal(refusal(SERVICE " 10.0.0.1:80", "65536"),
			    "table_size 65536 is not a prime");
	assert_string_equal(refusal("203.0.113.10:80 10.0.0.1:80", "251"),
			    "'203.0.113.10:80' is not a service");
	assert_string_equal(refusal(SERVICE " 10.0.0.1", "251"), "'10.0.0.1' is not a back-end");
	assert_string_equal(refusal(SERVICE, "251"),
			    "'" SERVICE "' is not a service and a back-end");
	assert_string_equal(refusal(SERVICE " 10.0.0.1:80, 203.0.113.11:80/tcp 10.0.0.1:80", "251"),
			    "back-end 10.0.0.1:80 is in another service");
	start_with_three_backends();
	assert_string_equal(weir_test_command(&weir_nf_lb, lb, "backend-remove", unknown),
			    "service " SERVICE " has no back-end 10.9.9.9:1");
}

static int
stop(void **state)
{
	(void)state;
	weir_nf_destroy(&weir_nf_lb, lb);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_a_request_goes_to_a_backend_and_the_answer_comes_from_the_service),
		cmocka_unit_test(test_all_backends_get_connections),
		cmocka_unit_test(test_a_service_is_a_port_and_a_protocol_too),
		cmocka_unit_test(test_other_traffic_is_dropped_if_the_option_says_so),
		cmocka_unit_test(test_a_connection_stays_with_its_backend_when_others_come),
		cmocka_unit_test(
			test_a_draining_backend_keeps_its_connections_and_gets_no_new_ones),
		cmocka_unit_test(
			test_connections_of_a_removed_backend_go_to_another_one_and_stay_there),
		cmocka_unit_test(test_a_service_without_backends_drops),
		cmocka_unit_test(test_a_backend_cannot_speak_in_anothers_connection),
		cmocka_unit_test(test_a_syn_behind_the_end_of_a_connection_begins_a_new_one),
		cmocka_unit_test(test_idle_connections_end_by_their_state),
		cmocka_unit_test(test_answers_keep_a_connection),
		cmocka_unit_test(
			test_more_connections_than_fit_are_forwarded_by_the_hash_or_dropped),
		cmocka_unit_test(test_fragments_follow_their_first_one_both_ways),
		cmocka_unit_test(test_an_icmp_error_reaches_the_backend_and_speaks_of_its_packet),
		cmocka_unit_test(test_an_icmp_error_to_a_client_speaks_of_the_service),
		cmocka_unit_test(test_both_directions_of_a_connection_meet_the_same_worker),
		cmocka_unit_test(
			test_a_configuration_that_makes_no_sense_is_refused_with_what_is_wrong),
	};

	return cmocka_run_group_tests_name("lb", tests, weir_test_eal, stop);
}
