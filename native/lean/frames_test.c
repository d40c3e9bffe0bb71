/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <pcap/pcap.h>

#include "lean/frames.h"
#include "port/port.h"
#include "testing/eal.h"
#include "traffic/capture.h"

#define JUMBO_FRAME_BYTES 9018

static void
frames_of_a_stream_are_the_same_each_time(void **state)
{
	struct weir_stream_config config = {.frame_count = 1,
					    .frame_bytes = {64},
					    .template = {.ip_version = 4},
					    .flow_count = 7,
					    .vary = WEIR_VARY_DST_PORT};
	struct weir_frames one, other;
	struct weir_error error;

	(void)state;
	assert_int_equal(weir_frames_from_stream(&config, 100, &one, &error), 0);
	assert_int_equal(weir_frames_from_stream(&config, 100, &other, &error), 0);
	assert_int_equal(one.count, 100);
	assert_int_equal(one.size, 100 * 60);
	assert_memory_equal(one.bytes, other.bytes, one.size);
	assert_memory_not_equal(one.bytes, one.bytes + 60, 60);
	weir_frames_free(&one);
	weir_frames_free(&other);
}

/* A capture of that link type with frames of these lengths, of which as many bytes were kept. */
static void
write_pcap(const char *path, int link, const unsigned int lengths[][2], unsigned int count)
{
	static const uint8_t bytes[WEIR_JUMBO_ROOM_BYTES + 1];
	pcap_t *file = pcap_open_dead(link, 65535);
	pcap_dumper_t *dumper = pcap_dump_open(file, path);

	assert_non_null(dumper);
	for (unsigned int i = 0; i < count; i++) {
		struct pcap_pkthdr header = {.len = lengths[i][0], .caplen = lengths[i][1]};

		pcap_dump((u_char *)dumper, &header, bytes);
	}
	pcap_dump_close(dumper);
	pcap_close(file);
}

static void
the_fcs_that_a_capture_says_its_frames_end_in_is_not_of_them(void **state)
{
	static const unsigned int lengths[][2] = {{64, 64}, {70, 68}, {18, 18},
						  {17, 17}, {3, 3},   {100, 60}};
	const uint32_t with_fcs = DLT_EN10MB | LT_FCS_DATALINK_EXT(2);
	char path[] = "/tmp/weir-lean-test-XXXXXX";
	struct weir_frames found;
	struct weir_error error;
	FILE *file;

	(void)state;
	close(mkstemp(path));
	write_pcap(path, DLT_EN10MB, lengths, 6);
	file = fopen(path, "r+b");
	assert_int_equal(fseek(file, 20, SEEK_SET), 0);
	assert_int_equal(fwrite(&with_fcs, sizeof(with_fcs), 1, file), 1);
	fclose(file);
	assert_int_equal(weir_frames_from_pcap(path, &found, &error), 0);
	assert_int_equal(found.count, 3); /* of the second one, nothing but FCS is cut off */
	assert_int_equal(found.left_out, 3);
	assert_int_equal(found.offset[1], 60);
	assert_int_equal(found.offset[2], 60 + 66);
	assert_int_equal(found.offset[3], 60 + 66 + 14);
	weir_frames_free(&found);
	unlink(path);
}

static void
a_capture_gives_its_whole_frames_and_tells_how_many_were_left_out(void **state)
{
	static const unsigned int lengths[][2] = {{60, 60}, {1500, 64}, {14, 14}, {3000, 3000}};
	char path[] = "/tmp/weir-lean-test-XXXXXX";
	struct weir_frames found;
	struct weir_error error;

	(void)state;
	close(mkstemp(path));
	write_pcap(path, DLT_EN10MB, lengths, 4);
	assert_int_equal(weir_frames_from_pcap(path, &found, &error), 0);
	assert_int_equal(found.count, 2);
	assert_int_equal(found.left_out, 2);
	assert_int_equal(found.offset[2], 74);
	weir_frames_free(&found);
	unlink(path);
}

static void
a_capture_gives_frames_as_long_as_packet_buffers_have_room_for(void **state)
{
	static const unsigned int lengths[][2] = {
		{WEIR_ROOM_BYTES + 1, WEIR_ROOM_BYTES + 1},
		{WEIR_JUMBO_ROOM_BYTES, WEIR_JUMBO_ROOM_BYTES},
		{WEIR_JUMBO_ROOM_BYTES + 1, WEIR_JUMBO_ROOM_BYTES + 1},
	};
	char path[] = "/tmp/weir-lean-test-XXXXXX";
	struct weir_frames found;
	struct weir_error error;

	(void)state;
	assert_int_equal(weir_ports_memory(1023, JUMBO_FRAME_BYTES, &error), 0);
	close(mkstemp(path));
	write_pcap(path, DLT_EN10MB, lengths, 3);
	assert_int_equal(weir_frames_from_pcap(path, &found, &error), 0);
	assert_int_equal(found.count, 2);
	assert_int_equal(found.left_out, 1);
	assert_int_equal(found.size, WEIR_ROOM_BYTES + 1 + WEIR_JUMBO_ROOM_BYTES);
	weir_frames_free(&found);
	write_pcap(path, DLT_EN10MB, lengths + 2, 1);
	assert_int_equal(weir_frames_from_pcap(path, &found, &error), -1);
	assert_string_equal(error.expected, "frames of 14 to 10240 bytes, captured whole");
	weir_ports_memory_free();
	unlink(path);
}

static void
a_capture_of_something_else_is_refused(void **state)
{
	static const unsigned int lengths[][2] = {{60, 60}};
	char path[] = "/tmp/weir-lean-test-XXXXXX";
	struct weir_frames found;
	struct weir_error error;

	(void)state;
	close(mkstemp(path));
	write_pcap(path, DLT_RAW, lengths, 1);
	assert_int_equal(weir_frames_from_pcap(path, &found, &error), -1);
	assert_string_equal(error.expected, "frames of Ethernet");
	write_pcap(path, DLT_EN10MB, lengths, 0);
	assert_int_equal(weir_frames_from_pcap(path, &found, &error), -1);
	assert_non_null(strstr(error.message, "has no such frame"));
	unlink(path);
	assert_int_equal(weir_frames_from_pcap(path, &found, &error), -1);
}

static void
a_capture_with_one_frame_too_many_is_refused_with_its_number(void **state)
{
	char path[] = "/tmp/weir-lean-test-XXXXXX";
	static const uint8_t bytes[14];
	struct pcap_pkthdr header = {.len = sizeof(bytes), .caplen = sizeof(bytes)};
	struct weir_frames found;
	struct weir_error error;
	pcap_dumper_t *dumper;
	pcap_t *file = pcap_open_dead(DLT_EN10MB, 65535);

	(void)state;
	close(mkstemp(path));
	dumper = pcap_dump_open(file, path);
	assert_non_null(dumper);
	for (uint32_t i = 0; i < WEIR_CAPTURE_FRAMES_MAX; i++)
		pcap_dump((u_char *)dumper, &header, bytes);
	pcap_dump_flush(dumper);
	assert_int_equal(weir_frames_from_pcap(path, &found, &error), 0);
	assert_int_equal(found.count, WEIR_CAPTURE_FRAMES_MAX);
	weir_frames_free(&found);
	pcap_dump((u_char *)dumper, &header, bytes);
	pcap_dump_close(dumper);
	pcap_close(file);
	assert_int_equal(weir_frames_from_pcap(path, &found, &error), -1);
	assert_non_null(strstr(error.message, "from frame 4194305 on"));
	assert_string_equal(error.where, "traffic.pcap");
	assert_int_equal(found.count, 0);
	unlink(path);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_of_a_stream_are_the_same_each_time),
		cmocka_unit_test(a_capture_gives_its_whole_frames_and_tells_how_many_were_left_out),
		cmocka_unit_test(the_fcs_that_a_capture_says_its_frames_end_in_is_not_of_them),
		cmocka_unit_test(a_capture_gives_frames_as_long_as_packet_buffers_have_room_for),
		cmocka_unit_test(a_capture_of_something_else_is_refused),
		cmocka_unit_test(a_capture_with_one_frame_too_many_is_refused_with_its_number),
	};

	return cmocka_run_group_tests(tests, weir_test_eal, NULL);
}
