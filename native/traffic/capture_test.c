/* SPDX-License-Identifier: Apache-2.0 */
/* What is read from a capture, and which files are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <pcap/pcap.h>

#include "capture_fixture_test.h"
#include "fixtures_test.h"
#include "parser.h"

static void
write_bytes(const void *bytes, size_t size)
{
	FILE *file = fopen(capture_path, "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	fclose(file);
}

static void
refused(const struct weir_capture_wanted *wanted, const char *said)
{
	struct weir_capture capture;
	struct weir_error error;

	assert_int_equal(weir_capture_open(capture_path, wanted, &capture, &error), -1);
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
	assert_int_equal(weir_capture_open(capture_path, &as_is, &capture, &error), 0);
	assert_int_equal(capture.count, FRAMES);
	for (unsigned int i = 0; i < FRAMES; i++) {
		assert_int_equal(capture.offset[i + 1] - capture.offset[i], capture_lengths[i]);
		assert_memory_equal(capture.bytes + capture.offset[i], capture_frames[i],
				    capture_lengths[i]);
	}
	assert_true(capture.mean_gap_ns == 2e6);
	assert_true(capture.lead_ns == 0);
	assert_true(capture.gap_ns[0] == 2e6); /* when it begins again */
	assert_true(capture.gap_ns[1] == 1e6);
	assert_true(capture.gap_ns[2] == 3e6);
	weir_capture_free(&capture);
}

/* The link type says so: draft-ietf-opsawg-pcap, its FCS bits in units of two bytes. */
static void
the_fcs_that_a_file_says_its_frames_end_in_is_not_of_them(void **state)
{
	const uint32_t with_fcs = DLT_EN10MB | LT_FCS_DATALINK_EXT(2);
	struct weir_capture capture;
	struct weir_error error;
	FILE *file = fopen(capture_path, "r+b");

	(void)state;
	assert_int_equal(fseek(file, 20, SEEK_SET), 0);
	assert_int_equal(fwrite(&with_fcs, sizeof(with_fcs), 1, file), 1);
	fclose(file);
	assert_int_equal(weir_capture_open(capture_path, &as_is, &capture, &error), 0);
	assert_int_equal(capture.count, FRAMES);
	for (unsigned int i = 0; i < FRAMES; i++) {
		assert_int_equal(capture.offset[i + 1] - capture.offset[i], capture_lengths[i] - 4);
		assert_memory_equal(capture.bytes + capture.offset[i], capture_frames[i],
				    capture_lengths[i] - 4);
	}
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
	whole = fopen(capture_path, "rb");
	size = fread(file, 1, sizeof(file), whole);
	fclose(whole);
	write_bytes(file, size - 1);
	refused(&as_is, "behind its frame 2");
	write_bytes(file, 24);
	refused(&as_is, "has no frame");
	unlink(capture_path);
	refused(&as_is, "No such file");
}

static void
stamped_frames_have_right_checksums_and_the_rest_of_their_payload(void **state)
{
	struct weir_capture capture;
	struct weir_error error;

	(void)state;
	assert_int_equal(weir_capture_open(capture_path, &with_stamps, &capture, &error), 0);
	for (unsigned int i = 0; i < FRAMES; i++) {
		uint8_t *frame = capture.bytes + capture.offset[i];
		struct weir_stamp stamp = stamp_of(7, 1000 + i), found;
		struct weir_payload payload;

		memcpy(frame + capture.stamp_at[i], &stamp, sizeof(stamp));
		assert_int_equal(weir_parse(frame, capture_lengths[i], capture_lengths[i], &found),
				 WEIR_PARSED_STAMP);
		assert_true(weir_parse_payload(frame, capture_lengths[i], capture_lengths[i],
					       &payload));
		assert_memory_equal(frame + payload.at + sizeof(stamp),
				    capture_frames[i] + payload.at + sizeof(stamp),
				    capture_lengths[i] - payload.at - sizeof(stamp));
		assert_int_equal(transport_sum(frame, payload.network, payload.transport,
					       payload.end, payload.protocol),
				 0xffff);
	}
	weir_capture_free(&capture);
}

static void
a_frame_without_room_for_a_stamp_is_refused_where_stamps_are_wanted(void **state)
{
	struct pcap_pkthdr header = {.caplen = 60, .len = 60};
	static const uint8_t arp[60] = {[12] = 0x08, [13] = 0x06};
	pcap_t *file = pcap_open_dead(DLT_EN10MB, 65535);
	pcap_dumper_t *dumper = pcap_dump_open(file, capture_path);
	struct weir_capture_facts facts;
	struct weir_capture capture;
	struct weir_error error;

	(void)state;
	pcap_dump((u_char *)dumper, &header, arp);
	pcap_dump_close(dumper);
	pcap_close(file);
	refused(&with_stamps, "frame 1 of");
	assert_int_equal(weir_capture_open(capture_path, &as_is, &capture, &error), 0);
	assert_true(capture.mean_gap_ns == 0);
	weir_capture_free(&capture);
	assert_int_equal(weir_capture_facts_of(capture_path, "", false, &facts, &error), 0);
	assert_int_equal(weir_capture_facts_of(capture_path, "", true, &facts, &error), -1);
	assert_non_null(strstr(error.message, "frame 1 of"));
}

static void
what_a_file_is_can_be_asked_without_a_stream(void **state)
{
	struct weir_capture_facts facts;
	struct weir_error error;

	(void)state;
	assert_int_equal(weir_capture_facts_of(capture_path, "", false, &facts, &error), 0);
	assert_int_equal(facts.frames, FRAMES);
	assert_true(facts.recorded_pps == 500);
	assert_true(facts.span_ns == 4e6);
	assert_true(facts.mean_frame_bytes == (90 + 301 + 1518) / 3.0);
	assert_int_equal(facts.frame_bytes_most, 1518);
	assert_int_equal(weir_capture_facts_of(capture_path, "icmp", false, &facts, &error), -1);
	assert_string_equal(error.where, "capture.filter");
}

#define READ(test) cmocka_unit_test_setup(test, write_capture)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		READ(frames_and_gaps_are_those_of_the_file),
		READ(the_fcs_that_a_file_says_its_frames_end_in_is_not_of_them),
		READ(files_that_cannot_be_sent_are_refused_with_the_frame),
		READ(stamped_frames_have_right_checksums_and_the_rest_of_their_payload),
		READ(a_frame_without_room_for_a_stamp_is_refused_where_stamps_are_wanted),
		READ(what_a_file_is_can_be_asked_without_a_stream),
	};

	return cmocka_run_group_tests(tests, make_capture_file, remove_capture_file);
}
