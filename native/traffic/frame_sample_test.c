/* SPDX-License-Identifier: Apache-2.0 */
/* Frames that change between the generator and the receiver are found out, and where. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <rte_byteorder.h>
#include <rte_cycles.h>

#include "fixtures_test.h"
#include "frame.h"
#include "stream.h"

#define EPOCH 9
#define ETHER_BYTES 14
#define IPV4_BYTES 20
#define UDP_BYTES 8
#define UDP_PAYLOAD (ETHER_BYTES + IPV4_BYTES + UDP_BYTES)

/* Packets of the stream go to the receiver, that of number `which` through `change`. */
static void
send_through(const struct weir_stream_config *config, uint32_t count, uint32_t which,
	     void (*change)(struct rte_mbuf *packet))
{
	struct weir_sender *sender;

	configure(config);
	weir_epoch = EPOCH;
	weir_run_closed = false;
	sender = &weir_stream_at(0)->sender;
	weir_sender_ready(sender, EPOCH, (struct weir_pacing){0});
	for (uint32_t i = 0; i < count; i++) {
		struct rte_mbuf *packet;

		assert_true(weir_sender_fill(sender, &packet, 1));
		if (i == which)
			change(packet);
		assert_int_equal(weir_queue_transmit(&wire, &packet, 1), 1);
		assert_int_equal(receiver->poll(receiver, rte_rdtsc()), 1);
	}
}

static struct weir_frame_sample
sampled(uint64_t delivered)
{
	struct weir_stream_count count;

	weir_delays_flush(&weir_stream_at(0)->arrivals.delays);
	weir_stream_counted(0, &count);
	assert_int_equal(count.delivered, delivered);
	return count.frame_sample;
}

static void
leave(struct rte_mbuf *packet)
{
	(void)packet;
}

static void
write_into_payload(struct rte_mbuf *packet)
{
	rte_pktmbuf_mtod(packet, uint8_t *)[UDP_PAYLOAD + 100] = 0xa5;
}

/* As a driver that leaves the FCS behind the frame. */
static void
append_four(struct rte_mbuf *packet)
{
	assert_non_null(rte_pktmbuf_append(packet, 4));
}

/* A shorter datagram, with lengths that say so. */
static void
cut_ten(struct rte_mbuf *packet)
{
	uint8_t *frame = rte_pktmbuf_mtod(packet, uint8_t *);
	uint16_t ip = rte_cpu_to_be_16(packet->data_len - ETHER_BYTES - 10);
	uint16_t udp = rte_cpu_to_be_16(packet->data_len - ETHER_BYTES - IPV4_BYTES - 10);

	memcpy(frame + ETHER_BYTES + 2, &ip, sizeof(ip));
	memcpy(frame + ETHER_BYTES + IPV4_BYTES + 4, &udp, sizeof(udp));
	assert_int_equal(rte_pktmbuf_trim(packet, 10), 0);
}

/* What functions do: MAC addresses, lifetime, addresses, ports, checksums. */
static void
rewrite_headers(struct rte_mbuf *packet)
{
	uint8_t *frame = rte_pktmbuf_mtod(packet, uint8_t *);

	memset(frame, 0x02, 12);
	frame[ETHER_BYTES + 1] ^= 0xfc;
	frame[ETHER_BYTES + 8]--;
	memset(frame + ETHER_BYTES + 10, 0x11, 10 + 4);
	memset(frame + ETHER_BYTES + IPV4_BYTES + 6, 0x22, 2);
}

static void
one_frame_of_67_in_the_mean_is_compared_and_the_first(void **state)
{
	struct weir_stream_config config = stream_of(template_of(false, false, false), 1518);
	uint64_t again;

	(void)state;
	send_through(&config, 1, 0, leave);
	assert_int_equal(sampled(1).sampled, 1);
	send_through(&config, 67 * 400, 0, leave);
	again = sampled(67 * 400).sampled;
	assert_in_range(again, 350, 450); /* of 400: two and a half times the deviation, seeded */
	assert_int_equal(sampled(67 * 400).changed, 0);
	send_through(&config, 67 * 400, 0, leave);
	assert_int_equal(sampled(67 * 400).sampled, again);
}

/* One flow of 67 is changed under way, and none of those that every 67th frame is of. */
static void
no_flow_hides_behind_a_period(void **state)
{
	struct weir_stream_config config = stream_of(template_of(false, false, false), 64);
	struct weir_sender *sender;

	(void)state;
	config.flow_count = 67;
	config.vary = WEIR_VARY_SRC_PORT;
	configure(&config);
	weir_epoch = EPOCH;
	weir_run_closed = false;
	sender = &weir_stream_at(0)->sender;
	weir_sender_ready(sender, EPOCH, (struct weir_pacing){0});
	for (uint32_t i = 0; i < 67 * 400; i++) {
		struct rte_mbuf *packet;

		assert_true(weir_sender_fill(sender, &packet, 1));
		if (i % 67 == 5)
			append_four(packet);
		assert_int_equal(weir_queue_transmit(&wire, &packet, 1), 1);
		assert_int_equal(receiver->poll(receiver, rte_rdtsc()), 1);
	}
	assert_in_range(sampled(67 * 400).changed, 1, 30);
}

static void
every_frame_of_a_mix_has_its_turn_and_its_own_length(void **state)
{
	(void)state;
	for (unsigned int kind = 0; kind < 8; kind++) {
		struct weir_stream_config config =
			stream_of(template_of(kind & 1, kind & 2, kind & 4), 128);

		config.frame_count = 3;
		config.frame_bytes[1] = 570;
		config.frame_bytes[2] = 1518;
		send_through(&config, 67 * 60, 0, leave);
		assert_in_range(sampled(67 * 60).sampled, 30, 100);
		assert_int_equal(sampled(67 * 60).changed, 0);
	}
}

static void
a_byte_of_the_payload_that_changed_is_named(void **state)
{
	struct weir_stream_config config = stream_of(template_of(false, false, false), 512);
	struct weir_frame_sample sample;

	(void)state;
	send_through(&config, 1, 0, write_into_payload);
	sample = sampled(1);
	assert_int_equal(sample.sampled, 1);
	assert_int_equal(sample.changed, 1);
	assert_int_equal(sample.first.what, WEIR_CHANGED_PAYLOAD);
	assert_int_equal(sample.first.sequence, 0);
	assert_int_equal(sample.first.offset_bytes, 100);
	assert_int_equal(sample.first.expected, 0);
	assert_int_equal(sample.first.received, 0xa5);
}

static void
a_longer_frame_is_found_by_what_is_behind_its_packet(void **state)
{
	struct weir_stream_config config = stream_of(template_of(false, false, false), 64);
	struct weir_frame_sample sample;

	(void)state;
	send_through(&config, 1, 0, append_four);
	sample = sampled(1);
	assert_int_equal(sample.changed, 1);
	assert_int_equal(sample.first.what, WEIR_CHANGED_TRAILER);
	assert_int_equal(sample.first.offset_bytes, 60 - UDP_PAYLOAD);
	assert_int_equal(sample.first.received, 4);
}

static void
a_shorter_datagram_is_found_by_its_length(void **state)
{
	struct weir_stream_config config = stream_of(template_of(false, false, false), 200);
	struct weir_frame_sample sample;

	(void)state;
	send_through(&config, 1, 0, cut_ten);
	sample = sampled(1);
	assert_int_equal(sample.changed, 1);
	assert_int_equal(sample.first.what, WEIR_CHANGED_LENGTH);
	assert_int_equal(sample.first.expected, 196 - UDP_PAYLOAD);
	assert_int_equal(sample.first.received, 186 - UDP_PAYLOAD);
	assert_int_equal(sample.first.offset_bytes, 186 - UDP_PAYLOAD);
}

static void
headers_may_change(void **state)
{
	struct weir_stream_config config = stream_of(template_of(false, false, false), 512);

	(void)state;
	send_through(&config, 1, 0, rewrite_headers);
	assert_int_equal(sampled(1).sampled, 1);
	assert_int_equal(sampled(1).changed, 0);
}

static void
a_frame_in_segments_is_compared_to_its_last_byte(void **state)
{
	struct weir_stream_config config = stream_of(template_of(false, false, false), 512);
	struct rte_mbuf *head, *tail;
	struct weir_frame_sample sample;
	struct weir_sender *sender;

	(void)state;
	configure(&config);
	weir_epoch = EPOCH;
	weir_run_closed = false;
	sender = &weir_stream_at(0)->sender;
	weir_sender_ready(sender, EPOCH, (struct weir_pacing){0});
	assert_true(weir_sender_fill(sender, &head, 1));
	tail = rte_pktmbuf_alloc(sender->pool);
	assert_non_null(tail);
	memset(rte_pktmbuf_append(tail, 8), 0, 8);
	rte_pktmbuf_mtod(tail, uint8_t *)[7] = 0x77;
	assert_int_equal(rte_pktmbuf_trim(head, 8), 0);
	assert_int_equal(rte_pktmbuf_chain(head, tail), 0);
	assert_int_equal(weir_queue_transmit(&wire, &head, 1), 1);
	assert_int_equal(receiver->poll(receiver, rte_rdtsc()), 1);
	sample = sampled(1);
	assert_int_equal(sample.changed, 1);
	assert_int_equal(sample.first.what, WEIR_CHANGED_PAYLOAD);
	assert_int_equal(sample.first.offset_bytes, 508 - 1 - UDP_PAYLOAD);
	assert_int_equal(sample.first.received, 0x77);
	/* Pools outlive their streams: their buffers must be zero again. */
	memset(rte_pktmbuf_mtod(tail, uint8_t *), 0, 8);
}

#define SAMPLED(test) cmocka_unit_test_setup_teardown(test, make_tester, free_tester)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		SAMPLED(one_frame_of_67_in_the_mean_is_compared_and_the_first),
		SAMPLED(no_flow_hides_behind_a_period),
		SAMPLED(every_frame_of_a_mix_has_its_turn_and_its_own_length),
		SAMPLED(a_longer_frame_is_found_by_what_is_behind_its_packet),
		SAMPLED(a_shorter_datagram_is_found_by_its_length),
		SAMPLED(headers_may_change),
		SAMPLED(a_frame_in_segments_is_compared_to_its_last_byte),
		/* Last: it leaves a buffer of the stream's pool with that byte. */
		SAMPLED(a_byte_of_the_payload_that_changed_is_named),
	};

	return cmocka_run_group_tests(tests, start_eal, NULL);
}
