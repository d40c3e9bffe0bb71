/* SPDX-License-Identifier: Apache-2.0 */
/* What the receiver counts, packet by packet, from a ring in place of a port. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>
#include <rte_cycles.h>

#include "fixtures_test.h"
#include "frame.h"
#include "stream.h"

#define EPOCH 5

static struct rte_mempool *pool;
static struct weir_template template;
static uint8_t bytes[2048];

static int
make_pool(void **state)
{
	if (start_eal(state) < 0)
		return -1;
	pool = rte_pktmbuf_pool_create("test", 1023, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE,
				       SOCKET_ID_ANY);
	return pool == NULL ? -1 : 0;
}

/* Each test begins in a run that goes on, with nothing counted. */
static int
begin(void **state)
{
	struct weir_stream_config config;
	struct weir_error error;

	template = template_of(false, false, false);
	config = stream_of(template, 64);
	if (make_tester(state) < 0 || weir_streams_configure(&config, 1, &error) < 0)
		return -1;
	weir_epoch = EPOCH;
	weir_run_closed = false;
	return 0;
}

static int
end_with_all_buffers_back(void **state)
{
	return free_tester(state) < 0 || rte_mempool_avail_count(pool) != 1023 ? -1 : 0;
}

/* The frame in segments of those lengths; the last takes the rest. */
static void
arrive_in_segments(const uint8_t *frame, uint16_t length, const uint16_t *lengths,
		   unsigned int count)
{
	struct rte_mbuf *packet = NULL;

	for (unsigned int i = 0; i <= count; i++) {
		struct rte_mbuf *segment = rte_pktmbuf_alloc(pool);
		uint16_t part = i < count ? lengths[i] : length;

		memcpy(rte_pktmbuf_append(segment, part), frame, part);
		frame += part;
		length -= part;
		if (packet == NULL)
			packet = segment;
		else
			assert_int_equal(rte_pktmbuf_chain(packet, segment), 0);
	}
	assert_int_equal(weir_queue_transmit(&wire, &packet, 1), 1);
	assert_int_equal(receiver->poll(receiver, rte_rdtsc()), 1);
}

static void
arrive(const uint8_t *frame, uint16_t length)
{
	arrive_in_segments(frame, length, NULL, 0);
}

static void
arrive_stamped(uint16_t epoch, uint32_t sequence)
{
	arrive(bytes, stamped_frame(&template, 64, stamp_of(epoch, sequence), bytes));
}

static struct weir_receiver_count
receiver_counts(void)
{
	struct weir_receiver_count count;

	weir_receiver_counted(0, &count);
	return count;
}

static void
packets_are_counted_once_and_duplicates_and_reordering_apart(void **state)
{
	static const uint32_t order[] = {0, 1, 4, 2, 2, 5};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(order); i++)
		arrive_stamped(EPOCH, order[i]);
	assert_int_equal(stream_counts().delivered, 5); /* 3 was lost */
	assert_int_equal(stream_counts().duplicates, 1);
	assert_int_equal(stream_counts().reordered, 1);
	assert_int_equal(stream_counts().latency.count, 5);
}

static void
packets_of_another_run_are_stale(void **state)
{
	(void)state;
	arrive_stamped(EPOCH - 1, 0);
	arrive_stamped(EPOCH + 1, 0);
	arrive_stamped(EPOCH, 0);
	assert_int_equal(stream_counts().delivered, 1);
	assert_int_equal(stream_counts().stale, 2);
	assert_int_equal(receiver_counts().stale, 2);
}

static void
packets_after_the_drain_are_too_late(void **state)
{
	(void)state;
	arrive_stamped(EPOCH, 0);
	weir_run_closed = true;
	arrive_stamped(EPOCH, 1);
	arrive_stamped(EPOCH - 1, 1);
	assert_int_equal(stream_counts().delivered, 1);
	assert_int_equal(stream_counts().too_late, 1);
	assert_int_equal(stream_counts().stale, 1);
}

static void
packets_of_others_are_foreign(void **state)
{
	static const uint8_t arp[60] = {[12] = 0x08, [13] = 0x06};
	struct weir_stamp other = stamp_of(EPOCH, 0);
	uint16_t length;

	(void)state;
	arrive(arp, sizeof(arp));
	for (unsigned int id = 1; id <= UINT16_MAX; id += 21) { /* streams that are not there */
		other.stream = id;
		other.check = weir_stamp_check(&other);
		arrive(bytes, stamped_frame(&template, 64, other, bytes));
	}
	length = stamped_frame(&template, 64, stamp_of(EPOCH, 0), bytes);
	bytes[23] = 1; /* ICMP */
	arrive(bytes, length);
	assert_int_equal(receiver_counts().foreign, 2 + (UINT16_MAX + 20) / 21);
	assert_true(weir_port_foreign(1) >= receiver_counts().foreign); /* of all runs */
	assert_int_equal(weir_port_signals(1), 2);			/* the first and the last */
	assert_int_equal(weir_port_foreign(9) + weir_port_signals(9), 0);
	assert_int_equal(receiver_counts().malformed, 0);
	assert_int_equal(stream_counts().delivered, 0);
}

static void
a_stream_is_not_delivered_at_another_port(void **state)
{
	(void)state;
	weir_stream_at(0)->config.to_port_id = 9;
	arrive_stamped(EPOCH, 0);
	weir_stream_at(0)->config.to_port_id = 1;
	assert_int_equal(receiver_counts().foreign, 1);
	assert_int_equal(stream_counts().delivered, 0);
}

static void
truncated_packets_are_malformed_at_every_length(void **state)
{
	uint16_t length = stamped_frame(&template, 64, stamp_of(EPOCH, 0), bytes);

	(void)state;
	for (uint16_t cut = 1; cut < length; cut++)
		arrive(bytes, cut);
	assert_int_equal(receiver_counts().malformed, length - 1);
	assert_int_equal(stream_counts().delivered, 0);
}

static void
an_empty_packet_is_malformed(void **state)
{
	(void)state;
	arrive(bytes, 0);
	assert_int_equal(receiver_counts().malformed, 1);
}

static void
a_packet_in_segments_counts_like_one_in_a_piece(void **state)
{
	struct weir_template longest = template_of(true, true, true);
	uint32_t sequence = 0;

	(void)state;
	for (uint16_t cut = 0; cut <= 128; cut++) {
		uint16_t length = stamped_frame(&longest, 400, stamp_of(EPOCH, sequence++), bytes);
		const uint16_t halves[] = {cut}, thirds[] = {cut, 17};

		arrive_in_segments(bytes, length, halves, 1);
		stamped_frame(&longest, 400, stamp_of(EPOCH, sequence++), bytes);
		arrive_in_segments(bytes, length, thirds, 2);
	}
	assert_int_equal(stream_counts().delivered, sequence);
	assert_int_equal(receiver_counts().malformed + receiver_counts().foreign, 0);
}

#define RECEIVED(test) cmocka_unit_test_setup_teardown(test, begin, end_with_all_buffers_back)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		RECEIVED(packets_are_counted_once_and_duplicates_and_reordering_apart),
		RECEIVED(packets_of_another_run_are_stale),
		RECEIVED(packets_after_the_drain_are_too_late),
		RECEIVED(packets_of_others_are_foreign),
		RECEIVED(a_stream_is_not_delivered_at_another_port),
		RECEIVED(truncated_packets_are_malformed_at_every_length),
		RECEIVED(an_empty_packet_is_malformed),
		RECEIVED(a_packet_in_segments_counts_like_one_in_a_piece),
	};

	return cmocka_run_group_tests(tests, make_pool, NULL);
}
