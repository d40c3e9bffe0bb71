/* SPDX-License-Identifier: Apache-2.0 */
/* How the frames of a capture are sent, at which times, and how they are counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <rte_cycles.h>

#include "capture_fixture_test.h"
#include "fixtures_test.h"
#include "stream.h"

#define EPOCH 9

static int
make_all(void **state)
{
	return write_capture(state) < 0 ? -1 : make_tester(state);
}

static struct weir_stream_config
replay(bool stamped)
{
	struct weir_stream_config config = stream_of(template_of(false, false, false), 64);

	snprintf(config.capture, sizeof(config.capture), "%s", capture_path);
	config.stamped = stamped;
	return config;
}

static struct weir_sender *
begin(const struct weir_stream_config *config)
{
	struct weir_sender *sender;

	configure(config);
	weir_epoch = EPOCH;
	weir_run_closed = false;
	sender = &weir_stream_at(0)->sender;
	weir_sender_ready(sender, EPOCH, weir_pacing_of(0, 1000000, rte_get_tsc_hz(), false, 1));
	return sender;
}

static void
frames_are_sent_byte_by_byte_in_order_and_again(void **state)
{
	struct weir_stream_config config = replay(false);
	struct weir_sender *sender = begin(&config);
	uint64_t bytes = 0;

	(void)state;
	for (unsigned int i = 0; i < FRAMES; i++)
		bytes += capture_lengths[i];
	for (unsigned int i = 0; i < 3 * FRAMES; i++) {
		struct rte_mbuf *packet;

		assert_true(weir_sender_fill(sender, &packet, 1));
		assert_int_equal(packet->pkt_len, capture_lengths[i % FRAMES]);
		assert_memory_equal(rte_pktmbuf_mtod(packet, uint8_t *), capture_frames[i % FRAMES],
				    capture_lengths[i % FRAMES]);
		assert_int_equal(weir_queue_transmit(&wire, &packet, 1), 1);
		assert_int_equal(receiver->poll(receiver, rte_rdtsc()), 1);
	}
	assert_int_equal(stream_counts().delivered, 3 * FRAMES);
	assert_int_equal(stream_counts().offered_bytes, 3 * (bytes + FRAMES * RTE_ETHER_CRC_LEN));
	assert_int_equal(stream_counts().gaps, 0);
	assert_int_equal(stream_counts().frame_sample.sampled, 0);
}

static void
mac_addresses_are_the_templates_on_demand(void **state)
{
	struct weir_stream_config config = replay(false);
	struct weir_sender *sender;
	struct rte_mbuf *packet;

	(void)state;
	config.template_macs = true;
	sender = begin(&config);
	assert_true(weir_sender_fill(sender, &packet, 1));
	assert_memory_equal(rte_pktmbuf_mtod(packet, uint8_t *), "\2\0\0\0\0\2\2\0\0\0\0\1", 12);
	assert_memory_equal(rte_pktmbuf_mtod(packet, uint8_t *) + 12, capture_frames[0] + 12,
			    capture_lengths[0] - 12);
	rte_pktmbuf_free(packet);
}

/* One is lost; later on the last byte of each frame of the file's last one changes. */
static void
stamped_frames_are_counted_one_by_one_and_compared(void **state)
{
	struct weir_stream_config config = replay(true);
	struct weir_sender *sender = begin(&config);
	struct rte_mbuf *packet;

	(void)state;
	for (unsigned int i = 0; i < 68; i++) {
		assert_true(weir_sender_fill(sender, &packet, 1));
		if (i == 5) {
			rte_pktmbuf_free(packet); /* lost */
			continue;
		}
		assert_int_equal(weir_queue_transmit(&wire, &packet, 1), 1);
		assert_int_equal(receiver->poll(receiver, rte_rdtsc()), 1);
	}
	assert_int_equal(stream_counts().delivered, 67);
	assert_int_equal(stream_counts().gaps, 1);
	assert_int_equal(stream_counts().latency.count, 67);
	assert_int_equal(stream_counts().frame_sample.changed, 0);
	for (unsigned int i = 68; i < 68 + 3000; i++) {
		assert_true(weir_sender_fill(sender, &packet, 1));
		if (i % 3 == 2)
			rte_pktmbuf_mtod(packet, uint8_t *)[capture_lengths[2] - 1] ^= 0xff;
		assert_int_equal(weir_queue_transmit(&wire, &packet, 1), 1);
		assert_int_equal(receiver->poll(receiver, rte_rdtsc()), 1);
	}
	assert_in_range(stream_counts().frame_sample.changed, 1,
			stream_counts().frame_sample.sampled - 1);
	assert_int_equal(stream_counts().frame_sample.first.sequence % 3, 2);
	assert_int_equal(stream_counts().frame_sample.first.what, WEIR_CHANGED_PAYLOAD);
	assert_int_equal(stream_counts().frame_sample.first.expected,
			 capture_frames[2][capture_lengths[2] - 1]);
	assert_int_equal(stream_counts().frame_sample.first.received,
			 (uint8_t)(capture_frames[2][capture_lengths[2] - 1] ^ 0xff));
}

static void
recorded_gaps_are_kept_at_the_rate_of_the_run(void **state)
{
	static const double gaps_ns[FRAMES] = {2e6, 1e6, 3e6};
	/* 1,000 cycles a packet in the mean: 500 for a millisecond of the record. */
	struct weir_pacing pacing = weir_pacing_of(1000, 1000000000, 1000000, false, 1);
	static const uint64_t due_cycles[] = {0, 500, 2000, 3000, 3500, 5000, 6000};

	(void)state;
	weir_pacing_record(&pacing, gaps_ns, FRAMES, 2e6);
	pacing.start_tsc = 100;
	for (uint64_t i = 0; i < RTE_DIM(due_cycles); i++) {
		if (due_cycles[i] > 0)
			assert_int_equal(weir_pacing_due(&pacing, 100 + due_cycles[i] - 1, i + 1),
					 i);
		assert_int_equal(weir_pacing_due(&pacing, 100 + due_cycles[i] + 1, i + 1), i + 1);
		assert_int_equal(weir_pacing_drawn_tsc(&pacing, i), 100 + due_cycles[i]);
	}
}

static void
what_a_late_sender_did_not_draw_of_a_record_is_counted_gap_by_gap(void **state)
{
	/* Nine tenths of the time pass before the burst that the record ends with. */
	enum { COUNT = 1000 };
	double gaps[COUNT] = {[0] = 1, [1] = 0.9 * COUNT};
	struct weir_pacing pacing = weir_pacing_of(1000, 2500000000, 1000000, false, 1), once;
	uint64_t drawn;

	(void)state;
	for (unsigned int i = 2; i < COUNT; i++)
		gaps[i] = (0.1 * COUNT - 1) / (COUNT - 2);
	weir_pacing_record(&pacing, gaps, COUNT, 1);
	once = pacing;
	assert_int_equal(weir_pacing_due(&pacing, 950000, UINT64_MAX), 1 + 1 + 504);
	drawn = weir_pacing_due(&pacing, 950000, UINT64_MAX);
	/* Two passes, and half a one, of which only the first frame is due. */
	assert_int_equal(weir_pacing_intended(&pacing, drawn), 2 * COUNT + 1);
	assert_int_equal(weir_pacing_due(&pacing, 2500000, UINT64_MAX), 2 * COUNT + 1);
	assert_int_equal(weir_pacing_intended(&pacing, 0), 2 * COUNT + 1);
	/* Once, and ended in the burst: what is due by then, and no more than the record has. */
	once.duration_cycles = 950000;
	weir_pacing_limit(&once, COUNT);
	assert_int_equal(weir_pacing_due(&once, 10, UINT64_MAX), 1);
	assert_int_equal(weir_pacing_intended(&once, 1), 1 + 1 + 504);
	once.duration_cycles = 1010000;
	assert_int_equal(weir_pacing_intended(&once, 1), COUNT);
}

/* The frames of TCP, from the file's millisecond on: 1 ms, and 3 ms to the other one; twice as
 * fast. */
static void
a_file_sent_once_begins_as_late_as_its_frames_and_ends_with_them(void **state)
{
	struct weir_stream_config config = replay(false);
	const double rate_pps = 2 * 1e9 / 3e6;
	const struct weir_run_options run = {
		.rates_pps = &rate_pps,
		.duration_ns = 50000000,
		.drain_ns = 100000000,
	};
	struct weir_capture_facts facts;
	struct weir_stream_count count;
	const struct weir_pacing *pacing;
	struct weir_error error;

	(void)state;
	config.recorded = config.once = true;
	snprintf(config.capture_filter, sizeof(config.capture_filter), "greater 200");
	place(generator);
	place(receiver);
	configure(&config);
	assert_true(weir_stream_captured(0, &facts));
	assert_int_equal(facts.frames, 2);
	assert_true(facts.lead_ns == 1e6);
	assert_true(facts.span_ns == 3e6);
	start_loop();
	assert_int_not_equal(weir_run_start(&run, &error), -1);
	count = wait_for_end();
	assert_int_equal(count.intended, 2);
	assert_int_equal(count.offered, 2);
	assert_int_equal(count.delivered, 2);
	pacing = &weir_stream_at(0)->sender.pacing;
	assert_in_range(pacing->drawn_cycles[0], rte_get_tsc_hz() / 2000,
			rte_get_tsc_hz() / 2000 + 2);
	assert_in_range(pacing->drawn_cycles[1], rte_get_tsc_hz() / 500,
			rte_get_tsc_hz() / 500 + 2);
}

#define SENT(test) cmocka_unit_test_setup_teardown(test, make_all, free_tester)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		SENT(frames_are_sent_byte_by_byte_in_order_and_again),
		SENT(mac_addresses_are_the_templates_on_demand),
		SENT(stamped_frames_are_counted_one_by_one_and_compared),
		SENT(a_file_sent_once_begins_as_late_as_its_frames_and_ends_with_them),
		cmocka_unit_test(recorded_gaps_are_kept_at_the_rate_of_the_run),
		cmocka_unit_test(what_a_late_sender_did_not_draw_of_a_record_is_counted_gap_by_gap),
	};

	return cmocka_run_group_tests(tests, make_capture_file, remove_capture_file);
}
