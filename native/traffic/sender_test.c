/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of what is sent, against a checker that shares nothing with the sender: it reads byte
 * by byte, big endian, and sums with the carry brought round at each step (RFC 1071).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>
#include <rte_cycles.h>

#include "fixtures_test.h"
#include "frame.h"
#include "imix.h"
#include "stream.h"

#define ALL (WEIR_VARY_SRC_IP | WEIR_VARY_DST_IP | WEIR_VARY_SRC_PORT | WEIR_VARY_DST_PORT)

static uint32_t
read_big(const uint8_t *at, unsigned int bytes)
{
	uint32_t value = 0;

	while (bytes-- > 0)
		value = value << 8 | *at++;
	return value;
}

static uint64_t
read_little(const uint8_t *at, unsigned int bytes)
{
	uint64_t value = 0;

	while (bytes-- > 0)
		value = value << 8 | at[bytes];
	return value;
}

static uint32_t
sum_on(uint32_t sum, const uint8_t *at, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		sum += i % 2 == 0 ? (uint32_t)at[i] << 8 : at[i];
		if (sum > 0xffff)
			sum = (sum & 0xffff) + 1;
	}
	return sum;
}

/* Ethernet and the tag; returns where IP begins. */
static size_t
check_link(const uint8_t *bytes, const struct weir_template *template)
{
	size_t at = 12;

	assert_memory_equal(bytes, &template->dst_mac, 6);
	assert_memory_equal(bytes + 6, &template->src_mac, 6);
	if (template->tagged) {
		assert_int_equal(read_big(bytes + at, 2), 0x8100);
		assert_int_equal(read_big(bytes + at + 2, 2), template->vlan);
		at += 4;
	}
	assert_int_equal(read_big(bytes + at, 2), template->ip_version == 4 ? 0x0800 : 0x86dd);
	return at + 2;
}

/* The IP header; returns where it ends, and in *pseudo the sum of the pseudo header. */
static size_t
check_network(const uint8_t *ip, size_t left, const struct weir_template *template,
	      uint32_t *pseudo)
{
	uint8_t protocol = template->tcp ? 6 : 17;
	size_t header = template->ip_version == 4 ? 20 : 40;
	const uint8_t trailer[4] = {0, protocol, (left - header) >> 8, (left - header) & 255};

	if (template->ip_version == 4) {
		assert_int_equal(ip[0], 0x45);
		assert_int_equal(read_big(ip + 2, 2), left);
		assert_int_equal(ip[8], 64);
		assert_int_equal(ip[9], protocol);
		assert_int_equal(sum_on(0, ip, 20), 0xffff);
		*pseudo = sum_on(0, ip + 12, 8);
	} else {
		assert_int_equal(read_big(ip, 4), 6u << 28);
		assert_int_equal(read_big(ip + 4, 2), left - 40);
		assert_int_equal(ip[6], protocol);
		assert_int_equal(ip[7], 64);
		assert_memory_equal(ip + 8, template->src_ip, 12);
		assert_memory_equal(ip + 24, template->dst_ip, 12);
		*pseudo = sum_on(0, ip + 8, 32);
	}
	*pseudo = sum_on(*pseudo, trailer, 4);
	return header;
}

static size_t
check_transport(const uint8_t *l4, size_t left, const struct weir_template *template,
		uint32_t pseudo)
{
	assert_int_equal(sum_on(pseudo, l4, left), 0xffff);
	if (template->tcp) {
		assert_int_equal(l4[12], 0x50);
		assert_int_equal(l4[13], 0x10);
		return 20;
	}
	assert_int_equal(read_big(l4 + 4, 2), left);
	assert_int_not_equal(read_big(l4 + 6, 2), 0); /* zero would mean: none */
	return 8;
}

/* A whole packet of stream 3 in run 77. Returns its transport checksum. */
static uint16_t
check_packet(const struct rte_mbuf *packet, const struct weir_template *template,
	     uint16_t frame_bytes, uint32_t sequence)
{
	const uint8_t *bytes = rte_pktmbuf_mtod(packet, const uint8_t *);
	size_t length = frame_bytes - 4, at, l4;
	uint32_t pseudo;

	assert_int_equal(packet->nb_segs, 1);
	assert_int_equal(packet->data_len, length);
	assert_int_equal(packet->pkt_len, length);
	at = check_link(bytes, template);
	l4 = at + check_network(bytes + at, length - at, template, &pseudo);
	at = l4 + check_transport(bytes + l4, length - l4, template, pseudo);
	assert_int_equal(read_little(bytes + at + 2, 2), 77);
	assert_int_equal(read_little(bytes + at + 4, 2), 3);
	assert_int_equal(read_little(bytes + at + 6, 4), sequence);
	assert_in_range(rte_rdtsc() - read_little(bytes + at + 10, 8), 0, rte_get_tsc_hz());
	for (at += 18; at < length; at++)
		assert_int_equal(bytes[at], 0);
	return read_big(bytes + l4 + (template->tcp ? 16 : 6), 2);
}

static void
prepare(struct weir_sender *sender, struct weir_stream_config *config)
{
	struct weir_error error;

	config->id = 3;
	assert_int_equal(weir_sender_prepare(sender, config, false, &error), 0);
	weir_sender_ready(sender, 77, weir_pacing_of(0, 1000000, rte_get_tsc_hz(), false, 1));
	weir_sender_begin(sender, rte_rdtsc());
}

static void
every_template_size_and_flow_has_right_bytes_and_sums(void **state)
{
	static const uint16_t sizes[] = {0,   1,   2,	65,  101,  127,	 128,  129,
					 256, 511, 512, 513, 1024, 1280, 1517, 1518};

	(void)state;
	for (int kind = 0; kind < 8; kind++) {
		struct weir_template template = template_of(kind & 1, kind & 2, kind & 4);
		uint16_t least = weir_frame_minimum(&template);

		for (unsigned int z = 0; z < RTE_DIM(sizes); z++) {
			uint16_t frame_bytes = sizes[z] < 3 ? least + sizes[z] : sizes[z];
			struct weir_stream_config config = stream_of(template, frame_bytes);
			struct weir_sender sender;
			struct rte_mbuf *packets[32];

			if (frame_bytes < least)
				continue;
			config.flow_count = 500;
			config.vary = ALL;
			prepare(&sender, &config);
			for (uint32_t sent = 0; sent < 512; sent += 32, sender.offered += 32) {
				assert_true(weir_sender_fill(&sender, packets, 32));
				for (uint32_t i = 0; i < 32; i++)
					check_packet(packets[i], &template, frame_bytes, sent + i);
				rte_pktmbuf_free_bulk(packets, 32);
			}
			weir_sender_free(&sender);
		}
	}
}

static void
a_udp_checksum_that_computes_to_zero_is_sent_as_all_ones(void **state)
{
	struct weir_stream_config config = stream_of(template_of(false, false, false), 64);
	unsigned int all_ones = 0;
	struct weir_sender sender;
	struct rte_mbuf *packets[32];

	(void)state;
	config.flow_count = 300000;
	config.vary = ALL;
	prepare(&sender, &config);
	for (uint32_t sent = 0; sent < config.flow_count; sent += 32, sender.offered += 32) {
		assert_true(weir_sender_fill(&sender, packets, 32));
		for (uint32_t i = 0; i < 32; i++)
			all_ones +=
				check_packet(packets[i], &config.template, 64, sent + i) == 0xffff;
		rte_pktmbuf_free_bulk(packets, 32);
	}
	assert_int_not_equal(all_ones, 0);
	weir_sender_free(&sender);
}

static int
by_tuple(const void *left, const void *right)
{
	return memcmp(left, right, 12);
}

static void
uniform_flows_are_sent_in_turn(void **state)
{
	enum { FLOWS = 96 };
	static uint8_t tuples[3 * FLOWS][12];
	struct weir_stream_config config = stream_of(template_of(false, true, false), 128);
	struct weir_sender sender;
	struct rte_mbuf *packets[32];

	(void)state;
	config.flow_count = FLOWS;
	config.vary = ALL;
	prepare(&sender, &config);
	for (unsigned int sent = 0; sent < RTE_DIM(tuples); sent++) {
		assert_true(weir_sender_fill(&sender, packets, 1));
		memcpy(tuples[sent], rte_pktmbuf_mtod_offset(packets[0], uint8_t *, 26), 12);
		rte_pktmbuf_free(packets[0]);
	}
	assert_memory_equal(tuples[0], tuples[FLOWS], sizeof(tuples) * 2 / 3);
	qsort(tuples, FLOWS, 12, by_tuple);
	for (unsigned int i = 1; i < FLOWS; i++)
		assert_int_not_equal(by_tuple(tuples[i - 1], tuples[i]), 0);
	weir_sender_free(&sender);
}

static void
an_imix_sends_each_size_in_the_share_of_its_letters(void **state)
{
	struct weir_stream_config config = stream_of(template_of(false, false, false), 64);
	unsigned int seen[1519] = {0};
	struct weir_error error;
	struct weir_sender sender;
	struct rte_mbuf *packets[32];
	int letters;

	(void)state;
	letters = weir_imix_sizes("aaaaaaaddddg", config.frame_bytes, WEIR_FRAME_SEQUENCE_MAX,
				  "frame", &error);
	config.frame_count = letters;
	prepare(&sender, &config);
	/* Buffers come round again with other sizes: 36,000 packets, 16,383 buffers. */
	for (uint32_t sent = 0; sent < 36000; sent += 32, sender.offered += 32) {
		assert_true(weir_sender_fill(&sender, packets, 32));
		for (uint32_t i = 0; i < 32; i++) {
			seen[packets[i]->pkt_len + 4]++;
			check_packet(packets[i], &config.template, packets[i]->pkt_len + 4,
				     sent + i);
		}
		rte_pktmbuf_free_bulk(packets, 32);
	}
	assert_int_equal(seen[64], 36000 * 7 / 12);
	assert_int_equal(seen[512], 36000 * 4 / 12);
	assert_int_equal(seen[1518], 36000 / 12);
	weir_sender_free(&sender);
}

static void
a_mix_with_jumbo_frames_sends_each_size_in_the_share_of_its_letters(void **state)
{
	struct weir_stream_config config = stream_of(template_of(false, false, true), 64);
	unsigned int seen[WEIR_FRAME_BYTES_MAX + 5] = {0};
	struct weir_error error;
	struct weir_sender sender;
	struct rte_mbuf *packets[12];

	(void)state;
	config.frame_count = weir_imix_sizes("aaaaaaaAAAAB:A=570:B=9220", config.frame_bytes,
					     WEIR_FRAME_SEQUENCE_MAX, "frame", &error);
	assert_int_equal(config.frame_count, 12);
	config.frame_bytes[0] = 68; /* the smallest with a tag */
	for (unsigned int i = 1; i < 7; i++)
		config.frame_bytes[i] = 68;
	prepare(&sender, &config);
	for (uint32_t sent = 0; sent < 1200; sent += 12, sender.offered += 12) {
		assert_true(weir_sender_fill(&sender, packets, 12));
		for (uint32_t i = 0; i < 12; i++) {
			seen[packets[i]->pkt_len + 4]++;
			check_packet(packets[i], &config.template, packets[i]->pkt_len + 4,
				     sent + i);
		}
		rte_pktmbuf_free_bulk(packets, 12);
	}
	assert_int_equal(seen[68], 700);
	assert_int_equal(seen[570], 400);
	assert_int_equal(seen[9220], 100);
	weir_sender_free(&sender);
}

static void
a_longer_head_leaves_nothing_in_the_buffers_of_a_shorter_one(void **state)
{
	struct rte_mbuf *packets[32];

	(void)state;
	/* All templates twice, each through every buffer that the one before it used. */
	for (int kind = 15; kind >= 0; kind--) {
		struct weir_stream_config config =
			stream_of(template_of(kind & 1, kind & 2, kind & 4), 200);
		struct weir_sender sender;

		prepare(&sender, &config);
		for (uint32_t sent = 0; sent < 2048; sent += 32, sender.offered += 32) {
			assert_true(weir_sender_fill(&sender, packets, 32));
			for (uint32_t i = 0; i < 32; i++)
				check_packet(packets[i], &config.template, 200, sent + i);
			rte_pktmbuf_free_bulk(packets, 32);
		}
		weir_sender_free(&sender);
	}
}

static void
what_was_due_before_a_gap_is_sent_before_the_gap_is_skipped(void **state)
{
	struct weir_stream_config config = stream_of(template_of(false, false, false), 64);
	struct weir_sender sender;
	struct weir_error error;
	struct rte_mbuf *packets[32];

	(void)state;
	assert_int_equal(weir_sender_prepare(&sender, &config, false, &error), 0);
	weir_sender_ready(&sender, 1, weir_pacing_of(1e6, 1000000, 1000000000, false, 1));
	weir_sender_begin(&sender, 1000000); /* a packet each 1,000 cycles */
	weir_slices_begin(&sender.slices, 2, 500000, 0.001);
	weir_sender_skip(&sender, 1000000 + 40000, 1000000 + 100000);
	assert_int_equal(weir_sender_room(&sender), 40);
	assert_true(weir_sender_fill(&sender, packets, 32));
	rte_pktmbuf_free_bulk(packets, 32);
	assert_int_equal(weir_sender_room(&sender), 8);
	/* One that comes meanwhile is made up for. */
	weir_sender_skip(&sender, 1000000 + 150000, 1000000 + 200000);
	assert_true(weir_sender_fill(&sender, packets, 8));
	rte_pktmbuf_free_bulk(packets, 8);
	assert_true(weir_sender_room(&sender) > 1000);
	assert_int_equal(sender.sequence, 100);
	assert_int_equal(sender.offered, 40);
	assert_int_equal(sender.slices.slice[0].packets, 60);
	weir_sender_skip(&sender, 1000000 + 90000, 1000000 + 600000);
	assert_int_equal(sender.sequence, 600);
	assert_int_equal(sender.slices.slice[0].packets, 60 + 400);
	assert_int_equal(sender.slices.slice[1].packets, 100);
	weir_sender_free(&sender);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_template_size_and_flow_has_right_bytes_and_sums),
		cmocka_unit_test(a_udp_checksum_that_computes_to_zero_is_sent_as_all_ones),
		cmocka_unit_test(uniform_flows_are_sent_in_turn),
		cmocka_unit_test(
			a_mix_with_jumbo_frames_sends_each_size_in_the_share_of_its_letters),
		cmocka_unit_test(an_imix_sends_each_size_in_the_share_of_its_letters),
		cmocka_unit_test(a_longer_head_leaves_nothing_in_the_buffers_of_a_shorter_one),
		cmocka_unit_test(what_was_due_before_a_gap_is_sent_before_the_gap_is_skipped),
	};

	return cmocka_run_group_tests(tests, start_eal, NULL);
}
