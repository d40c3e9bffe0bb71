/* SPDX-License-Identifier: Apache-2.0 */
/* UEs with IPv6 prefixes, beside an IPv4 address or without one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <arpa/inet.h>
#include <cmocka.h>

#include "testing/eal.h"
#include "upf.h"
#include "upf_fixture_test.h"

#define IPV6_BYTES 40
#define CARRIED "behind the header"
#define CARRIED_BYTES (sizeof(CARRIED) - 1)
#define SERVER6 "2001:db8:ffff::9"

/* An IPv6 packet of 57 bytes; where it begins in `at`. */
static size_t
ipv6_packet(const char *source, const char *destination, uint8_t *at)
{
	const uint8_t begin[] = {0x60, 0, 0, 0, 0, CARRIED_BYTES, IPPROTO_UDP, 64};

	memcpy(at, begin, sizeof(begin));
	assert_int_equal(inet_pton(AF_INET6, source, at + 8), 1);
	assert_int_equal(inet_pton(AF_INET6, destination, at + 24), 1);
	memcpy(at + IPV6_BYTES, CARRIED, CARRIED_BYTES);
	return IPV6_BYTES + CARRIED_BYTES;
}

static struct rte_mbuf *
plain(const char *source, const char *destination)
{
	uint8_t frame[WEIR_TEST_FRAME_BYTES] = {2, [11] = 1, [12] = 0x86, [13] = 0xdd};

	return weir_test_packet(frame, IP_AT + ipv6_packet(source, destination, frame + IP_AT));
}

static struct rte_mbuf *
tunnelled(uint32_t teid, const char *source)
{
	uint8_t gtpu[WEIR_TEST_FRAME_BYTES] = {0x30, WEIR_GTPU_G_PDU};
	const size_t bytes = ipv6_packet(source, SERVER6, gtpu + 8);

	gtpu[3] = (uint8_t)bytes;
	teid = rte_cpu_to_be_32(teid);
	memcpy(gtpu + 4, &teid, sizeof(teid));
	return from_gnb(gtpu, 8 + bytes);
}

/* What leaves the tunnel is what the UE sent, with IPv6's EtherType; or why it does not leave. */
static const char *
up(uint32_t teid, const char *source)
{
	struct weir_test_outcome outcome = upf_pass(WEIR_OUTBOUND, tunnelled(teid, source));
	uint8_t expected[WEIR_TEST_FRAME_BYTES];
	const size_t bytes = ipv6_packet(source, SERVER6, expected);
	const uint8_t *frame;

	if (outcome.packet == NULL)
		return outcome.drop_reason;
	frame = rte_pktmbuf_mtod(outcome.packet, const uint8_t *);
	assert_int_equal(outcome.packet->pkt_len, IP_AT + bytes);
	assert_memory_equal(frame + IP_AT - 2, "\x86\xdd", 2);
	assert_memory_equal(frame + IP_AT, expected, bytes);
	rte_pktmbuf_free(outcome.packet);
	return "forwarded";
}

/* The TEID in which that for the UE leaves, in IPv4; 0: `reason`. */
static uint32_t
down(const char *ue, const char **reason)
{
	struct weir_test_outcome outcome = upf_pass(WEIR_INBOUND, plain(SERVER6, ue));
	uint8_t expected[WEIR_TEST_FRAME_BYTES];
	const size_t bytes = ipv6_packet(SERVER6, ue, expected);
	struct weir_gtpu gtpu;
	const uint8_t *frame;

	*reason = outcome.drop_reason;
	if (outcome.packet == NULL)
		return 0;
	frame = rte_pktmbuf_mtod(outcome.packet, const uint8_t *);
	assert_memory_equal(frame + IP_AT - 2, "\x08\x00\x45", 3);
	assert_true(weir_test_checksums_right(frame, outcome.packet->pkt_len));
	assert_true(weir_gtpu_parse(frame + GTPU_AT, outcome.packet->pkt_len - GTPU_AT, &gtpu));
	assert_int_equal(gtpu.payload_bytes, bytes);
	assert_memory_equal(frame + GTPU_AT + gtpu.payload_offset, expected, bytes);
	rte_pktmbuf_free(outcome.packet);
	return gtpu.teid;
}

static const char *
not_down(const char *ue)
{
	const char *reason;

	assert_int_equal(down(ue, &reason), 0);
	return reason;
}

static uint32_t
to(const char *ue)
{
	const char *reason;

	return down(ue, &reason);
}

static void
start_with_prefix(const char *prefix)
{
	upf_start((const char *const[][2]){{"sessions", "5"},
					   {"sessions_max", "300"},
					   {"ue_first_prefix", prefix},
					   {"gnb_teid_first", "900"},
					   {"error_indications_pps", "0"},
					   {NULL, NULL}});
}

static void
each_session_has_a_prefix_beside_its_address(void **state)
{
	(void)state;
	start_with_prefix("2001:db8:1:fffe::/64");
	assert_string_equal(up(1, "2001:db8:1:fffe::7"), "forwarded");
	assert_string_equal(up(3, "2001:db8:2::1:2:3:4"), "forwarded"); /* the third one */
	assert_string_equal(up(2, "2001:db8:1:fffe::7"), "spoofed");
	assert_string_equal(up(1, "fe80::1"), "spoofed");
	assert_string_equal(up(6, "2001:db8:1:fffe::7"), "unknown_teid");
	assert_int_equal(to("2001:db8:1:fffe::7"), 900);
	assert_int_equal(to("2001:db8:1:ffff:8000::"), 901);
	assert_int_equal(to("2001:db8:2:2::"), 904);
	assert_string_equal(not_down("2001:db8:2:3::"), "unknown_ue");
	assert_string_equal(not_down("2001:db8:1:fffd:ffff::"), "unknown_ue");
	assert_string_equal(upf_up(1, UE), "forwarded");
	assert_int_equal(upf_down(UE).teid, 900);
	assert_int_equal(upf_passed("uplink"), 3);
	assert_int_equal(upf_passed("downlink"), 4);
}

static void
prefixes_may_be_of_another_length_and_an_address_is_one_of_128_bits(void **state)
{
	(void)state;
	start_with_prefix("2001:db8::ff");
	assert_string_equal(up(2, "2001:db8::100"), "forwarded");
	assert_string_equal(up(2, "2001:db8::101"), "spoofed");
	assert_int_equal(to("2001:db8::101"), 902);
	start_with_prefix("2001:db8:100::/40");
	assert_string_equal(up(2, "2001:db8:2ff::1"), "forwarded");
	assert_int_equal(to("2001:db8:500::1"), 904);
}

static void
without_prefixes_nobody_has_an_ipv6_packet(void **state)
{
	(void)state;
	upf_start(NULL);
	assert_string_equal(up(1, "2001:db8::1"), "spoofed");
	assert_string_equal(up(1, "::"), "spoofed");
	assert_string_equal(not_down("2001:db8::1"), "unknown_ue");
	assert_string_equal(not_down("::"), "unknown_ue");
}

/* TEIDs that lead to places 20 and 21. */
static void
sessions_are_added_with_a_prefix_alone_or_with_both(void **state)
{
	(void)state;
	upf_start_with_room();
	assert_null(upf_change("sessions-add",
			       "ue_prefix=2001:db8:7::/64 teid=5141 gnb_teid=77, "
			       "ue=10.46.0.2 ue_prefix=2001:db8:8::/64 teid=5142 gnb_teid=78"));
	assert_string_equal(up(5141, "2001:db8:7::1"), "forwarded");
	assert_string_equal(upf_up(5141, "0.0.0.0"), "spoofed"); /* it has no IPv4 address */
	assert_int_equal(to("2001:db8:7::9"), 77);
	assert_string_equal(up(5142, "2001:db8:8::1"), "forwarded");
	assert_string_equal(up(5142, "2001:db8:7::1"), "spoofed");
	assert_string_equal(upf_up(5142, "10.46.0.2"), "forwarded");
	assert_int_equal(upf_down("10.46.0.2").teid, 78);
	assert_null(upf_change("sessions-modify", "ue_prefix=2001:db8:8::/64 gnb_teid=79"));
	assert_int_equal(upf_down("10.46.0.2").teid, 79);
	assert_int_equal(to("2001:db8:8::"), 79);
	assert_string_equal(upf_change("sessions-remove", "ue=10.46.0.2 ue_prefix=2001:db8:7::/64"),
			    "there is no session of ue=10.46.0.2 ue_prefix=2001:db8:7::/64");
	assert_null(upf_change("sessions-remove", "ue=10.46.0.2, ue_prefix=2001:db8:7::/64"));
	assert_string_equal(not_down("2001:db8:8::"), "unknown_ue");
	assert_string_equal(not_down("2001:db8:7::"), "unknown_ue");
	assert_string_equal(upf_down("10.46.0.2").reason, "unknown_ue");
	assert_int_equal(upf_figure("sessions"), 4);
}

static void
a_prefix_that_cannot_be_is_refused_and_says_why(void **state)
{
	static const struct {
		const char *sessions, *message;
	} cases[] = {
		{"ue_prefix=2001:db8:7::/63 teid=5141 gnb_teid=7",
		 "the prefix of ue_prefix=2001:db8:7::/63 is a /63, and those of this function are "
		 "/64"},
		{"ue=10.46.0.9 ue_prefix=2001:db8:6::/64 teid=5141 gnb_teid=7",
		 "there is a session of ue=10.46.0.9 ue_prefix=2001:db8:6::/64"},
		{"ue=10.46.0.8 ue_prefix=2001:db8:5::/64 teid=5141 gnb_teid=7, "
		 "ue_prefix=2001:db8:5::/64 teid=5142 gnb_teid=7",
		 "ue=10.46.0.8 ue_prefix=2001:db8:5::/64 and ue_prefix=2001:db8:5::/64 are one "
		 "session, or lead to one place"},
		{"teid=5141 gnb_teid=7", "a session is not named"},
		{"ue_prefix=::/64 teid=5141 gnb_teid=7", "a session is not named"},
		{"ue_prefix=2001:db8:7::1/64 teid=5141 gnb_teid=7",
		 "option 'ue_prefix' of a session cannot be '2001:db8:7::1/64'"},
	};

	(void)state;
	upf_start_with_room();
	assert_null(upf_change("sessions-add", "ue_prefix=2001:db8:6::/64 teid=11 gnb_teid=7"));
	for (unsigned int i = 0; i < RTE_DIM(cases); i++)
		assert_string_equal(upf_change("sessions-add", cases[i].sessions),
				    cases[i].message);
	assert_int_equal(upf_figure("sessions"), 5);
}

static void
first_prefixes_that_run_out_are_refused(void **state)
{
	static const char *const wrong[] = {"2001:db8:ffff:fffe::/64", "::/64", "2000::/31"};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(wrong); i++) {
		const struct weir_option_value options[] = {{"ue_first_prefix", wrong[i]},
							    {"sessions", "3"}};
		struct weir_error error = {0};

		assert_null(weir_nf_create(&weir_nf_upf, options, 2, "upf", &error));
		assert_non_null(strstr(error.message, "3 sessions from ue_first_prefix on"));
	}
}

static uint32_t
steered(struct rte_mbuf *packet, enum weir_direction direction)
{
	struct weir_headers headers;
	uint32_t number;

	weir_headers_parse(packet, &headers);
	number = weir_nf_upf.steer(upf, &headers, packet, direction);
	rte_pktmbuf_free(packet);
	return number;
}

static void
both_directions_and_both_versions_meet_at_one_worker(void **state)
{
	struct weir_error error;
	const char *message;

	(void)state;
	start_with_prefix("2001:db8:1:ffff::/64");
	for (uint32_t i = 0; i < 5; i++) {
		char ue[INET6_ADDRSTRLEN];

		snprintf(ue, sizeof(ue), "2001:db8:%x:%x::5", i == 0 ? 1 : 2,
			 i == 0 ? 0xffff : i - 1);
		assert_int_equal(steered(plain(SERVER6, ue), WEIR_INBOUND), i);
		assert_int_equal(steered(tunnelled(1 + i, ue), WEIR_OUTBOUND), i);
	}
	assert_int_equal(weir_nf_upf.share(upf, 0, 3, "test", &error), 0);
	message = upf_change("sessions-add",
			     "ue=10.45.0.8 ue_prefix=2001:db8:3::/64 teid=5141 gnb_teid=7");
	assert_string_equal(message, "the prefix of ue=10.45.0.8 ue_prefix=2001:db8:3::/64 leads "
				     "to another of 3 workers");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_session_has_a_prefix_beside_its_address),
		cmocka_unit_test(
			prefixes_may_be_of_another_length_and_an_address_is_one_of_128_bits),
		cmocka_unit_test(without_prefixes_nobody_has_an_ipv6_packet),
		cmocka_unit_test(sessions_are_added_with_a_prefix_alone_or_with_both),
		cmocka_unit_test(a_prefix_that_cannot_be_is_refused_and_says_why),
		cmocka_unit_test(first_prefixes_that_run_out_are_refused),
		cmocka_unit_test(both_directions_and_both_versions_meet_at_one_worker),
	};

	return cmocka_run_group_tests_name("upf-ipv6", tests, weir_test_eal, upf_stop);
}
