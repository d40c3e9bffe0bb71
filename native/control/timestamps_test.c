/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrivals timed by a network card, from the port to the delay of a packet. Packets carry the stamp
 * of a time that the test plants, and are taken late.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_mbuf_dyn.h>

#include "control/timestamps.h"
#include "engine/loop.h"
#include "port/card_fixture_test.h"
#include "port/device_clock.h"
#include "testing/eal.h"
#include "traffic/fixtures_test.h"
#include "traffic/stream.h"

#define EPOCH 5
#define LATE_US 30

static struct weir_port *port;
static struct weir_area *sends, *receives;
static struct weir_template template;

/* A receiver at the card, in a run that goes on with nothing counted. */
static void
begin(enum weir_timestamps wish)
{
	unsigned int cpu = weir_core_number(0);
	struct weir_stream_config config;
	struct weir_error error;

	port = open_card(wish);
	assert_int_equal(weir_timestamps_check(port, wish, &error), 0);
	template = template_of(false, false, false);
	config = stream_of(template, 64);
	config.port_id = 1;
	config.to_port_id = 0;
	sends = weir_generator_create("sends", cpu, &wire, 1, &error);
	receives = weir_receiver_create("receives", cpu, &port->queue, 0, &error);
	assert_int_equal(weir_streams_configure(&config, 1, &error), 0);
	weir_epoch = EPOCH;
	weir_run_closed = false;
	weir_device_clock_follow(port->clock);
	weir_receiver_follow(0, &port->clock->line);
}

static int
end(void **state)
{
	weir_streams_clear();
	weir_generator_destroy(sends);
	weir_receiver_destroy(receives);
	return close_card(state);
}

static uint64_t
cycles_of_us(double us)
{
	return (uint64_t)(us * (double)rte_get_tsc_hz() / 1e6);
}

/* One packet, sent now, with that stamp or none; it is taken from the card much later. */
static void
arrive(uint32_t sequence, uint64_t tx_tsc, const uint64_t *card_stamp)
{
	struct weir_stamp stamp = stamp_of(EPOCH, sequence);
	struct rte_mbuf *packet = rte_pktmbuf_alloc(weir_test_pool());
	const struct weir_arrival_clock *clock = &port->clock->line;
	uint64_t late_tsc = rte_rdtsc() + cycles_of_us(LATE_US);
	uint8_t bytes[2048];
	uint16_t length;

	stamp.tx_tsc = tx_tsc;
	stamp.check = weir_stamp_check(&stamp);
	length = stamped_frame(&template, 64, stamp, bytes);
	memcpy(rte_pktmbuf_append(packet, length), bytes, length);
	if (card_stamp != NULL) {
		*RTE_MBUF_DYNFIELD(packet, clock->field_offset, rte_mbuf_timestamp_t *) =
			*card_stamp;
		packet->ol_flags |= clock->flag;
	}
	assert_int_equal(weir_queue_transmit(&port->queue, &packet, 1), 1);
	while (rte_rdtsc() < late_tsc)
		rte_pause();
	assert_int_equal(receives->poll(receives, rte_rdtsc()), 1);
}

/* One that took that long, if the card is right. */
static void
arrive_after(uint32_t sequence, uint64_t cycles)
{
	uint64_t tx_tsc = rte_rdtsc(), stamp = card_ticks(tx_tsc + cycles);

	arrive(sequence, tx_tsc, &stamp);
}

static struct weir_receiver_count
receiver_counts(void)
{
	struct weir_receiver_count count;

	weir_receiver_counted(0, &count);
	return count;
}

static double
exact_within_ns(void)
{
	return (double)weir_arrival_uncertainty(&port->clock->line, rte_rdtsc()) * 1e9 /
		       (double)rte_get_tsc_hz() +
	       weir_device_clock_resolution_ns(port->clock);
}

static void
planted_delays_are_read_as_exactly_as_stated_though_packets_are_taken_late(void **state)
{
	static const double planted_us[] = {1.5, 5, 25};
	double off_ns = 0;

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(planted_us); i++) {
		struct weir_stream_count counts;

		begin(WEIR_TIMESTAMPS_HARDWARE);
		for (uint32_t sequence = 0; sequence < 200; sequence++)
			arrive_after(sequence, cycles_of_us(planted_us[i]));
		counts = stream_counts();
		assert_int_equal(counts.latency.count, 200);
		off_ns = exact_within_ns();
		assert_true(counts.latency.min > planted_us[i] * 1e3 - off_ns);
		assert_true(counts.latency.max < planted_us[i] * 1e3 + off_ns);
		assert_true(off_ns < 5000); /* of 30 us that the poll is late */
		assert_int_equal(end(state), 0);
	}
}

static void
the_same_packets_by_the_counter_have_the_polls_delay(void **state)
{
	(void)state;
	weir_receiver_follow(0, NULL);
	for (uint32_t sequence = 0; sequence < 20; sequence++)
		arrive_after(sequence, cycles_of_us(5));
	assert_true(stream_counts().latency.min >= LATE_US * 1e3);
}

static void
a_stamp_that_cannot_be_true_gives_no_delay_and_the_packet_counts(void **state)
{
	uint64_t stamps[] = {
		0, UINT64_MAX,
		card_ticks(rte_rdtsc() - rte_get_tsc_hz() / 100), /* before it was sent */
		card_ticks(rte_rdtsc() + rte_get_tsc_hz()),	  /* after it was taken */
	};
	uint32_t sequence = 0;

	(void)state;
	arrive_after(sequence++, cycles_of_us(5));
	for (; sequence <= RTE_DIM(stamps); sequence++)
		arrive(sequence, rte_rdtsc(), &stamps[sequence - 1]);
	arrive(sequence++, rte_rdtsc(), NULL);
	arrive_after(sequence, cycles_of_us(5));
	assert_int_equal(stream_counts().delivered, 7);
	assert_int_equal(stream_counts().latency.count, 2);
	assert_true(stream_counts().latency.max < 5e3 + exact_within_ns());
	assert_int_equal(receiver_counts().timed, 2);
	assert_int_equal(receiver_counts().untimed, 5);
	assert_int_equal(stream_counts().negative, 3); /* the first three */
}

static void
a_gap_behind_a_packet_without_a_stamp_has_no_length(void **state)
{
	uint64_t tx_tsc = rte_rdtsc(), stamp = card_ticks(tx_tsc);

	(void)state;
	arrive(0, tx_tsc, NULL); /* timed by the late poll */
	arrive(2, tx_tsc, &stamp);
	assert_int_equal(stream_counts().gaps, 1);
	assert_true(stream_counts().longest_gap_ns < 1);
}

static void
a_packet_that_seems_to_arrive_before_it_was_sent_took_no_time(void **state)
{
	uint64_t tx_tsc = rte_rdtsc(), stamp;

	(void)state;
	stamp = card_ticks(tx_tsc - (uint64_t)(port->clock->line.uncertainty_cycles / 2));
	arrive(0, tx_tsc, &stamp);
	assert_int_equal(stream_counts().latency.count, 1);
	assert_true(stream_counts().latency.max < exact_within_ns());
	assert_int_equal(stream_counts().negative, 0);
}

static void
a_clock_that_is_set_in_a_run_is_counted_and_followed(void **state)
{
	(void)state;
	arrive_after(0, cycles_of_us(5));
	card.first_ticks += 37 * 1000000000ull; /* as ptp4l does, from UTC to TAI */
	arrive_after(1, cycles_of_us(5));
	assert_int_equal(receiver_counts().untimed, 1);
	rte_delay_us_sleep(WEIR_CLOCK_FOLLOW_MS * 1000 + 1000);
	assert_true(weir_clocks_follow());
	arrive_after(2, cycles_of_us(5));
	assert_int_equal(receiver_counts().clock_steps, 1);
	assert_int_equal(receiver_counts().timed, 2);
	assert_true(stream_counts().latency.max < 5e3 + exact_within_ns());
}

static void
where_stamps_were_a_wish_the_counter_takes_over_from_wrong_ones(void **state)
{
	json_t *json;

	(void)state;
	begin(WEIR_TIMESTAMPS_AUTO);
	arrive(0, rte_rdtsc(), NULL);
	weir_clocks_review();
	assert_null(port->clock);
	json = weir_timestamps_json(port);
	assert_string_equal(json_string_value(json_object_get(json, "clock")), "counter");
	assert_string_equal(json_string_value(json_object_get(json, "why")),
			    "1 of 1 packets came without a stamp that can be true");
	json_decref(json);
	assert_false(weir_clocks_follow());
	end(state);
}

static void
where_stamps_were_asked_for_nothing_takes_over(void **state)
{
	(void)state;
	arrive(0, rte_rdtsc(), NULL);
	weir_clocks_review();
	assert_non_null(port->clock);
}

static void
a_card_says_by_which_clock_and_how_exactly_it_times(void **state)
{
	json_t *json = weir_timestamps_json(port);

	(void)state;
	assert_string_equal(json_string_value(json_object_get(json, "clock")), "card");
	assert_string_equal(json_string_value(json_object_get(json, "driver")), "net_ring");
	assert_true(json_number_value(json_object_get(json, "resolution_ns")) >= 0.9);
	assert_true(json_number_value(json_object_get(json, "uncertainty_ns")) > 0);
	json_decref(json);
}

static void
hardware_timestamps_that_cannot_be_had_are_refused_with_port_driver_and_reason(void **state)
{
	struct weir_error error;

	(void)state;
	card.stamps = false;
	port = open_card(WEIR_TIMESTAMPS_HARDWARE);
	assert_int_equal(weir_timestamps_check(port, WEIR_TIMESTAMPS_HARDWARE, &error), -1);
	assert_string_equal(error.message,
			    "port tester.right (driver net_ring) has no hardware timestamps: its "
			    "driver offers no stamps on received packets");
	assert_string_equal(error.where, "tester.right");
}

static int
begin_hardware(void **state)
{
	new_card(state);
	begin(WEIR_TIMESTAMPS_HARDWARE);
	return 0;
}

#define RECEIVED(test) cmocka_unit_test_setup_teardown(test, begin_hardware, end)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(
			planted_delays_are_read_as_exactly_as_stated_though_packets_are_taken_late,
			new_card),
		RECEIVED(the_same_packets_by_the_counter_have_the_polls_delay),
		RECEIVED(a_stamp_that_cannot_be_true_gives_no_delay_and_the_packet_counts),
		RECEIVED(a_gap_behind_a_packet_without_a_stamp_has_no_length),
		RECEIVED(a_packet_that_seems_to_arrive_before_it_was_sent_took_no_time),
		RECEIVED(a_clock_that_is_set_in_a_run_is_counted_and_followed),
		RECEIVED(where_stamps_were_asked_for_nothing_takes_over),
		RECEIVED(a_card_says_by_which_clock_and_how_exactly_it_times),
		cmocka_unit_test_setup_teardown(
			hardware_timestamps_that_cannot_be_had_are_refused_with_port_driver_and_reason,
			new_card, close_card),
		cmocka_unit_test_setup(
			where_stamps_were_a_wish_the_counter_takes_over_from_wrong_ones, new_card),
	};

	return cmocka_run_group_tests(tests, start_eal, NULL);
}
