/* SPDX-License-Identifier: Apache-2.0 */
/* Captures: what is read from a file, how it is sent and counted, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <netinet/in.h>
#include <pcap/pcap.h>
#include <rte_cycles.h>

#include "engine/loop.h"
#include "fixtures_test.h"
#include "frame.h"
#include "parser.h"
#include "stream.h"

#define EPOCH 9
#define FRAMES 3

static char path[] = "/tmp/weir-capture-test-XXXXXX";
static uint8_t frames[FRAMES][2048];
static uint16_t lengths[FRAMES];
/* From the first one; the mean gap is 2 ms. */
static const uint64_t at_ns[FRAMES] = {0, 1000000, 4000000};
static const struct weir_capture_wanted as_is = {.frame_bytes_max = 1522};
static const struct weir_capture_wanted with_stamps = {.frame_bytes_max = 1522, .stamp = true};

/* Three frames with payloads that count up: UDP over IPv4, TCP over IPv6, tagged TCP over IPv4. */
static void
make_frames(void)
{
	static const uint16_t sizes[FRAMES] = {90, 301, 1518};
	const struct weir_template templates[FRAMES] = {
		template_of(false, false, false),
		template_of(true, true, false),
		template_of(false, true, true),
	};

	for (unsigned int i = 0; i < FRAMES; i++) {
		uint16_t at = weir_frame_offsets(&templates[i]).stamp;

		lengths[i] = stamped_frame(&templates[i], sizes[i], stamp_of(1, 1), frames[i]);
		for (uint16_t byte = at; byte < lengths[i]; byte++)
			frames[i][byte] = (uint8_t)(byte + i);
		/* A checksum that is there, if a wrong one: none at all would stay so. */
		frames[i][weir_frame_offsets(&templates[i]).l4_checksum] = 0x12;
	}
}

static void
write_link(int link, uint32_t more_bytes)
{
	pcap_t *file =
		pcap_open_dead_with_tstamp_precision(link, 262144, PCAP_TSTAMP_PRECISION_NANO);
	pcap_dumper_t *dumper = pcap_dump_open(file, path);

	make_frames();
	assert_non_null(dumper);
	for (unsigned int i = 0; i < FRAMES; i++) {
		struct pcap_pkthdr header = {
			.ts = {.tv_sec = 1700000000, .tv_usec = (int)at_ns[i] + 5},
			.caplen = lengths[i],
			.len = lengths[i] + (i == 1 ? more_bytes : 0),
		};

		pcap_dump((u_char *)dumper, &header, frames[i]);
	}
	pcap_dump_close(dumper);
	pcap_close(file);
}

static int
write_capture(void **state)
{
	(void)state;
	write_link(DLT_EN10MB, 0);
	return 0;
}

static int
make_all(void **state)
{
	return write_capture(state) < 0 ? -1 : make_tester(state);
}

static void
write_bytes(const void *bytes, size_t size)
{
	FILE *file = fopen(path, "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	fclose(file);
}

static void
refused(const struct weir_capture_wanted *wanted, const char *said)
{
	struct weir_capture capture;
	struct weir_error error;

	assert_int_equal(weir_capture_open(path, wanted, &capture, &error), -1);
	assert_string_equal(error.where, "capture.path");
	if (strstr(error.message, said) == NULL)
		fail_msg("'%s' does not say '%s'", error.message, said);
	assert_null(capture.bytes);
}

static void
frames_and_gaps_are_those_of_the_file(void **state)
{
	struct weir_capture capture;
	struct weir_error error;

	(void)state;
	assert_int_equal(weir_capture_open(path, &as_is, &capture, &error), 0);
	assert_int_equal(capture.count, FRAMES);
	for (unsigned int i = 0; i < FRAMES; i++) {
		assert_int_equal(capture.offset[i + 1] - capture.offset[i], lengths[i]);
		assert_memory_equal(capture.bytes + capture.offset[i], frames[i], lengths[i]);
	}
	assert_true(capture.mean_gap_ns == 2e6);
	assert_true(capture.lead_ns == 0);
	assert_true(capture.gap_ns[0] == 2e6); /* when it begins again */
	assert_true(capture.gap_ns[1] == 1e6);
	assert_true(capture.gap_ns[2] == 3e6);
	weir_capture_free(&capture);
}

static void
files_that_cannot_be_sent_are_refused_with_the_frame(void **state)
{
	static const uint8_t garbage[64] = {0xd4, 0xc3, 0xb2, 0xa0, 7};
	const struct weir_capture_wanted small = {.frame_bytes_max = 1517};
	uint8_t file[4096];
	FILE *whole;
	size_t size;

	(void)state;
	refused(&small, "frame 3 of"); /* its 1514 bytes are one too many */
	write_link(DLT_EN10MB, 10);
	refused(&as_is, "frame 2 of");
	write_link(DLT_RAW, 0);
	refused(&as_is, "holds frames of");
	write_bytes(garbage, sizeof(garbage));
	refused(&as_is, "is no capture");
	write_bytes(garbage, 0);
	refused(&as_is, "is no capture");
	write_link(DLT_EN10MB, 0);
	whole = fopen(path, "rb");
	size = fread(file, 1, sizeof(file), whole);
	fclose(whole);
	write_bytes(file, size - 1);
	refused(&as_is, "behind its frame 2");
	write_bytes(file, 24);
	refused(&as_is, "has no frame");
	unlink(path);
	refused(&as_is, "No such file");
}

/* RFC 1071, byte by byte: the sum of a right packet with its pseudo header is all ones. */
static uint32_t
summed(const uint8_t *at, size_t bytes, uint32_t sum)
{
	for (size_t i = 0; i < bytes; i++) {
		sum += i % 2 == 0 ? (uint32_t)at[i] << 8 : at[i];
		sum = (sum & 0xffff) + (sum >> 16);
	}
	return sum;
}

static void
stamped_frames_have_right_checksums_and_the_rest_of_their_payload(void **state)
{
	struct weir_capture capture;
	struct weir_error error;

	(void)state;
	assert_int_equal(weir_capture_open(path, &with_stamps, &capture, &error), 0);
	for (unsigned int i = 0; i < FRAMES; i++) {
		uint8_t *frame = capture.bytes + capture.offset[i];
		struct weir_stamp stamp = stamp_of(7, 1000 + i), found;
		struct weir_payload payload;
		uint32_t sum;

		memcpy(frame + capture.stamp_at[i], &stamp, sizeof(stamp));
		assert_int_equal(weir_parse(frame, lengths[i], lengths[i], &found),
				 WEIR_PARSED_STAMP);
		assert_true(weir_parse_payload(frame, lengths[i], lengths[i], &payload));
		assert_memory_equal(frame + payload.at + sizeof(stamp),
				    frames[i] + payload.at + sizeof(stamp),
				    lengths[i] - payload.at - sizeof(stamp));
		sum = payload.end - payload.transport + payload.protocol;
		sum = frame[payload.network] >> 4 == 4
			      ? summed(frame + payload.network + 12, 8, sum)
			      : summed(frame + payload.network + 8, 32, sum);
		sum = summed(frame + payload.transport, payload.end - payload.transport, sum);
		assert_int_equal(sum, 0xffff);
	}
	weir_capture_free(&capture);
}

static void
a_frame_without_room_for_a_stamp_is_refused_where_stamps_are_wanted(void **state)
{
	struct pcap_pkthdr header = {.caplen = 60, .len = 60};
	static const uint8_t arp[60] = {[12] = 0x08, [13] = 0x06};
	pcap_t *file = pcap_open_dead(DLT_EN10MB, 65535);
	pcap_dumper_t *dumper = pcap_dump_open(file, path);
	struct weir_capture capture;
	struct weir_error error;

	(void)state;
	pcap_dump((u_char *)dumper, &header, arp);
	pcap_dump_close(dumper);
	pcap_close(file);
	refused(&with_stamps, "frame 1 of");
	assert_int_equal(weir_capture_open(path, &as_is, &capture, &error), 0);
	assert_true(capture.mean_gap_ns == 0);
	weir_capture_free(&capture);
}

static struct weir_stream_config
replay(bool stamped)
{
	struct weir_stream_config config = stream_of(template_of(false, false, false), 64);

	snprintf(config.capture, sizeof(config.capture), "%s", path);
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

static struct weir_stream_count
counted(void)
{
	struct weir_stream_count count;

	weir_delays_flush(&weir_stream_at(0)->arrivals.delays);
	weir_stream_counted(0, &count);
	return count;
}

static void
frames_are_sent_byte_by_byte_in_order_and_again(void **state)
{
	struct weir_stream_config config = replay(false);
	struct weir_sender *sender = begin(&config);

	(void)state;
	for (unsigned int i = 0; i < 3 * FRAMES; i++) {
		struct rte_mbuf *packet;

		assert_true(weir_sender_fill(sender, &packet, 1));
		assert_int_equal(packet->pkt_len, lengths[i % FRAMES]);
		assert_memory_equal(rte_pktmbuf_mtod(packet, uint8_t *), frames[i % FRAMES],
				    lengths[i % FRAMES]);
		assert_int_equal(weir_queue_transmit(&wire, &packet, 1), 1);
		assert_int_equal(receiver->poll(receiver, rte_rdtsc()), 1);
	}
	assert_int_equal(counted().delivered, 3 * FRAMES);
	assert_int_equal(counted().gaps, 0);
	assert_int_equal(counted().frame_sample.sampled, 0);
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
	assert_memory_equal(rte_pktmbuf_mtod(packet, uint8_t *) + 12, frames[0] + 12,
			    lengths[0] - 12);
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
	assert_int_equal(counted().delivered, 67);
	assert_int_equal(counted().gaps, 1);
	assert_int_equal(counted().latency.count, 67);
	assert_int_equal(counted().frame_sample.changed, 0);
	for (unsigned int i = 68; i < 68 + 3000; i++) {
		assert_true(weir_sender_fill(sender, &packet, 1));
		if (i % 3 == 2)
			rte_pktmbuf_mtod(packet, uint8_t *)[lengths[2] - 1] ^= 0xff;
		assert_int_equal(weir_queue_transmit(&wire, &packet, 1), 1);
		assert_int_equal(receiver->poll(receiver, rte_rdtsc()), 1);
	}
	assert_in_range(counted().frame_sample.changed, 1, counted().frame_sample.sampled - 1);
	assert_int_equal(counted().frame_sample.first.sequence % 3, 2);
	assert_int_equal(counted().frame_sample.first.what, WEIR_CHANGED_PAYLOAD);
	assert_int_equal(counted().frame_sample.first.expected, frames[2][lengths[2] - 1]);
	assert_int_equal(counted().frame_sample.first.received,
			 (uint8_t)(frames[2][lengths[2] - 1] ^ 0xff));
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
	weir_loops_start(&(struct weir_loop_options){.stall_threshold_us = {1000}});
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

static void
what_a_file_is_can_be_asked_without_a_stream(void **state)
{
	struct weir_capture_facts facts;
	struct weir_error error;

	(void)state;
	assert_int_equal(weir_capture_facts_of(path, "", &facts, &error), 0);
	assert_int_equal(facts.frames, FRAMES);
	assert_true(facts.recorded_pps == 500);
	assert_true(facts.span_ns == 4e6);
	assert_true(facts.mean_frame_bytes == (90 + 301 + 1518) / 3.0);
	assert_int_equal(facts.frame_bytes_most, 1518);
	assert_int_equal(weir_capture_facts_of(path, "icmp", &facts, &error), -1);
	assert_string_equal(error.where, "capture.filter");
}

static int
make_file(void **state)
{
	int file = mkstemp(path);

	if (file < 0 || start_eal(state) < 0)
		return -1;
	close(file);
	return 0;
}

static int
remove_file(void **state)
{
	(void)state;
	unlink(path);
	return 0;
}

#define READ(test) cmocka_unit_test_setup(test, write_capture)
#define SENT(test) cmocka_unit_test_setup_teardown(test, make_all, free_tester)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		READ(frames_and_gaps_are_those_of_the_file),
		READ(files_that_cannot_be_sent_are_refused_with_the_frame),
		READ(stamped_frames_have_right_checksums_and_the_rest_of_their_payload),
		READ(a_frame_without_room_for_a_stamp_is_refused_where_stamps_are_wanted),
		SENT(frames_are_sent_byte_by_byte_in_order_and_again),
		SENT(mac_addresses_are_the_templates_on_demand),
		SENT(stamped_frames_are_counted_one_by_one_and_compared),
		SENT(a_file_sent_once_begins_as_late_as_its_frames_and_ends_with_them),
		READ(what_a_file_is_can_be_asked_without_a_stream),
		cmocka_unit_test(recorded_gaps_are_kept_at_the_rate_of_the_run),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
