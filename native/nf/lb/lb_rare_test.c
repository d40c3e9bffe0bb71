/* SPDX-License-Identifier: Apache-2.0 */
/* Other traffic, fragments, ICMP errors, workers, and what is refused. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <string.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <rte_ip.h>

#include "lb_fixture_test.h"

static void
test_other_traffic_is_dropped_if_the_option_says_so(void **state)
{
	static const char *const options[][2] = {
		{"services", SERVICE " 10.0.0.1:8080"}, {"other", "drop"}, {NULL, NULL}};
	const struct weir_test_ipv4 other = {.src = CLIENT, .dst = "192.0.2.7"};
	static const uint8_t arp[60] = {[12] = 0x08, [13] = 0x06};
	struct weir_test_outcome outcome;

	(void)state;
	lb_start(options);
	assert_string_equal(lb_address_in(lb_pass(WEIR_OUTBOUND, &other), 16), "not_for_service");
	outcome = weir_test_run(&weir_nf_lb, lb, WEIR_OUTBOUND, weir_test_packet(arp, sizeof(arp)),
				0);
	assert_non_null(outcome.packet);
	rte_pktmbuf_free(outcome.packet);
}

static const char *
pass_frame(const uint8_t *frame, size_t bytes)
{
	struct weir_test_outcome outcome =
		weir_test_run(&weir_nf_lb, lb, WEIR_OUTBOUND, weir_test_packet(frame, bytes), 0);

	rte_pktmbuf_free(outcome.packet);
	return outcome.packet != NULL ? "forwarded" : outcome.drop_reason;
}

static void
test_ipv6_passes_the_services_by_only_if_the_option_says_so(void **state)
{
	static const char *const by_default[][2] = {{"services", SERVICE " 10.0.0.1:8080"},
						    {NULL, NULL}};
	static const char *const forwards[][2] = {{"services", SERVICE " 10.0.0.1:8080"},
						  {"other", "drop"},
						  {"ipv6", "forward"},
						  {NULL, NULL}};
	const uint8_t ipv6[60] = {[12] = 0x86, 0xdd, 0x60, [19] = 6, 59, 64};

	(void)state;
	lb_start(by_default);
	assert_string_equal(pass_frame(ipv6, sizeof(ipv6)), "ipv6");
	lb_start(forwards);
	assert_string_equal(pass_frame(ipv6, sizeof(ipv6)), "forwarded");
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
	lb_start_with_three_backends();
	assert_string_equal(lb_address_in(lb_pass(WEIR_OUTBOUND, &request), 16), "10.0.0.1");
	assert_string_equal(lb_address_in(lb_pass(WEIR_INBOUND, &answer), 12), VIP);
	request.fragment_offset_bytes = answer.fragment_offset_bytes = 64;
	assert_string_equal(lb_address_in(lb_pass(WEIR_OUTBOUND, &request), 16), "10.0.0.1");
	assert_string_equal(lb_address_in(lb_pass(WEIR_INBOUND, &answer), 12), VIP);
	request.identification = 9;
	assert_string_equal(lb_address_in(lb_pass(WEIR_OUTBOUND, &request), 16), "held");
	lb_now_s += 61;
	assert_string_equal(lb_address_in(lb_pass(WEIR_INBOUND, &answer), 12), "held");
	request.dst = "192.0.2.9";
	assert_string_equal(lb_address_in(lb_pass(WEIR_OUTBOUND, &request), 16), "192.0.2.9");
}

static void
test_later_fragments_of_a_first_one_with_a_cut_header_are_dropped_as_it_is(void **state)
{
	static const uint8_t data[64];
	struct weir_test_ipv4 what = {.src = CLIENT,
				      .dst = VIP,
				      .dst_port = 80,
				      .protocol = IPPROTO_TCP,
				      .identification = 7,
				      .more_fragments = true,
				      .payload = data,
				      .payload_bytes = 44};
	uint8_t frame[WEIR_TEST_FRAME_BYTES];
	size_t bytes;

	(void)state;
	lb_start_with_three_backends();
	bytes = weir_test_ipv4_frame(&what, frame);
	frame[17] = 36; /* the IP packet ends within the TCP header */
	assert_string_equal(pass_frame(frame, bytes), "malformed");
	what.fragment_offset_bytes = 16;
	bytes = weir_test_ipv4_frame(&what, frame);
	assert_string_equal(pass_frame(frame, bytes), "malformed");
}

/* An ICMP error with the first bytes of the packet `inside`. */
static struct weir_test_outcome
pass_error(enum weir_direction direction, const char *src, const char *dst,
	   const struct weir_test_ipv4 *inside)
{
	uint8_t frame[WEIR_TEST_FRAME_BYTES];

	weir_test_ipv4_frame(inside, frame);
	return lb_pass(direction, &(struct weir_test_ipv4){.src = src,
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
	lb_start_with_three_backends();
	sent.dst_port = lb_port_to("10.0.0.3", 1000);
	outcome = pass_error(WEIR_OUTBOUND, "192.0.2.254", VIP, &sent);
	assert_non_null(outcome.packet);
	assert_inside(&outcome, "10.0.0.3", CLIENT, 8080, sent.dst_port);
	assert_string_equal(lb_address_in(outcome, 16), "10.0.0.3");
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
	lb_start_with_three_backends();
	outcome = pass_error(WEIR_INBOUND, "10.0.0.1", CLIENT, &sent);
	assert_non_null(outcome.packet);
	assert_inside(&outcome, CLIENT, VIP, 4000, 80);
	assert_string_equal(lb_address_in(outcome, 12), VIP);
	outcome = pass_error(WEIR_INBOUND, "10.0.0.254", CLIENT, &sent); /* a router before it */
	assert_inside(&outcome, CLIENT, VIP, 4000, 80);
	assert_string_equal(lb_address_in(outcome, 12), "10.0.0.254");
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
	lb_start_with_three_backends();
	assert_int_equal(weir_nf_lb.steer(lb, &request, NULL, WEIR_OUTBOUND),
			 weir_nf_lb.steer(lb, &answer, NULL, WEIR_INBOUND));
	assert_int_not_equal(weir_nf_lb.steer(lb, &request, NULL, WEIR_OUTBOUND),
			     weir_nf_lb.steer(lb, &other, NULL, WEIR_OUTBOUND));
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
	lb_start_with_three_backends();
	assert_string_equal(weir_test_command(&weir_nf_lb, lb, "backend-remove", unknown),
			    "service " SERVICE " has no back-end 10.9.9.9:1");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_other_traffic_is_dropped_if_the_option_says_so),
		cmocka_unit_test(test_ipv6_passes_the_services_by_only_if_the_option_says_so),
		cmocka_unit_test(test_fragments_follow_their_first_one_both_ways),
		cmocka_unit_test(
			test_later_fragments_of_a_first_one_with_a_cut_header_are_dropped_as_it_is),
		cmocka_unit_test(test_an_icmp_error_reaches_the_backend_and_speaks_of_its_packet),
		cmocka_unit_test(test_an_icmp_error_to_a_client_speaks_of_the_service),
		cmocka_unit_test(test_both_directions_of_a_connection_meet_the_same_worker),
		cmocka_unit_test(
			test_a_configuration_that_makes_no_sense_is_refused_with_what_is_wrong),
	};

	return cmocka_run_group_tests_name("lb-rare", tests, weir_test_eal, lb_stop);
}
