/* SPDX-License-Identifier: Apache-2.0 */
#include "station_fixture_test.h"

#include <arpa/inet.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_ring.h>

struct weir_chain *router;
uint64_t now_tsc;

static struct rte_ring *in[2], *out[2]; /* by side */

#define RING_PACKETS 2048
#define POLLS 80 /* more than a full queue of either path needs */

int
end_router(void **state)
{
	struct rte_mbuf *packet;

	(void)state;
	if (router == NULL)
		return 0;
	for (unsigned int i = 0; i < 2; i++) {
		while (rte_ring_dequeue(in[i], (void **)&packet) == 0 ||
		       rte_ring_dequeue(out[i], (void **)&packet) == 0)
			rte_pktmbuf_free(packet);
	}
	weir_chain_destroy(router);
	router = NULL;
	return 0;
}

static void
make_path(struct weir_path *path, enum weir_direction direction, enum side from, void *state)
{
	path->direction = direction;
	path->in = (struct weir_queue){.kind = WEIR_QUEUE_RING, .ring = in[from]};
	path->out.count = 2;
	path->out.queue[0] = (struct weir_queue){.kind = WEIR_QUEUE_RING, .ring = out[RIGHT]};
	path->out.queue[1] = (struct weir_queue){.kind = WEIR_QUEUE_RING, .ring = out[LEFT]};
	path->stage_count = 1;
	path->stages[0].nf = &weir_nf_l3fwd;
	path->stages[0].state = state;
}

void
start_router(const char *option, const char *value)
{
	const char *const options[][2] = {
		{"src_mac", "02:00:00:00:00:0a"},
		{"inbound_src_mac", "02:00:00:00:00:1a"},
		{"inside_output", "1"},
		{"inbound_addresses", "10.0.1.1/24, 2001:db8:1::1/64"},
		{"addresses", "10.0.2.1/24, 2001:db8:2::1/64"},
		{"route_list", "0.0.0.0/0 via 10.0.2.2, ::/0 via 2001:db8:2::2"},
		{option, value},
		{NULL, NULL},
	};
	struct weir_error error;
	void *state;

	end_router(NULL);
	for (unsigned int i = 0; i < 2 && in[i] == NULL; i++) {
		in[i] = rte_ring_create(i == LEFT ? "left-in" : "right-in", RING_PACKETS,
					SOCKET_ID_ANY, 0);
		out[i] = rte_ring_create(i == LEFT ? "left-out" : "right-out", RING_PACKETS,
					 SOCKET_ID_ANY, 0);
	}
	state = weir_test_state(&weir_nf_l3fwd, options);
	router = weir_chain_create("router", 0, true);
	router->path_count = 2;
	make_path(&router->paths[0], WEIR_OUTBOUND, LEFT, state);
	make_path(&router->paths[1], WEIR_INBOUND, RIGHT, state);
	router->paths[1].stages[0].shares_state = true;
	assert_int_equal(weir_chain_complete(router, 64, &error), 0);
	now_tsc = 1000 * rte_get_tsc_hz();
}

static void
poll_router(void)
{
	for (unsigned int i = 0; i < POLLS; i++)
		router->area.poll(&router->area, now_tsc);
}

void
arrives(enum side side, const struct frame *frame)
{
	assert_int_equal(rte_ring_enqueue(in[side], weir_test_packet(frame->bytes, frame->size)),
			 0);
	poll_router();
}

/* Milliseconds one by one: all entries are looked at in so many ticks. */
void
pass_ms(uint64_t ms)
{
	for (uint64_t i = 0; i < ms; i++) {
		now_tsc += rte_get_tsc_hz() / 1000 + 1;
		router->area.poll(&router->area, now_tsc);
	}
	poll_router();
}

bool
leaves(enum side side, struct frame *frame)
{
	struct rte_mbuf *packet;

	memset(frame, 0, sizeof(*frame));
	if (rte_ring_dequeue(out[side], (void **)&packet) != 0)
		return false;
	frame->size = packet->pkt_len;
	memcpy(frame->bytes, rte_pktmbuf_mtod(packet, const void *), packet->pkt_len);
	rte_pktmbuf_free(packet);
	assert_true(weir_test_checksums_right(frame->bytes, frame->size));
	return true;
}

void
leaves_as(enum side side, const void *bytes, size_t size)
{
	struct frame frame;

	assert_true(leaves(side, &frame));
	assert_int_equal(frame.size, size);
	assert_memory_equal(frame.bytes, bytes, size);
}

void
nothing_leaves(void)
{
	assert_int_equal(rte_ring_count(out[LEFT]), 0);
	assert_int_equal(rte_ring_count(out[RIGHT]), 0);
}

uint64_t
dropped(const char *reason)
{
	uint64_t count = 0;
	bool known = false;

	for (unsigned int i = 0; i < weir_nf_l3fwd.drop_reason_count; i++) {
		if (strcmp(weir_nf_l3fwd.drop_reasons[i].symbol, reason) != 0)
			continue;
		known = true;
		for (unsigned int way = 0; way < 2; way++)
			count += router->paths[way].stages[0].ledger.drops[i];
	}
	assert_true(known);
	return count;
}

uint64_t
held(void)
{
	return router->paths[0].stages[0].ledger.held + router->paths[1].stages[0].ledger.held;
}

void
all_is_accounted_for(void)
{
	for (unsigned int way = 0; way < 2; way++) {
		const struct weir_path *path = &router->paths[way];
		const struct weir_stage_ledger *ledger = &path->stages[0].ledger;
		uint64_t drops = 0;

		for (unsigned int i = 0; i < WEIR_DROP_REASONS_MAX; i++)
			drops += ledger->drops[i];
		assert_int_equal(path->rx_packets + ledger->originated,
				 drops + ledger->held + path->out.tx_packets +
					 path->out.tx_queue_full + path->out.no_output);
		assert_int_equal(path->out.tx_queue_full + path->out.no_output, 0);
	}
}

void
nobody_is_answered(enum side side, const struct frame *frame, const char *reason)
{
	uint64_t before = dropped(reason);

	arrives(side, frame);
	nothing_leaves();
	assert_int_equal(dropped(reason), before + 1);
	all_is_accounted_for();
}

struct frame
arp(uint16_t operation, const char *mac, const char *sender, const char *target)
{
	struct frame frame = {.size = 60};
	uint8_t *at = frame.bytes;

	memset(at, 0xff, 6);
	memcpy(at + 6, mac, 6);
	memcpy(at + 12, "\x08\x06\0\1\x08\0\6\4\0", 9);
	at[21] = (uint8_t)operation;
	memcpy(at + 22, mac, 6);
	assert_int_equal(inet_pton(AF_INET, sender, at + 28), 1);
	assert_int_equal(inet_pton(AF_INET, target, at + 38), 1);
	return frame;
}

/* Word by word, as RFC 1071 says it. */
void
set_icmpv6_checksum(struct frame *frame)
{
	uint8_t *ip = frame->bytes + 14;
	uint32_t bytes = (uint32_t)ip[4] << 8 | ip[5], sum = bytes + 58;

	ip[42] = ip[43] = 0;
	for (uint32_t i = 8; i < 40 + bytes; i += 2)
		sum += (uint32_t)ip[i] << 8 | (i + 1 < 40 + bytes ? ip[i + 1] : 0);
	while (sum > 0xffff)
		sum = (sum & 0xffff) + (sum >> 16);
	sum = ~sum & 0xffff;
	ip[42] = (uint8_t)(sum >> 8);
	ip[43] = (uint8_t)sum;
}

struct frame
discovery(uint8_t type, uint8_t flags, const char *source, const char *destination,
	  const char *target, const char *mac)
{
	struct frame frame = {.size = 14 + 40 + 24 + (mac != NULL ? 8 : 0)};
	uint8_t *ip = frame.bytes + 14;

	memcpy(frame.bytes, "\x33\x33\xff\0\0\1", 6);
	memcpy(frame.bytes + 6, mac != NULL ? mac : HOST_MAC, 6);
	memcpy(frame.bytes + 12, "\x86\xdd\x60", 3);
	ip[5] = mac != NULL ? 32 : 24;
	ip[6] = 58;
	ip[7] = 255;
	assert_int_equal(inet_pton(AF_INET6, source, ip + 8), 1);
	assert_int_equal(inet_pton(AF_INET6, destination, ip + 24), 1);
	ip[40] = type;
	ip[44] = flags;
	assert_int_equal(inet_pton(AF_INET6, target, ip + 48), 1);
	if (mac != NULL) {
		ip[64] = type == 135 ? 1 : 2;
		ip[65] = 1;
		memcpy(ip + 66, mac, 6);
	}
	set_icmpv6_checksum(&frame);
	return frame;
}

struct frame
ipv4_to(const char *destination, uint8_t ttl, uint16_t payload_bytes)
{
	static const uint8_t payload[1500];
	struct frame frame;

	frame.size = weir_test_ipv4_frame(&(struct weir_test_ipv4){.src = "10.0.1.2",
								   .dst = destination,
								   .ttl = ttl,
								   .payload = payload,
								   .payload_bytes = payload_bytes},
					  frame.bytes);
	memcpy(frame.bytes, LEFT_MAC HOST_MAC, 12);
	return frame;
}

struct frame
ipv6_to(const char *destination, uint8_t hop_limit, uint16_t payload_bytes)
{
	struct frame frame = {.size = 14 + 40 + 8 + payload_bytes};
	uint8_t *ip = frame.bytes + 14;
	uint16_t bytes = 8 + payload_bytes;

	memcpy(frame.bytes, LEFT_MAC HOST_MAC, 12);
	memcpy(frame.bytes + 12, "\x86\xdd\x60", 3);
	ip[4] = (uint8_t)(bytes >> 8);
	ip[5] = (uint8_t)bytes;
	ip[6] = IPPROTO_UDP;
	ip[7] = hop_limit;
	assert_int_equal(inet_pton(AF_INET6, "2001:db8:1::2", ip + 8), 1);
	assert_int_equal(inet_pton(AF_INET6, destination, ip + 24), 1);
	memcpy(ip + 40, "\4\0\0\x50", 4);
	ip[44] = ip[4];
	ip[45] = ip[5];
	return frame;
}

void
gateway_answers_arp(void)
{
	const struct frame reply = arp(2, GATEWAY_MAC, "10.0.2.2", "10.0.2.1");

	arrives(RIGHT, &reply);
}
