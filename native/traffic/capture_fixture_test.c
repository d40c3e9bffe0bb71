/* SPDX-License-Identifier: Apache-2.0 */
#include "capture_fixture_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>
#include <pcap/pcap.h>

#include "fixtures_test.h"
#include "frame.h"

char capture_path[] = "/tmp/weir-capture-test-XXXXXX";
uint8_t capture_frames[FRAMES][2048];
uint16_t capture_lengths[FRAMES];
/* From the first one; the mean gap is 2 ms. */
static const uint64_t at_ns[FRAMES] = {0, 1000000, 4000000};
const struct weir_capture_wanted as_is = {.frame_bytes_max = 1522};
const struct weir_capture_wanted with_stamps = {.frame_bytes_max = 1522, .stamp = true};

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

		capture_lengths[i] =
			stamped_frame(&templates[i], sizes[i], stamp_of(1, 1), capture_frames[i]);
		for (uint16_t byte = at; byte < capture_lengths[i]; byte++)
			capture_frames[i][byte] = (uint8_t)(byte + i);
		/* A checksum that is there, if a wrong one: none at all would stay so. */
		capture_frames[i][weir_frame_offsets(&templates[i]).l4_checksum] = 0x12;
	}
}

void
write_link(int link, uint32_t more_bytes)
{
	pcap_t *file =
		pcap_open_dead_with_tstamp_precision(link, 262144, PCAP_TSTAMP_PRECISION_NANO);
	pcap_dumper_t *dumper = pcap_dump_open(file, capture_path);

	make_frames();
	assert_non_null(dumper);
	for (unsigned int i = 0; i < FRAMES; i++) {
		struct pcap_pkthdr header = {
			.ts = {.tv_sec = 1700000000, .tv_usec = (int)at_ns[i] + 5},
			.caplen = capture_lengths[i],
			.len = capture_lengths[i] + (i == 1 ? more_bytes : 0),
		};

		pcap_dump((u_char *)dumper, &header, capture_frames[i]);
	}
	pcap_dump_close(dumper);
	pcap_close(file);
}

int
write_capture(void **state)
{
	(void)state;
	write_link(DLT_EN10MB, 0);
	return 0;
}

int
make_capture_file(void **state)
{
	int file = mkstemp(capture_path);

	if (file < 0 || start_eal(state) < 0)
		return -1;
	close(file);
	return 0;
}

int
remove_capture_file(void **state)
{
	(void)state;
	unlink(capture_path);
	return 0;
}
