/* SPDX-License-Identifier: Apache-2.0 */
/* Fields that change from packet to packet: their values, and that every frame stays right. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>
#include <rte_ip.h>
#include <rte_cycles.h>
#include <rte_mbuf.h>

#include "fixtures_test.h"
#include "stream.h"

#define EPOCH 9
#define BURST 32

static struct weir_packet_values
range(bool random, uint32_t from, uint64_t count)
{
	return (struct weir_packet_values){
		.random = random, .from = from, .count = count, .step = 1, .seed = 7};
}

static uint32_t
read_big(const uint8_t *at, size_t bytes)
{
	uint32_t value = 0;

	for (size_t i = 0; i < bytes; i++)
		value = value << 8 | at[i];
	return value;
}

/* Where the IP header begins. */
static size_t
network_of(const struct weir_template *template)
{
	return template->tagged ? 18 : 14;
}

/* What a frame says of a field. */
static uint32_t
read_field(const uint8_t *frame, const struct weir_template *template, enum weir_packet_field field)
{
	bool v4 = template->ip_version == 4;
	const uint8_t *ip = frame + network_of(template), *l4 = ip + (v4 ? 20 : 40);

	switch (field) {
	case WEIR_PACKET_SRC_IP:
		return read_big(ip + (v4 ? 12 : 20), 4);
	case WEIR_PACKET_DST_IP:
		return read_big(ip + (v4 ? 16 : 36), 4);
	case WEIR_PACKET_SRC_PORT:
		return read_big(l4, 2);
	case WEIR_PACKET_DST_PORT:
		return read_big(l4 + 2, 2);
	case WEIR_PACKET_VLAN:
		return read_big(frame + 14, 2) & 0xfff;
	case WEIR_PACKET_PRIORITY:
		return frame[14] >> 5;
	case WEIR_PACKET_DSCP:
		return v4 ? ip[1] >> 2 : read_big(ip, 4) >> 22 & 63;
	case WEIR_PACKET_TTL:
		return v4 ? ip[8] : ip[7];
	case WEIR_PACKET_PAYLOAD_BYTE:
		return l4[(template->tcp ? 20 : 8) + sizeof(struct weir_stamp)];
	case WEIR_PACKET_FIELDS:
		break;
	}
	return 0;
}

/* By DPDK's own arithmetic, over the whole packet. */
static void
check_sums(uint8_t *frame, const struct weir_template *template)
{
	void *ip = frame + network_of(template);
	uint8_t *l4 = (uint8_t *)ip + (template->ip_version == 4 ? 20 : 40);

	if (template->ip_version == 4) {
		assert_int_equal(rte_ipv4_cksum(ip), 0);
		assert_int_equal(rte_ipv4_udptcp_cksum_verify(ip, l4), 0);
	} else {
		assert_int_equal(rte_ipv6_udptcp_cksum_verify(ip, l4), 0);
	}
	if (!template->tcp)
		assert_int_not_equal(read_big(l4 + 6, 2), 0);
}

static void
every_field_of_every_template_is_written_and_sums_stay_right(void **state)
{
	static const uint16_t sizes[] = {101, 102, 128, 513, 1518};

	(void)state;
	for (unsigned int kind = 0; kind < 8 * RTE_DIM(sizes); kind++) {
		struct weir_template template = template_of(kind & 1, kind & 2, kind & 4);
		struct weir_stream_config config = stream_of(template, sizes[kind / 8]);
		struct weir_packet_fields *fields;
		struct rte_mbuf *packets[BURST];
		struct weir_error error;
		struct weir_sender *sender;

		config.flow_count = 50;
		config.vary = WEIR_VARY_SRC_IP | WEIR_VARY_DST_PORT;
		for (unsigned int f = 0; f < WEIR_PACKET_FIELDS; f++)
			config.fields[f] = range(f % 2 == 0, 1, 7);
		config.fields[WEIR_PACKET_SRC_IP] = range(true, 0, 1ull << 32);
		config.fields[WEIR_PACKET_DST_PORT] = range(true, 0, 65536);
		config.fields[WEIR_PACKET_PAYLOAD_BYTE] = range(true, 0, 256);
		if (!template.tagged)
			config.fields[WEIR_PACKET_VLAN].count =
				config.fields[WEIR_PACKET_PRIORITY].count = 0;
		assert_int_equal(weir_packet_fields_make(&config, &fields, &error), 0);
		configure(&config);
		sender = &weir_stream_at(0)->sender;
		weir_sender_ready(sender, EPOCH, (struct weir_pacing){0});
		for (uint32_t sent = 0; sent < 2048; sent += BURST) {
			assert_true(weir_sender_fill(sender, packets, BURST));
			for (uint32_t i = 0; i < BURST; i++) {
				uint8_t *frame = rte_pktmbuf_mtod(packets[i], uint8_t *);

				check_sums(frame, &template);
				for (unsigned int f = 0; f < fields->count; f++)
					assert_int_equal(
						read_field(frame, &template, fields->draw[f].field),
						weir_packet_value(&fields->draw[f], sent + i));
			}
			rte_pktmbuf_free_bulk(packets, BURST);
		}
		free(fields);
	}
}

static struct weir_packet_draw
draw_of(struct weir_packet_values values)
{
	struct weir_stream_config config = stream_of(template_of(false, false, true), 128);
	struct weir_packet_fields *fields;
	struct weir_error error;
	struct weir_packet_draw draw;

	config.fields[WEIR_PACKET_DST_PORT] = values;
	assert_int_equal(weir_packet_fields_make(&config, &fields, &error), 0);
	draw = fields->draw[0];
	free(fields);
	return draw;
}

static void
ranges_are_walked_through_and_round_again(void **state)
{
	struct weir_packet_values values = range(false, 100, 5);
	struct weir_packet_draw draw;

	(void)state;
	values.step = 10;
	draw = draw_of(values);
	for (uint32_t n = 0; n < 20; n++)
		assert_int_equal(weir_packet_value(&draw, n), 100 + n % 5 * 10);
}

static void
random_values_are_even_seeded_and_within_their_range(void **state)
{
	enum { VALUES = 16, PACKETS = 160000 };
	struct weir_packet_values values = range(true, 1000, VALUES);
	struct weir_packet_draw draw = draw_of(values), again = draw_of(values), other;
	unsigned int seen[VALUES] = {0}, alike = 0;

	(void)state;
	values.seed = 8;
	other = draw_of(values);
	for (uint32_t n = 0; n < PACKETS; n++) {
		uint32_t value = weir_packet_value(&draw, n);

		assert_in_range(value, 1000, 1000 + VALUES - 1);
		assert_int_equal(weir_packet_value(&again, n), value);
		alike += weir_packet_value(&other, n) == value;
		seen[value - 1000]++;
	}
	for (unsigned int i = 0; i < VALUES; i++)
		assert_in_range(seen[i], 9500, 10500); /* of 10,000: five deviations, seeded */
	assert_in_range(alike, 9500, 10500);
}

static void
values_of_a_list_come_by_their_weights(void **state)
{
	struct weir_packet_values values = {
		.random = true,
		.count = 1,
		.listed = 4,
		.seed = 3,
		.value = {53, 80, 443, 9},
		.weight = {1, 2, 7, 0},
	};
	struct weir_packet_draw draw = draw_of(values);
	unsigned int dns = 0, web = 0, safe = 0;

	(void)state;
	for (uint32_t n = 0; n < 100000; n++) {
		uint32_t value = weir_packet_value(&draw, n);

		dns += value == 53;
		web += value == 80;
		safe += value == 443;
	}
	assert_int_equal(dns + web + safe, 100000); /* 9 weighs nothing */
	assert_in_range(dns, 9500, 10500);
	assert_in_range(web, 19300, 20700);
}

/* A jump over packets that were due leaves each number its own values. */
static void
skipped_packets_take_their_values_along(void **state)
{
	struct weir_stream_config config = stream_of(template_of(false, false, false), 128);
	struct weir_sender *sender;
	struct rte_mbuf *packet;
	uint32_t expected;

	(void)state;
	config.fields[WEIR_PACKET_SRC_PORT] = range(true, 0, 65536);
	configure(&config);
	sender = &weir_stream_at(0)->sender;
	weir_sender_ready(sender, EPOCH, (struct weir_pacing){0});
	weir_slices_begin(&sender->slices, 2, 500000, 0.001);
	expected = weir_packet_value(&sender->fields->draw[0], 1000);
	sender->skip_from = 0;
	sender->skip_to = 1000;
	weir_sender_room_before_skip(sender);
	assert_true(weir_sender_fill(sender, &packet, 1));
	assert_int_equal(read_field(rte_pktmbuf_mtod(packet, uint8_t *), &config.template,
				    WEIR_PACKET_SRC_PORT),
			 expected);
	rte_pktmbuf_free(packet);
}

/* Every packet counts, and payloads that differ from packet to packet are compared. */
static void
receivers_know_what_was_drawn(void **state)
{
	enum { PACKETS = 67 * 60 };
	struct weir_stream_config config = stream_of(template_of(true, true, false), 300);
	struct weir_stream_count count;
	struct weir_sender *sender;

	(void)state;
	for (unsigned int f = WEIR_PACKET_SRC_IP; f <= WEIR_PACKET_DST_PORT; f++)
		config.fields[f] = range(true, 0, 60000);
	config.fields[WEIR_PACKET_PAYLOAD_BYTE] = range(true, 0, 256);
	configure(&config);
	weir_epoch = EPOCH;
	weir_run_closed = false;
	sender = &weir_stream_at(0)->sender;
	weir_sender_ready(sender, EPOCH, (struct weir_pacing){0});
	for (uint32_t i = 0; i < PACKETS; i++) {
		struct rte_mbuf *packet;

		assert_true(weir_sender_fill(sender, &packet, 1));
		if (i == 0) /* as a function that writes zeros over one byte */
			rte_pktmbuf_mtod(packet, uint8_t *)[200] ^= 0xff;
		assert_int_equal(weir_queue_transmit(&wire, &packet, 1), 1);
		assert_int_equal(receiver->poll(receiver, rte_rdtsc()), 1);
	}
	weir_delays_flush(&weir_stream_at(0)->arrivals.delays);
	weir_stream_counted(0, &count);
	assert_int_equal(count.delivered, PACKETS);
	assert_in_range(count.frame_sample.sampled, 30, 100);
	assert_int_equal(count.frame_sample.changed, 1);
	assert_int_equal(count.frame_sample.first.sequence, 0);
	assert_int_equal(count.frame_sample.first.what, WEIR_CHANGED_PAYLOAD);
	assert_int_equal(count.frame_sample.first.expected,
			 weir_packet_fields_payload(sender->fields, 0));
}

static void
what_does_not_fit_its_field_is_refused(void **state)
{
	static const struct {
		enum weir_packet_field field;
		uint32_t from;
	} wrong[] = {
		{WEIR_PACKET_SRC_PORT, 65533},
		{WEIR_PACKET_VLAN, 4092},
		{WEIR_PACKET_VLAN, 0},
		{WEIR_PACKET_PRIORITY, 5},
		{WEIR_PACKET_DSCP, 61},
		{WEIR_PACKET_TTL, 253},
		{WEIR_PACKET_SRC_IP, 0xfffffffd},
		{WEIR_PACKET_PAYLOAD_BYTE, 253},
	};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(wrong); i++) {
		struct weir_stream_config config = stream_of(template_of(false, false, true), 128);
		struct weir_packet_fields *fields;
		struct weir_error error;

		config.fields[wrong[i].field] = range(true, wrong[i].from, 4);
		assert_int_equal(weir_packet_fields_make(&config, &fields, &error), -1);
		assert_string_equal(error.code, "bad_argument");
		assert_null(fields);
	}
}

static void
vlans_may_be_listed_and_none_of_them_is_0(void **state)
{
	struct weir_stream_config config = stream_of(template_of(false, false, true), 128);
	struct weir_packet_values *vlans = &config.fields[WEIR_PACKET_VLAN];
	struct weir_packet_fields *fields = NULL;
	struct weir_error error;

	(void)state;
	*vlans = (struct weir_packet_values){
		.count = 1, .listed = 2, .value = {5, 4094}, .weight = {1, 1}};
	assert_int_equal(weir_packet_fields_make(&config, &fields, &error), 0);
	assert_non_null(fields);
	free(fields);
	vlans->value[1] = 0;
	assert_int_equal(weir_packet_fields_make(&config, &fields, &error), -1);
	assert_string_equal(error.message, "a value of vlan cannot be 0");
}

static void
frames_without_a_tag_have_no_vlan(void **state)
{
	struct weir_stream_config config = stream_of(template_of(false, false, false), 128);
	struct weir_packet_fields *fields;
	struct weir_error error;

	(void)state;
	config.fields[WEIR_PACKET_PRIORITY] = range(true, 0, 8);
	assert_int_equal(weir_packet_fields_make(&config, &fields, &error), -1);
}

#define WIRED(test) cmocka_unit_test_setup_teardown(test, make_tester, free_tester)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		WIRED(every_field_of_every_template_is_written_and_sums_stay_right),
		cmocka_unit_test(ranges_are_walked_through_and_round_again),
		cmocka_unit_test(random_values_are_even_seeded_and_within_their_range),
		cmocka_unit_test(values_of_a_list_come_by_their_weights),
		WIRED(skipped_packets_take_their_values_along),
		WIRED(receivers_know_what_was_drawn),
		cmocka_unit_test(what_does_not_fit_its_field_is_refused),
		cmocka_unit_test(vlans_may_be_listed_and_none_of_them_is_0),
		cmocka_unit_test(frames_without_a_tag_have_no_vlan),
	};

	return cmocka_run_group_tests(tests, start_eal, NULL);
}
