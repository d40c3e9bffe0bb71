/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The four architectures run the same functions on the same packets, their areas polled in random
 * order: what leaves is the same, byte for byte and in each flow's order.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <netinet/in.h>
#include <rte_hash_crc.h>

#include "architectures_fixture_test.h"
#include "testing/eal.h"
#include "testing/packet.h"
#include "testing/rules.h"

#define PACKETS 4000
#define IN_FLIGHT_MAX 200
#define NEVER_OUT 8 /* the last flows: nothing of them goes out */

/* What left at both ends, flow by flow. */
struct left {
	uint64_t packets;
	uint32_t digest[2][FLOWS]; /* of all frames in their order */
	uint16_t last[2][FLOWS];   /* number of the last packet */
	unsigned int out_of_order;
};

/* Behind the packet, where no function looks: its flow and number. */
struct trailer {
	uint16_t flow, number;
};

/* A frame with its trailer; packet `number` of `flow`, which comes in at end `end`. */
static struct rte_mbuf *
packet_of(unsigned int end, uint16_t flow, uint16_t number)
{
	const uint16_t inside = 1000 + flow, shifted = inside + 1;
	const bool out = end == 0;
	struct weir_test_ipv4 what = {
		.src = out ? "10.0.0.1" : "198.51.100.1",
		.dst = out ? "198.51.100.1" : "10.0.0.2",
		.src_port = out ? inside : 80,
		.dst_port = out ? 80 : shifted,
		.protocol = flow % 2 == 0 ? IPPROTO_UDP : IPPROTO_TCP,
		.ttl = number % 11 == 5 ? 1 : 64,
		.payload_bytes = 40,
		.identification = flow << 8 | number / 8,
		.tagged = flow % 5 == 0,
	};
	struct trailer trailer = {flow, number};
	uint8_t inner[WEIR_TEST_FRAME_BYTES];

	/* Of eight packets of a UDP flow two are fragments of one datagram, and one is an ICMP
	 * error about the flow, from elsewhere. */
	if (flow % 2 == 0 && number % 8 == 1) {
		what.more_fragments = true;
		what.ttl = 64;
	} else if (flow % 2 == 0 && number % 8 == 2) {
		what.fragment_offset_bytes = 48;
		what.ttl = 64;
	} else if (!out && number % 8 == 4) {
		struct weir_test_ipv4 about = {.src = "10.0.0.2",
					       .dst = "198.51.100.1",
					       .src_port = shifted,
					       .dst_port = 80,
					       .protocol = what.protocol};

		weir_test_ipv4_frame(&about, inner);
		what.src = "203.0.113.9";
		what.protocol = IPPROTO_ICMP;
		what.icmp_type = 11;
		what.src_port = 0;
		what.payload = inner + 14;
		what.payload_bytes = 28;
	}
	struct rte_mbuf *packet = weir_test_ipv4_packet(&what);

	memcpy(rte_pktmbuf_append(packet, sizeof(trailer)), &trailer, sizeof(trailer));
	return packet;
}

static void
note(struct left *left, unsigned int end, struct rte_mbuf *packet)
{
	const uint8_t *frame = rte_pktmbuf_mtod(packet, const uint8_t *);
	struct trailer trailer;

	memcpy(&trailer, frame + packet->data_len - sizeof(trailer), sizeof(trailer));
	left->packets++;
	left->out_of_order += trailer.number < left->last[end][trailer.flow];
	left->last[end][trailer.flow] = trailer.number;
	left->digest[end][trailer.flow] =
		rte_hash_crc(frame, packet->data_len, left->digest[end][trailer.flow]);
	assert_true(weir_test_checksums_right(frame, packet->data_len - sizeof(trailer)));
	rte_pktmbuf_free(packet);
}

static void
take_what_left(const struct built *built, struct left *left)
{
	for (unsigned int end = 0; end < 2; end++) {
		struct rte_mbuf *packet;

		while (weir_queue_receive(&built->ends_out[end], &packet, 1) == 1)
			note(left, end, packet);
	}
}

/* Polls all areas until nothing moves any more. */
static void
drain(const struct built *built, struct left *left)
{
	uint32_t handled;

	do {
		handled = 0;
		for (unsigned int i = 0; i < built->area_count; i++)
			handled += built->areas[i]->poll(built->areas[i], rte_rdtsc());
		take_what_left(built, left);
	} while (handled > 0);
}

/* Sends packets to the ends that are asked for, the same ones each time; areas are polled in random
 * order meanwhile. */
static uint64_t
offer(const struct built *built, struct left *left, const bool ends[2], uint16_t *numbers,
      uint64_t *random)
{
	uint64_t packets = 5, sent = 0;

	while (sent < PACKETS) {
		if (rte_mempool_in_use_count(weir_test_pool()) < IN_FLIGHT_MAX) {
			unsigned int end =
				ends[0] && ends[1] ? weir_test_random(&packets) % 2 : ends[1];
			uint16_t flow =
				weir_test_random(&packets) % (end == 0 ? FLOWS - NEVER_OUT : FLOWS);
			struct rte_mbuf *packet =
				packet_of(end, flow, numbers[end * FLOWS + flow]++);

			assert_int_equal(weir_queue_transmit(&built->ends_in[end], &packet, 1), 1);
			sent++;
		}
		if (weir_test_random(random) % 4 == 0) {
			struct weir_area *area =
				built->areas[weir_test_random(random) % built->area_count];

			area->poll(area, rte_rdtsc());
			take_what_left(built, left);
		}
	}
	return sent;
}

/* First everything goes out, then in, then both ways at once. */
static struct left
run(const struct plan *plan, uint64_t random)
{
	static const bool phases[][2] = {{true, false}, {false, true}, {true, true}};
	struct built built = build(plan);
	struct left left = {0};
	uint16_t numbers[2 * FLOWS] = {0};
	uint64_t in = 0;

	for (unsigned int i = 0; i < RTE_DIM(phases); i++) {
		in += offer(&built, &left, phases[i], numbers, &random);
		drain(&built, &left);
	}
	assert_int_equal(unaccounted(&built, in, left.packets), 0);
	assert_int_equal(left.out_of_order, 0);
	take_down(&built);
	assert_int_equal(rte_mempool_in_use_count(weir_test_pool()), 0);
	return left;
}

static const struct weir_nf *const gate_and_shift[] = {&gate_nf, &shift_nf};
static const struct weir_nf *const shift_twice[] = {&shift_nf, &shift_nf};

static const struct plan others[] = {
	{.architecture = PIPELINE},
	{.architecture = DISPATCH, .workers = 1},
	{.architecture = DISPATCH, .workers = 3},
	{.architecture = SEPARATED, .workers = 1, .state_cores = 1},
	{.architecture = SEPARATED, .workers = 3, .state_cores = 1},
	{.architecture = SEPARATED, .workers = 2, .state_cores = 2},
};

static void
compare_with_run_to_completion(const struct weir_nf *const *nfs, uint32_t fastpath_flows)
{
	const struct plan plain = {.architecture = RUN_TO_COMPLETION, .nfs = nfs};
	const struct left wanted = run(&plain, 1);

	assert_in_range(wanted.packets, PACKETS, 3 * PACKETS - 500);
	for (unsigned int i = 0; i < RTE_DIM(others); i++) {
		struct plan plan = others[i];

		plan.nfs = nfs;
		plan.ring_size = 256;
		plan.fastpath_flows = fastpath_flows;
		for (uint64_t random = 2; random < 5; random++) {
			struct left found = run(&plan, random);

			assert_int_equal(found.packets, wanted.packets);
			assert_memory_equal(found.digest, wanted.digest, sizeof(wanted.digest));
		}
	}
}

static void
test_every_architecture_gives_the_same_bytes_in_the_order_of_their_flows(void **state)
{
	(void)state;
	compare_with_run_to_completion(gate_and_shift, 0);
}

static void
test_so_it_is_with_the_fast_path(void **state)
{
	(void)state;
	compare_with_run_to_completion(shift_twice, 32);
}

static void
test_packets_lost_at_full_rings_are_counted_and_the_rest_stays_in_order(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(others); i++) {
		struct plan plan = others[i];

		plan.nfs = gate_and_shift;
		plan.ring_size = 3;
		assert_true(run(&plan, 7).packets > 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_every_architecture_gives_the_same_bytes_in_the_order_of_their_flows),
		cmocka_unit_test(test_so_it_is_with_the_fast_path),
		cmocka_unit_test(
			test_packets_lost_at_full_rings_are_counted_and_the_rest_stays_in_order),
	};

	return cmocka_run_group_tests(tests, weir_test_eal, NULL);
}
