/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <rte_cycles.h>

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
