/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <rte_cycles.h>

#include "testing/report.h"
#include "upf_fixture_test.h"

void *upf;
uint64_t upf_now_s;

void
upf_start(const char *const (*options)[2])
{
	if (upf != NULL)
		weir_nf_destroy(&weir_nf_upf, upf);
	upf = weir_test_state(&weir_nf_upf, options);
	upf_now_s = 1000;
}

int
upf_stop(void **state)
{
	(void)state;
	weir_nf_destroy(&weir_nf_upf, upf);
	return 0;
}

struct weir_test_outcome
upf_pass(enum weir_direction direction, struct rte_mbuf *packet)
{
	return weir_test_run(&weir_nf_upf, upf, direction, packet, upf_now_s * rte_get_tsc_hz());
}

struct rte_mbuf *
from_gnb(const void *gtpu, size_t bytes)
{
	const struct weir_test_ipv4 what = {
		.src = GNB,
		.dst = N3,
		.src_port = WEIR_GTPU_PORT,
		.dst_port = WEIR_GTPU_PORT,
		.payload = gtpu,
		.payload_bytes = (uint16_t)bytes,
	};

	return weir_test_ipv4_packet(&what);
}

struct rte_mbuf *
in_tunnel(uint32_t teid, const char *source, uint16_t payload_bytes)
{
	static const uint8_t payload[1400];
	uint8_t frame[WEIR_TEST_FRAME_BYTES], gtpu[WEIR_TEST_FRAME_BYTES] = {0x30, WEIR_GTPU_G_PDU};
	const struct weir_test_ipv4 what = {
		.src = source,
		.dst = SERVER,
		.payload = payload,
		.payload_bytes = payload_bytes,
	};
	const uint16_t bytes = 28 + payload_bytes;

	weir_test_ipv4_frame(&what, frame);
	gtpu[2] = (uint8_t)(bytes >> 8);
	gtpu[3] = (uint8_t)bytes;
	teid = rte_cpu_to_be_32(teid);
	memcpy(gtpu + 4, &teid, sizeof(teid));
	memcpy(gtpu + 8, frame + IP_AT, bytes);
	return from_gnb(gtpu, 8u + bytes);
}

const char *
dropped_for(struct weir_test_outcome outcome)
{
	assert_null(outcome.packet);
	return outcome.drop_reason;
}

void
upf_start_with_room(void)
{
	upf_start((const char *const[][2]){{"sessions", "4"},
					   {"sessions_max", "300"},
					   {"teid_first", "1"},
					   {"error_indications_pps", "0"},
					   {NULL, NULL}});
}

const char *
upf_change(const char *command, const char *sessions)
{
	return weir_test_command(&weir_nf_upf, upf, command,
				 (const char *const[][2]){{"sessions", sessions}, {NULL, NULL}});
}

uint64_t
upf_figure(const char *name)
{
	return weir_test_figure(&weir_nf_upf, upf, name);
}

uint64_t
upf_passed(const char *direction)
{
	return weir_test_counted(&weir_nf_upf, upf, (const char *const[]){direction, NULL}).packets;
}

const char *
upf_up(uint32_t teid, const char *ue)
{
	struct weir_test_outcome outcome = upf_pass(WEIR_OUTBOUND, in_tunnel(teid, ue, 20));

	rte_pktmbuf_free(outcome.packet);
	return outcome.packet != NULL ? "forwarded" : outcome.drop_reason;
}

struct upf_seen
upf_down(const char *ue)
{
	const struct weir_test_ipv4 what = {
		.src = SERVER, .dst = ue, .payload = "down", .payload_bytes = 4};
	struct weir_test_outcome outcome = upf_pass(WEIR_INBOUND, weir_test_ipv4_packet(&what));
	struct upf_seen seen = {.reason = outcome.drop_reason};
	const uint8_t *frame;
	struct weir_gtpu gtpu;

	if (outcome.packet == NULL)
		return seen;
	frame = rte_pktmbuf_mtod(outcome.packet, const uint8_t *);
	assert_true(weir_test_checksums_right(frame, outcome.packet->pkt_len));
	assert_true(weir_gtpu_parse(frame + GTPU_AT, outcome.packet->pkt_len - GTPU_AT, &gtpu));
	inet_ntop(AF_INET, frame + IP_AT + 16, seen.gnb, sizeof(seen.gnb));
	seen.teid = gtpu.teid;
	seen.qfi = gtpu.qfi;
	assert_memory_equal(frame + GTPU_AT + gtpu.payload_offset + 28, "down", 4);
	rte_pktmbuf_free(outcome.packet);
	return seen;
}
