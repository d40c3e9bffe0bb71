/* SPDX-License-Identifier: Apache-2.0 */
#include "nat_fixture_test.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>

/* Ticks that look at every mapping and remote of the NATs here. */
#define TICKS 1100

void *nat;
uint64_t now_s;

void
start(const char *const (*options)[2])
{
	const char *all[16][2] = {{"external", "203.0.113.0/30"}, {"lanes", "1"}};
	unsigned int count = 2;

	for (; options != NULL && (*options)[0] != NULL; options++) {
		all[count][0] = (*options)[0];
		all[count++][1] = (*options)[1];
	}
	assert_true(count < RTE_DIM(all));
	weir_nf_destroy(&weir_nf_nat, nat);
	nat = weir_test_state(&weir_nf_nat, (const char *const(*)[2])all);
	now_s = 1000;
}

static void
endpoint_text(char *text, size_t size, uint32_t ip, uint16_t port)
{
	char address[INET_ADDRSTRLEN];

	inet_ntop(AF_INET, &ip, address, sizeof(address));
	snprintf(text, size, "%s:%u", address, ntohs(port));
}

static struct seen
seen_of(struct weir_test_outcome outcome)
{
	struct seen seen = {.drop = outcome.drop_reason, .egress = outcome.egress};
	struct weir_headers headers;

	if (outcome.packet == NULL)
		return seen;
	assert_true(weir_test_checksums_right(rte_pktmbuf_mtod(outcome.packet, uint8_t *),
					      outcome.packet->pkt_len));
	weir_headers_parse(outcome.packet, &headers);
	endpoint_text(seen.source, sizeof(seen.source), headers.tuple.src_ip,
		      headers.tuple.src_port);
	endpoint_text(seen.destination, sizeof(seen.destination), headers.tuple.dst_ip,
		      headers.tuple.dst_port);
	rte_pktmbuf_free(outcome.packet);
	return seen;
}

struct seen
pass(enum weir_direction direction, const struct weir_test_ipv4 *what)
{
	return seen_of(weir_test_run(&weir_nf_nat, nat, direction, weir_test_ipv4_packet(what),
				     now_s * rte_get_tsc_hz()));
}

struct seen
pass_bytes(enum weir_direction direction, const void *frame, size_t bytes)
{
	return seen_of(weir_test_run(&weir_nf_nat, nat, direction, weir_test_packet(frame, bytes),
				     now_s * rte_get_tsc_hz()));
}

struct seen
pass_error(enum weir_direction direction, const struct weir_test_icmp_error *error,
	   const struct weir_test_ipv4 *expected)
{
	uint8_t frame[WEIR_TEST_FRAME_BYTES], inner[WEIR_TEST_FRAME_BYTES];
	size_t bytes = weir_test_icmp_error_frame(error, frame);
	struct weir_test_outcome outcome =
		weir_test_run(&weir_nf_nat, nat, direction, weir_test_packet(frame, bytes),
			      now_s * rte_get_tsc_hz());
	struct seen seen = {.drop = outcome.drop_reason, .egress = outcome.egress};
	const uint8_t *left;
	uint16_t inner_bytes;

	if (outcome.packet == NULL)
		return seen;
	left = rte_pktmbuf_mtod(outcome.packet, const uint8_t *);
	assert_true(weir_test_checksums_right(left, outcome.packet->pkt_len));
	assert_memory_equal(left + IP_AT + 20, frame + IP_AT + 20, 2);
	weir_test_ipv4_frame(expected, inner);
	inner_bytes = (left[IP_AT + 2] << 8 | left[IP_AT + 3]) - 28;
	assert_memory_equal(left + INNER_AT, inner + IP_AT, inner_bytes);
	inet_ntop(AF_INET, left + IP_AT + 12, seen.source, sizeof(seen.source));
	inet_ntop(AF_INET, left + IP_AT + 16, seen.destination, sizeof(seen.destination));
	rte_pktmbuf_free(outcome.packet);
	return seen;
}

const char *
leaves_from(uint8_t protocol, const char *inside, uint16_t inside_port, const char *remote,
	    uint16_t remote_port, uint8_t tcp_flags)
{
	static struct seen seen[4]; /* so that several calls can be arguments of one */
	static unsigned int next;
	struct seen *one = &seen[next++ % RTE_DIM(seen)];

	*one = pass(WEIR_OUTBOUND, &(struct weir_test_ipv4){.src = inside,
							    .dst = remote,
							    .protocol = protocol,
							    .src_port = inside_port,
							    .dst_port = remote_port,
							    .tcp_flags = tcp_flags});
	return one->drop != NULL ? one->drop : one->source;
}

const char *
arrives_at(uint8_t protocol, const char *remote, uint16_t remote_port, const char *external,
	   uint8_t tcp_flags)
{
	static struct seen seen;
	char address[32];

	snprintf(address, sizeof(address), "%.*s", (int)strcspn(external, ":"), external);
	seen = pass(WEIR_INBOUND, &(struct weir_test_ipv4){.src = remote,
							   .dst = address,
							   .protocol = protocol,
							   .src_port = protocol == IPPROTO_ICMP
									       ? port_in(external)
									       : remote_port,
							   .dst_port = port_in(external),
							   .tcp_flags = tcp_flags});
	return seen.drop != NULL ? seen.drop : seen.destination;
}

static void
sweep(void)
{
	for (unsigned int i = 0; i < TICKS; i++)
		weir_nf_nat.tick(nat, now_s * rte_get_tsc_hz(), NULL);
}

void
wait_s(uint64_t seconds)
{
	sweep(); /* as it goes on all the time: what was active until now is noticed */
	now_s += seconds;
	sweep();
}

uint16_t
port_in(const char *endpoint)
{
	const char *colon = strchr(endpoint, ':');

	if (colon == NULL)
		fail_msg("'%s' is no endpoint", endpoint);
	return atoi(colon + 1);
}
