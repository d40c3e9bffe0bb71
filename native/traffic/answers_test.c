/* SPDX-License-Identifier: Apache-2.0 */
/* Streams that answer others, through a translator of addresses, byte by byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <rte_byteorder.h>
#include <rte_ether.h>

#include "both_ends_fixture_test.h"
#include "fixtures_test.h"
#include "stream.h"

#define MS_NS 1000000ull

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
	run_both_ends(configs);
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
		assert_int_equal(rte_be_to_cpu_32(kept[i].dst_ip), TRANSLATED_IP);
		assert_int_equal(rte_be_to_cpu_16(kept[i].dst_port), translated_port(flow));
		assert_int_equal(rte_be_to_cpu_16(kept[i].src_port), 5000);
		assert_true(kept[i].checksums_right);
	}
	assert_int_equal(counted(0).delivered, 4 * FLOWS);
	assert_int_equal(counted(1).delivered, 4 * FLOWS);
	assert_int_equal(counted(1).frame_sample.changed, 0);
}

static void
back_ends_of_a_balancer_answer_and_not_its_service(void **state)
{
	struct weir_stream_config configs[2];

	(void)state;
	both_ways(configs);
	translates = false;
	balances = true;
	run_both_ends(configs);
	run(true, 0);
	assert_int_equal(learned_of_stream(0).arrived, FLOWS);
	assert_int_equal(learned_of_stream(0).translated, FLOWS);
	run(false, 4 * FLOWS);
	assert_int_equal(kept_count, 4 * FLOWS);
	for (uint32_t i = 0; i < kept_count; i++) {
		uint32_t client = rte_be_to_cpu_32(kept[i].dst_ip);

		assert_int_equal(rte_be_to_cpu_32(kept[i].src_ip), BACKEND_IP + client % 2);
		assert_int_equal(rte_be_to_cpu_16(kept[i].src_port), BACKEND_PORT);
		assert_true(kept[i].checksums_right);
	}
	assert_int_equal(counted(1).delivered, 4 * FLOWS);
}

static void
what_is_translated_no_more_is_answered_as_it_was_sent(void **state)
{
	struct weir_stream_config configs[2];
	struct weir_flow before[FLOWS];

	(void)state;
	both_ways(configs);
	run_both_ends(configs);
	memcpy(before, weir_stream_at(1)->sender.flows.flow, sizeof(before));
	run(true, 0);
	assert_memory_not_equal(weir_stream_at(1)->sender.flows.flow, before, sizeof(before));
	translates = false;
	run(true, 0);
	assert_int_equal(learned_of_stream(0).translated, 0);
	assert_memory_equal(weir_stream_at(1)->sender.flows.flow, before, sizeof(before));
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
	run_both_ends(configs);
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
	run_both_ends(configs);
	after = weir_stream_at(1)->sender.flows.flow;
	before = after[7];
	run(true, 0);
	assert_int_equal(learned_of_stream(0).arrived, FLOWS - 1);
	assert_memory_equal(&before, &after[7], sizeof(before));
	assert_int_equal(rte_be_to_cpu_32(after[8].dst_ip), TRANSLATED_IP);
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
	run_both_ends(configs);
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
	run_both_ends(configs);
	run(false, FLOWS);
	assert_false(weir_stream_learned(0, &learned));
	assert_false(weir_stream_learned(1, &learned));
	assert_int_not_equal(rte_be_to_cpu_32(kept[0].dst_ip), TRANSLATED_IP);
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
	run_both_ends(configs);
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
	run_both_ends(configs);
	assert_int_equal(weir_run_start(&asked, &error), -1);
	assert_string_equal(error.where, "learn");
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, make_both_ends, free_both_ends)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_flow_is_answered_where_it_is_seen_to_come_from),
		TEST(back_ends_of_a_balancer_answer_and_not_its_service),
		TEST(what_is_translated_no_more_is_answered_as_it_was_sent),
		TEST(without_translation_the_flows_back_stay_as_they_are),
		TEST(a_flow_that_does_not_arrive_keeps_what_it_had),
		TEST(every_flow_of_a_drawn_order_is_learned_and_then_drawn_again),
		TEST(a_run_of_load_learns_nothing),
		TEST(numbers_beyond_the_flows_and_other_protocols_are_not_noted),
		TEST(only_a_stream_with_the_same_known_flows_can_be_answered),
		TEST(a_run_cannot_learn_where_no_stream_answers),
	};

	return cmocka_run_group_tests(tests, start_both_ends, NULL);
}
