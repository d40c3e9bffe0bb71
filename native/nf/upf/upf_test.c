/* SPDX-License-Identifier: Apache-2.0 */
/* What a user plane function does with packets of either way, and what it says itself. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <string.h>

#include <arpa/inet.h>
#include <cmocka.h>

#include "engine/handover.h"
#include "engine/made_packet.h"
#include "testing/eal.h"
#include "testing/report.h"
#include "upf_fixture_test.h"

/* What it says to the gNB, if anything; its ledger counts that as made here. */
static struct rte_mbuf *
said(void)
{
	struct weir_batch batch = {.direction = WEIR_INBOUND};
	struct weir_stage_ledger ledger = {0};

	weir_nf_upf.release(upf, &batch, &ledger);
	assert_int_equal(batch.count, ledger.originated);
	assert_true(batch.count <= 1);
	return batch.count == 1 ? batch.packet[0] : NULL;
}

static void
a_packet_leaves_its_tunnel_as_the_user_sent_it(void **state)
{
	uint8_t expected[WEIR_TEST_FRAME_BYTES];
	const struct weir_test_ipv4 inside = {.src = UE,
					      .dst = SERVER,
					      .payload = "\0\0\0\0\0\0\0\0\0"
							 "\0\0\0\0\0\0\0\0\0\0\0",
					      .payload_bytes = 20};
	size_t bytes = weir_test_ipv4_frame(&inside, expected);
	struct weir_test_outcome outcome;

	(void)state;
	upf_start(NULL);
	outcome = upf_pass(WEIR_OUTBOUND, in_tunnel(1, UE, 20));
	assert_non_null(outcome.packet);
	assert_int_equal(outcome.packet->pkt_len, bytes);
	assert_memory_equal(rte_pktmbuf_mtod(outcome.packet, void *), expected, bytes);
	rte_pktmbuf_free(outcome.packet);
}

static void
a_packet_to_a_user_enters_its_tunnel_and_names_the_qos_flow(void **state)
{
	const struct weir_test_ipv4 what = {
		.src = SERVER, .dst = "10.45.0.3", .payload = "down", .payload_bytes = 4};
	uint8_t before[WEIR_TEST_FRAME_BYTES];
	struct weir_test_outcome outcome;
	struct weir_gtpu gtpu;
	const uint8_t *frame;

	(void)state;
	upf_start((const char *const[][2]){{"gnb_teid_first", "256"}, {"qfi", "5"}, {NULL, NULL}});
	weir_test_ipv4_frame(&what, before);
	outcome = upf_pass(WEIR_INBOUND, weir_test_ipv4_packet(&what));
	assert_non_null(outcome.packet);
	frame = rte_pktmbuf_mtod(outcome.packet, const uint8_t *);
	assert_int_equal(outcome.packet->pkt_len, IP_AT + 44 + 32);
	assert_true(weir_test_checksums_right(frame, outcome.packet->pkt_len));
	assert_memory_equal(frame, before, 12);
	assert_memory_equal(frame + IP_AT + 16, "\xc0\x00\x02\x02", 4);
	assert_true(weir_gtpu_parse(frame + GTPU_AT, outcome.packet->pkt_len - GTPU_AT, &gtpu));
	assert_int_equal(gtpu.teid, 258);
	assert_int_equal(gtpu.qfi, 5);
	assert_int_equal(gtpu.payload_bytes, 32);
	assert_memory_equal(frame + GTPU_AT + gtpu.payload_offset, before + IP_AT, 32);
	rte_pktmbuf_free(outcome.packet);
}

static void
what_a_user_may_not_send_is_dropped_for_its_reason(void **state)
{
	const struct weir_test_ipv4 nobody = {.dst = "10.45.4.0"};
	const struct weir_test_ipv4 plain = {.src = GNB, .dst = N3};

	(void)state;
	upf_start(NULL);
	assert_string_equal(dropped_for(upf_pass(WEIR_OUTBOUND, in_tunnel(1, "10.45.0.2", 20))),
			    "spoofed");
	assert_string_equal(dropped_for(upf_pass(WEIR_OUTBOUND, in_tunnel(200u << 24, UE, 20))),
			    "unknown_teid");
	assert_string_equal(
		dropped_for(upf_pass(WEIR_OUTBOUND, from_gnb("\x30\xff\0\x09\0\0\0\1xx", 10))),
		"malformed");
	assert_string_equal(
		dropped_for(upf_pass(WEIR_OUTBOUND, from_gnb("\x30\xff\0\2\0\0\0\1xx", 10))),
		"malformed");
	assert_string_equal(dropped_for(upf_pass(WEIR_OUTBOUND, weir_test_ipv4_packet(&plain))),
			    "not_gtpu");
	assert_string_equal(dropped_for(upf_pass(WEIR_INBOUND, weir_test_ipv4_packet(&nobody))),
			    "unknown_ue");
}

static void
an_echo_request_is_answered_with_its_sequence_number(void **state)
{
	static const uint8_t request[12] = {0x32, 1, 0, 4, 0, 0, 0, 0, 0x12, 0x34};
	struct weir_gtpu gtpu;
	struct rte_mbuf *answer;
	const uint8_t *frame;

	(void)state;
	upf_start(NULL);
	assert_string_equal(
		dropped_for(upf_pass(WEIR_OUTBOUND, from_gnb(request, sizeof(request)))), "signal");
	answer = said();
	assert_non_null(answer);
	frame = rte_pktmbuf_mtod(answer, const uint8_t *);
	assert_true(weir_test_checksums_right(frame, answer->pkt_len));
	assert_true(weir_gtpu_parse(frame + GTPU_AT, answer->pkt_len - GTPU_AT, &gtpu));
	assert_int_equal(gtpu.message, WEIR_GTPU_ECHO_RESPONSE);
	assert_int_equal(gtpu.sequence, 0x1234);
	assert_memory_equal(frame + IP_AT + 12, "\xc0\x00\x02\x01\xc0\x00\x02\x02", 8);
	assert_memory_equal(frame + GTPU_AT + gtpu.payload_offset, "\x0e\x00", 2);
	rte_pktmbuf_free(answer);
	assert_null(said());
}

static struct rte_mbuf *
from(const char *source, struct rte_mbuf *packet)
{
	struct rte_ipv4_hdr *ip = rte_pktmbuf_mtod_offset(packet, struct rte_ipv4_hdr *, IP_AT);

	assert_int_equal(inet_pton(AF_INET, source, &ip->src_addr), 1);
	ip->hdr_checksum = 0;
	ip->hdr_checksum = rte_ipv4_cksum(ip);
	return packet;
}

/* RFC 1122, 3.2.2: to one other station alone. */
static void
nothing_is_said_to_a_group_or_to_itself(void **state)
{
	static const uint8_t request[12] = {0x32, 1, 0, 4, 0, 0, 0, 0, 0x12, 0x34};
	static const char *const nobody[] = {"224.0.0.1", "255.255.255.255", "0.0.0.0", "127.0.0.1",
					     "192.0.2.1"};
	struct rte_mbuf *answer;

	(void)state;
	upf_start((const char *const[][2]){{"error_indications_pps", "1"}, {NULL, NULL}});
	for (unsigned int i = 0; i < RTE_DIM(nobody); i++) {
		assert_string_equal(dropped_for(upf_pass(WEIR_OUTBOUND,
							 from(nobody[i], from_gnb(request, 12)))),
				    "signal");
		assert_null(said());
	}
	for (unsigned int i = 0; i < 50; i++) {
		upf_pass(WEIR_OUTBOUND, from(nobody[0], in_tunnel(0x7f0000ee, UE, 20)));
		assert_null(said());
	}
	upf_pass(WEIR_OUTBOUND, in_tunnel(0x7f0000ee, UE, 20));
	answer = said();
	assert_non_null(answer); /* nobody used up what others are told */
	rte_pktmbuf_free(answer);
}

static void
an_unknown_tunnel_is_indicated_to_its_sender_and_not_more_often_than_asked(void **state)
{
	unsigned int indications = 0;
	struct rte_mbuf *answer;

	(void)state;
	upf_start((const char *const[][2]){{"error_indications_pps", "1"}, {NULL, NULL}});
	for (unsigned int i = 0; i < 50; i++) {
		upf_pass(WEIR_OUTBOUND, in_tunnel(0x7f0000ee, UE, 20));
		answer = said();
		if (answer == NULL)
			continue;
		/* TEID Data I is what came, the peer's address is this function's. */
		assert_memory_equal(rte_pktmbuf_mtod_offset(answer, uint8_t *, GTPU_AT + 12),
				    "\x10\x7f\x00\x00\xee\x85\x00\x04\xc0\x00\x02\x01", 12);
		rte_pktmbuf_free(answer);
		indications++;
	}
	assert_int_equal(indications, 10);
}

/* A sender's buffers keep the payload that they were set up with. */
static void
what_it_says_is_written_into_no_buffer_of_whom_it_answers(void **state)
{
	struct rte_mempool *own = rte_pktmbuf_pool_create(
		"own", 63, 0, WEIR_PRIVATE_BYTES, RTE_PKTMBUF_HEADROOM + 256, SOCKET_ID_ANY);
	struct rte_mbuf *answer;

	(void)state;
	assert_non_null(own);
	weir_made_packets_from(own);
	upf_start((const char *const[][2]){{"error_indications_pps", "1"}, {NULL, NULL}});
	upf_pass(WEIR_OUTBOUND, in_tunnel(0x7f0000ee, UE, 20));
	answer = said();
	weir_made_packets_from(NULL);
	assert_non_null(answer);
	assert_ptr_equal(answer->pool, own);
	rte_pktmbuf_free(answer);
	rte_mempool_free(own);
}

/* TS 29.281, clause 7.3.1. */
static void
a_packet_of_the_teid_that_is_all_zeros_is_dropped_and_its_sender_is_told_nothing(void **state)
{
	(void)state;
	upf_start(NULL);
	assert_string_equal(dropped_for(upf_pass(WEIR_OUTBOUND, in_tunnel(0, UE, 20))),
			    "unknown_teid");
	assert_null(said());
}

static void
an_extension_that_must_be_comprehended_and_is_not_is_told(void **state)
{
	static const uint8_t unknown[] = {0x34, 0xff, 0, 8, 0, 0, 0, 1, 0, 0, 0, 0xc0, 1, 0, 0, 0};
	struct rte_mbuf *answer;

	(void)state;
	upf_start(NULL);
	assert_string_equal(
		dropped_for(upf_pass(WEIR_OUTBOUND, from_gnb(unknown, sizeof(unknown)))),
		"extension");
	answer = said();
	assert_non_null(answer);
	assert_int_equal(rte_pktmbuf_mtod(answer, uint8_t *)[GTPU_AT + 1],
			 WEIR_GTPU_SUPPORTED_EXTENSION_HEADERS);
	assert_memory_equal(rte_pktmbuf_mtod_offset(answer, uint8_t *, GTPU_AT + 12),
			    "\x8d\x01\x85", 3);
	rte_pktmbuf_free(answer);
}

static void
a_packet_that_is_too_long_in_its_tunnel_is_dropped(void **state)
{
	const struct weir_test_ipv4 fits = {.dst = UE, .payload_bytes = 28};
	const struct weir_test_ipv4 longer = {.dst = UE, .payload_bytes = 29};
	struct weir_test_outcome outcome;

	(void)state;
	upf_start((const char *const[][2]){{"n3_mtu_bytes", "100"}, {NULL, NULL}});
	outcome = upf_pass(WEIR_INBOUND, weir_test_ipv4_packet(&fits));
	assert_non_null(outcome.packet);
	rte_pktmbuf_free(outcome.packet);
	assert_string_equal(dropped_for(upf_pass(WEIR_INBOUND, weir_test_ipv4_packet(&longer))),
			    "too_long");
}

static void
both_directions_of_a_session_meet_at_one_worker(void **state)
{
	(void)state;
	upf_start((const char *const[][2]){{"teid_first", "100"}, {NULL, NULL}});
	for (uint32_t i = 0; i < 50; i++) {
		char ue[INET_ADDRSTRLEN];
		struct weir_headers up, down = {.network = WEIR_NETWORK_IPV4};
		struct rte_mbuf *packet;

		snprintf(ue, sizeof(ue), "10.45.0.%u", i + 1);
		packet = in_tunnel(100 + i, ue, 20);
		weir_headers_parse(packet, &up);
		down.tuple.dst_ip = inet_addr(ue);
		assert_int_equal(weir_nf_upf.steer(upf, &up, packet, WEIR_OUTBOUND), i);
		assert_int_equal(weir_nf_upf.steer(upf, &down, NULL, WEIR_INBOUND), i);
		rte_pktmbuf_free(packet);
	}
}

static void
sessions_past_the_last_address_are_refused(void **state)
{
	const struct weir_option_value options[] = {{"ue_first_address", "255.255.255.0"},
						    {"sessions", "257"}};
	struct weir_error error = {0};

	(void)state;
	assert_null(weir_nf_create(&weir_nf_upf, options, 2, "upf", &error));
	assert_string_equal(error.message,
			    "257 sessions from ue_first_address on are past 255.255.255.255");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_packet_leaves_its_tunnel_as_the_user_sent_it),
		cmocka_unit_test(a_packet_to_a_user_enters_its_tunnel_and_names_the_qos_flow),
		cmocka_unit_test(what_a_user_may_not_send_is_dropped_for_its_reason),
		cmocka_unit_test(an_echo_request_is_answered_with_its_sequence_number),
		cmocka_unit_test(nothing_is_said_to_a_group_or_to_itself),
		cmocka_unit_test(
			an_unknown_tunnel_is_indicated_to_its_sender_and_not_more_often_than_asked),
		cmocka_unit_test(what_it_says_is_written_into_no_buffer_of_whom_it_answers),
		cmocka_unit_test(
			a_packet_of_the_teid_that_is_all_zeros_is_dropped_and_its_sender_is_told_nothing),
		cmocka_unit_test(an_extension_that_must_be_comprehended_and_is_not_is_told),
		cmocka_unit_test(a_packet_that_is_too_long_in_its_tunnel_is_dropped),
		cmocka_unit_test(both_directions_of_a_session_meet_at_one_worker),
		cmocka_unit_test(sessions_past_the_last_address_are_refused),
	};

	return cmocka_run_group_tests_name("upf", tests, weir_test_eal, upf_stop);
}
