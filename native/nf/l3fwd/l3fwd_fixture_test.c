/* SPDX-License-Identifier: Apache-2.0 */
#include "l3fwd_fixture_test.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>

void *l3fwd;

void
start(const char *const (*options)[2])
{
	weir_nf_destroy(&weir_nf_l3fwd, l3fwd);
	l3fwd = weir_test_state(&weir_nf_l3fwd, options);
}

void
start_with_routes(const char *lines)
{
	const char *const options[][2] = {
		{"routes", weir_test_file(lines)}, {"src_mac", SRC_MAC}, {NULL, NULL}};

	start(options);
}

const char *
fate(struct weir_test_outcome outcome)
{
	static char text[16];
	const uint8_t *frame;

	if (outcome.packet == NULL)
		return outcome.drop_reason;
	frame = rte_pktmbuf_mtod(outcome.packet, const uint8_t *);
	assert_true(weir_test_checksums_right(frame, outcome.packet->pkt_len));
	snprintf(text, sizeof(text), "%02x/%u", frame[5], outcome.egress);
	rte_pktmbuf_free(outcome.packet);
	return text;
}

const char *
pass(struct rte_mbuf *packet)
{
	return fate(weir_test_run(&weir_nf_l3fwd, l3fwd, WEIR_OUTBOUND, packet, 0));
}

const char *
to(const char *destination)
{
	const struct weir_test_ipv4 what = {.dst = destination};

	return pass(weir_test_ipv4_packet(&what));
}

const char *
from(const char *source)
{
	const struct weir_test_ipv4 what = {.src = source};

	return pass(weir_test_ipv4_packet(&what));
}

struct rte_mbuf *
ipv6_packet(const char *source, const char *destination, uint8_t hop_limit)
{
	uint8_t frame[60] = {2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x86, 0xdd, 0x60};

	frame[20] = IPPROTO_NONE;
	frame[21] = hop_limit;
	assert_int_equal(inet_pton(AF_INET6, source, frame + 22), 1);
	assert_int_equal(inet_pton(AF_INET6, destination, frame + 38), 1);
	return weir_test_packet(frame, sizeof(frame));
}

const char *
ipv6(const char *source, const char *destination)
{
	return pass(ipv6_packet(source, destination, 64));
}

int
end(void **state)
{
	weir_nf_destroy(&weir_nf_l3fwd, l3fwd);
	return weir_test_file_remove(state);
}
