/* SPDX-License-Identifier: Apache-2.0 */
/* Streams that answer others, through a translator of addresses in a loop, byte by byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <rte_cycles.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_mbuf.h>
#include <rte_udp.h>

#include "engine/loop.h"
#include "fixtures_test.h"
#include "stream.h"

#define MS_NS 1000000ull
#define FLOWS 50
#define BURST 32
#define KEPT 4096
#define NOBODY UINT32_MAX

static const struct weir_loop_options options = {.stall_threshold_us = {1000}};

/* Port 0 is left and port 1 right: what is sent left goes through the translator, what is sent
 * right is kept. */
static struct weir_queue translated = {.kind = WEIR_QUEUE_RING, .name = "translated"};
static struct weir_queue sent_back = {.kind = WEIR_QUEUE_RING, .name = "sent back"};
static struct weir_queue came_back = {.kind = WEIR_QUEUE_RING, .name = "came back"};
static struct weir_area *left_receiver, *right_generator, *right_receiver;

static bool translates;
static uint32_t dropped_flow; /* by the number of its source address; NOBODY: none */
static uint32_t passed;
static struct kept {
	uint32_t src_ip, dst_ip;
	uint16_t src_port, dst_port;
	bool checksums_right;
} kept[KEPT];
static uint32_t kept_count;

static struct rte_ring *
ring_of(const char *name)
{
	return rte_ring_create(name, 4096, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
}

static int
start(void **state)
{
	if (start_eal(state) < 0)
		return -1;
	translated.ring = ring_of("translated");
	sent_back.ring = ring_of("sent-back");
	came_back.ring = ring_of("came-back");
	return translated.ring == NULL || sent_back.ring == NULL || came_back.ring == NULL ? -1 : 0;
}

static struct rte_ipv4_hdr *
network_of(struct rte_mbuf *packet)
{
	return rte_pktmbuf_mtod_offset(packet, struct rte_ipv4_hdr *, RTE_ETHER_HDR_LEN);
}

static struct rte_udp_hdr *
transport_of(struct rte_mbuf *packet)
{
	return (struct rte_udp_hdr *)(network_of(packet) + 1);
}

/* All sources behind one address, each at a port of its own that nobody could guess. */
static uint32_t
translate(struct weir_area *area, uint64_t now_tsc)
{
	struct rte_mbuf *packets[BURST];
	uint16_t count = weir_queue_receive(&wire, packets, BURST);

	(void)area;
	(void)now_tsc;
	for (uint16_t i = 0; i < count; i++) {
		struct rte_ipv4_hdr *ip = network_of(packets[i]);
		uint32_t source = rte_be_to_cpu_32(ip->src_addr);

		passed++;
		if (source % 256 == dropped_flow) {
			rte_pktmbuf_free(packets[i]);
			continue;
		}
		if (translates) {
			ip->src_addr = rte_cpu_to_be_32(0xcb007101);
			transport_of(packets[i])->src_port =
				rte_cpu_to_be_16((uint16_t)(40000 + source % 256 * 13));
		}
		if (weir_queue_transmit(&translated, &packets[i], 1) == 0)
			rte_pktmbuf_free(packets[i]);
	}
	return count;
}

static uint32_t
keep(struct weir_area *area, uint64_t now_tsc)
{
	struct rte_mbuf *packets[BURST];
	uint16_t count = weir_queue_receive(&sent_back, packets, BURST);

	(void)area;
	(void)now_tsc;
	for (uint16_t i = 0; i < count; i++) {
		const struct rte_ipv4_hdr *ip = network_of(packets[i]);
		const struct rte_udp_hdr *udp = transport_of(packets[i]);

		if (kept_count < KEPT)
			kept[kept_count++] = (struct kept){
				.src_ip = ip->src_addr,
				.dst_ip = ip->dst_addr,
				.src_port = udp->src_port,
				.dst_port = udp->dst_port,
				.checksums_right =
					rte_ipv4_cksum(ip) == 0xffff || rte_ipv4_cksum(ip) == 0,
			};
		if (rte_ipv4_udptcp_cksum_verify(ip, udp) != 0)
			kept[kept_count - 1].checksums_right = false;
		if (weir_queue_transmit(&came_back, &packets[i], 1) == 0)
			rte_pktmbuf_free(packets[i]);
	}
	return count;
}

static struct weir_area translator = {.poll = translate, .name = "translator"};
static struct weir_area keeper = {.poll = keep, .name = "keeper"};

static int
make_both_ends(void **state)
{
	unsigned int cpu = weir_core_number(0);
	struct weir_error error;

	(void)state;
	translates = true;
	dropped_flow = NOBODY;
	passed = kept_count = 0;
	generator = weir_generator_create("left generator", cpu, &wire, 0, &error);
	left_receiver = weir_receiver_create("left receiver", cpu, &came_back, 0, &error);
	right_generator = weir_generator_create("right generator", cpu, &sent_back, 1, &error);
	right_receiver = weir_receiver_create("right receiver", cpu, &translated, 1, &error);
	translator.core = keeper.core = cpu;
	return generator != NULL && left_receiver != NULL && right_generator != NULL &&
			       right_receiver != NULL
		       ? 0
		       : -1;
}

static void
drain(struct weir_queue *queue)
{
	struct rte_mbuf *packet;

	while (weir_queue_receive(queue, &packet, 1) == 1)
		rte_pktmbuf_free(packet);
}

static int
free_both_ends(void **state)
{
	(void)state;
	weir_loops_stop();
	weir_areas_clear();
	weir_streams_clear();
	weir_generator_destroy(generator);
	weir_receiver_destroy(left_receiver);
	weir_generator_destroy(right_generator);
	weir_receiver_destroy(right_receiver);
	drain(&wire);
	drain(&translated);
	drain(&sent_back);
	drain(&came_back);
	return 0;
}

/* Stream 0 from left to right, and stream 1, which answers it. */
static void
both_ways(struct weir_stream_config configs[2])
{
	configs[0] = stream_of(template_of(false, false, false), 64);
	configs[0].flow_count = FLOWS;
	configs[0].vary = WEIR_VARY_SRC_IP | WEIR_VARY_DST_IP | WEIR_VARY_SRC_PORT;
	memset(configs[0].template.src_ip + 3, 0, 1); /* flow n is from address n */
	configs[1] = configs[0];
	configs[1].id = 1;
	configs[1].port_id = 1;
	configs[1].to_port_id = 0;
	configs[1].answers = true;
	configs[1].answered_id = 0;
}

static void
stand(const struct weir_stream_config *configs)
{
	struct weir_error error;

	place(generator);
	place(&translator);
	place(right_receiver);
	place(right_generator);
	place(&keeper);
	place(left_receiver);
	assert_int_equal(weir_streams_configure(configs, 2, &error), 0);
	weir_loops_start(&options);
}

static void
run(bool learns, uint64_t packets)
{
	const double rates_pps[] = {100000, 100000};
	const struct weir_run_options asked = {
		.rates_pps = rates_pps,
		.duration_ns = 500 * MS_NS,
		.drain_ns = 50 * MS_NS,
		.packets = packets,
		.learns = learns,
	};
	struct weir_error error;

	assert_int_not_equal(weir_run_start(&asked, &error), -1);
	wait_for_end();
}

static struct weir_learned
learned_of_stream(unsigned int index)
{
	struct weir_learned learned;

	assert_true(weir_stream_learned(index, &learned));
	return learned;
}

static struct weir_stream_count
counted(unsigned int index)
{
	struct weir_stream_count count;

	weir_stream_counted(index, &count);
	return count;
}

static uint32_t
source_of_flow(const struct kept *one, const struct weir_stream_config *config)
{
	uint32_t first;

	memcpy(&first, config->template.dst_ip, 4);
	/* The second field that varies is three times the number of the flow. */
	return (rte_be_to_cpu_32(one->src_ip) - rte_be_to_cpu_32(first)) / 3;
}

static void
each_flow_is_answered_where_it_is_seen_to_come_from(void **state)
{
	struct weir_stream_config configs[2];

	(void)state;
	both_ways(configs);
	stand(configs);
	run(true, 0);
	assert_int_equal(passed, FLOWS);
	assert_int_equal(kept_count, 0);
	assert_int_equal(learned_of_stream(0).flows, FLOWS);
	assert_int_equal(learned_of_stream(0).arrived, FLOWS);
	assert_int_equal(learned_of_stream(0).translated, FLOWS);
	run(false, 4 * FLOWS);
	assert_int_equal(kept_count, 4 * FLOWS);
	for (uint32_t i = 0; i < kept_count; i++) {
		uint32_t flow = source_of_flow(&kept[i], configs);

		assert_int_equal(flow, i % FLOWS);
		assert_int_equal(rte_be_to_cpu_32(kept[i].dst_ip), 0xcb007101);
		assert_int_equal(rte_be_to_cpu_16(kept[i].dst_port), 40000 + 13 * flow);
		assert_int_equal(rte_be_to_cpu_16(kept[i].src_port), 5000);
		assert_true(kept[i].checksums_right);
	}
	assert_int_equal(counted(0).delivered, 4 * FLOWS);
	assert_int_equal(counted(1).delivered, 4 * FLOWS);
	assert_int_equal(counted(1).frame_sample.changed, 0);
}

static void
without_translation_the_flows_back_stay_as_they_are(void **state)
{
	struct weir_stream_config configs[2];
	struct weir_flow before[FLOWS];
	const struct weir_flow *after;

	(void)state;
	both_ways(configs);
	translates = false;
	stand(configs);
	after = weir_stream_at(1)->sender.flows.flow;
	memcpy(before, after, sizeof(before));
	run(true, 0);
	assert_int_equal(learned_of_stream(0).arrived, FLOWS);
	assert_int_equal(learned_of_stream(0).translated, 0);
	assert_memory_equal(before, after, sizeof(before));
}

static void
a_flow_that_does_not_arrive_keeps_what_it_had(void **state)
{
	struct weir_stream_config configs[2];
	struct weir_flow before;
	const struct weir_flow *after;

	(void)state;
	both_ways(configs);
	dropped_flow = 7;
	stand(configs);
	after = weir_stream_at(1)->sender.flows.flow;
	before = after[7];
	run(true, 0);
	assert_int_equal(learned_of_stream(0).arrived, FLOWS - 1);
	assert_memory_equal(&before, &after[7], sizeof(before));
	assert_int_equal(rte_be_to_cpu_32(after[8].dst_ip), 0xcb007101);
}

static void
every_flow_of_a_drawn_order_is_learned_and_then_drawn_again(void **state)
{
	struct weir_stream_config configs[2];
	const uint32_t *drawn;

	(void)state;
	both_ways(configs);
	configs[0].zipf = configs[1].zipf = true;
	configs[0].zipf_s = configs[1].zipf_s = 3;
	stand(configs);
	drawn = weir_stream_at(0)->sender.flows.order;
	assert_non_null(drawn);
	run(true, 0);
	assert_int_equal(passed, FLOWS);
	assert_int_equal(learned_of_stream(0).arrived, FLOWS);
	run(false, FLOWS);
	assert_ptr_equal(weir_stream_at(0)->sender.flows.order, drawn);
	assert_int_equal(counted(0).delivered, FLOWS);
}

static void
a_run_of_load_learns_nothing(void **state)
{
	struct weir_stream_config configs[2];
	struct weir_learned learned;

	(void)state;
	both_ways(configs);
	stand(configs);
	run(false, FLOWS);
	assert_false(weir_stream_learned(0, &learned));
	assert_false(weir_stream_learned(1, &learned));
	assert_int_not_equal(rte_be_to_cpu_32(kept[0].dst_ip), 0xcb007101);
}

static void
numbers_beyond_the_flows_and_other_protocols_are_not_noted(void **state)
{
	uint8_t head[RTE_ETHER_MIN_LEN] = {[14] = 0x45};
	struct weir_payload at = {.network = 14, .transport = 34, .at = 42, .protocol = 17};
	struct weir_stream_config configs[2];
	struct weir_stream *stream;

	(void)state;
	both_ways(configs);
	stand(configs);
	stream = weir_stream_at(0);
	weir_answers_note(stream, head, &at, FLOWS);
	at.protocol = 6;
	weir_answers_note(stream, head, &at, 0);
	at.protocol = 17;
	head[14] = 0x60;
	weir_answers_note(stream, head, &at, 0);
	assert_false(stream->answers.seen[0].any);
	head[14] = 0x45;
	weir_answers_note(stream, head, &at, 0);
	assert_true(stream->answers.seen[0].any);
}

static void
assert_refused(const struct weir_stream_config *configs)
{
	struct weir_error error;

	assert_int_equal(weir_streams_configure(configs, 2, &error), -1);
	assert_string_equal(error.where, "streams[1].answers");
	assert_int_equal(weir_stream_count(), 0);
}

static void
only_a_stream_with_the_same_known_flows_can_be_answered(void **state)
{
	struct weir_stream_config configs[2];

	(void)state;
	both_ways(configs);
	configs[1].answered_id = 9;
	assert_refused(configs);
	configs[1].answered_id = 1;
	assert_refused(configs);
	both_ways(configs);
	configs[1].flow_count = FLOWS - 1;
	assert_refused(configs);
	both_ways(configs);
	configs[1].template.tcp = true;
	assert_refused(configs);
	both_ways(configs);
	configs[0].to_port_id = 0;
	assert_refused(configs);
	both_ways(configs);
	configs[0].fields[WEIR_PACKET_SRC_IP] = (struct weir_packet_values){.count = 2, .step = 1};
	assert_refused(configs);
	both_ways(configs);
	configs[0].template = configs[1].template = template_of(true, false, false);
	configs[0].frame_bytes[0] = configs[1].frame_bytes[0] = 128;
	assert_refused(configs);
}

static void
a_run_cannot_learn_where_no_stream_answers(void **state)
{
	const double rates_pps[] = {1000, 1000};
	const struct weir_run_options asked = {
		.rates_pps = rates_pps, .duration_ns = MS_NS, .learns = true};
	struct weir_stream_config configs[2];
	struct weir_error error;

	(void)state;
	both_ways(configs);
	configs[1].answers = false;
	stand(configs);
	assert_int_equal(weir_run_start(&asked, &error), -1);
	assert_string_equal(error.where, "learn");
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, make_both_ends, free_both_ends)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_flow_is_answered_where_it_is_seen_to_come_from),
		TEST(without_translation_the_flows_back_stay_as_they_are),
		TEST(a_flow_that_does_not_arrive_keeps_what_it_had),
		TEST(every_flow_of_a_drawn_order_is_learned_and_then_drawn_again),
		TEST(a_run_of_load_learns_nothing),
		TEST(numbers_beyond_the_flows_and_other_protocols_are_not_noted),
		TEST(only_a_stream_with_the_same_known_flows_can_be_answered),
		TEST(a_run_cannot_learn_where_no_stream_answers),
	};

	return cmocka_run_group_tests(tests, start, NULL);
}
