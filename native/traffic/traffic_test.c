/* SPDX-License-Identifier: Apache-2.0 */
/* Frames, stamps, the parser, arrivals and the histogram: without EAL. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "flows.h"
#include "frame.h"
#include "imix.h"
#include "parser.h"
#include "stream.h"

static struct weir_template
template_of(uint8_t version, bool tcp, bool tagged)
{
	return (struct weir_template){
		.ip_version = version,
		.tcp = tcp,
		.tagged = tagged,
		.vlan = 7,
		.src_ip = {198, 18, 0, 1},
		.dst_ip = {198, 19, 0, 1},
		.src_port = 1024,
		.dst_port = 1025,
	};
}

static struct weir_stamp
stamp_of(uint32_t sequence)
{
	struct weir_stamp stamp = {
		.epoch = 3, .stream = 1, .sequence = sequence, .tx_tsc = 0x123456789abcdef0};

	stamp.check = weir_stamp_check(&stamp);
	return stamp;
}

static void
the_smallest_frame_holds_headers_and_stamp(void **state)
{
	(void)state;
	static const uint16_t expected[2][2][2] = {{{64, 68}, {76, 80}}, {{84, 88}, {96, 100}}};

	for (int v6 = 0; v6 < 2; v6++)
		for (int tcp = 0; tcp < 2; tcp++)
			for (int tagged = 0; tagged < 2; tagged++) {
				struct weir_template template =
					template_of(v6 ? 6 : 4, tcp, tagged);

				assert_int_equal(weir_frame_minimum(&template),
						 expected[v6][tcp][tagged]);
			}
}

static void
a_stamp_is_found_in_every_template_and_in_no_shorter_cut_of_it(void **state)
{
	(void)state;
	for (int kind = 0; kind < 8; kind++) {
		struct weir_template template = template_of(kind & 1 ? 6 : 4, kind & 2, kind & 4);
		struct weir_offsets at = weir_frame_offsets(&template);
		uint16_t bytes = weir_frame_minimum(&template);
		struct weir_stamp sent = stamp_of(42), found;
		struct weir_frame frame;

		weir_frame_build(&template, bytes, &frame);
		memcpy(frame.head + at.stamp, &sent, sizeof(sent));
		assert_int_equal(weir_parse(frame.head, frame.length, frame.length, &found),
				 WEIR_PARSED_STAMP);
		assert_memory_equal(&found, &sent, sizeof(sent));
		for (uint16_t cut = 0; cut < frame.length; cut++)
			assert_int_not_equal(weir_parse(frame.head, cut, cut, &found),
					     WEIR_PARSED_STAMP);
		frame.head[at.stamp + 5] ^= 1;
		assert_int_equal(weir_parse(frame.head, frame.length, frame.length, &found),
				 WEIR_PARSED_FOREIGN);
	}
}

static void
an_ipv4_header_sums_to_all_ones_for_every_flow(void **state)
{
	struct weir_stream_config config = {
		.frame_count = 1,
		.frame_bytes = {128},
		.template = template_of(4, false, false),
		.flow_count = 1000,
		.vary = WEIR_VARY_SRC_IP | WEIR_VARY_DST_IP | WEIR_VARY_SRC_PORT |
			WEIR_VARY_DST_PORT,
	};
	struct weir_flows flows;
	struct weir_error error;
	struct weir_frame frame;

	(void)state;
	assert_int_equal(weir_flows_make(&config, &flows, &error), 0);
	weir_frame_build(&config.template, 128, &frame);
	for (uint32_t i = 0; i < flows.count; i++) {
		uint16_t checksum =
			~weir_sum_fold((uint64_t)flows.flow[i].ip_sum + frame.ip_length_word);

		memcpy(frame.head + 26, &flows.flow[i], 8);
		memcpy(frame.head + 24, &checksum, 2);
		assert_int_equal(weir_sum_fold(weir_sum(frame.head + 14, 20)), 0xffff);
		for (uint32_t j = 0; j < i && i < 50; j++)
			assert_memory_not_equal(&flows.flow[i], &flows.flow[j], 12);
	}
	weir_flows_free(&flows);
}

static void
more_flows_than_one_field_can_tell_apart_are_refused(void **state)
{
	struct weir_stream_config config = {
		.frame_count = 1,
		.frame_bytes = {64},
		.template = template_of(4, false, false),
		.flow_count = 32769,
		.vary = WEIR_VARY_SRC_PORT,
	};
	struct weir_flows flows;
	struct weir_error error;

	(void)state;
	assert_int_equal(weir_flows_make(&config, &flows, &error), -1);
	assert_string_equal(error.code, "bad_argument");
}

static void
an_imix_genome_gives_its_sizes_in_order_and_refuses_other_letters(void **state)
{
	uint16_t sizes[64];
	struct weir_error error;

	(void)state;
	assert_int_equal(weir_imix_sizes("aadg", sizes, 64, "frame", &error), 4);
	assert_int_equal(sizes[0], 64);
	assert_int_equal(sizes[2], 512);
	assert_int_equal(sizes[3], 1518);
	assert_int_equal(weir_imix_sizes("ah", sizes, 64, "frame", &error), -1);
	assert_int_equal(weir_imix_sizes("", sizes, 64, "frame", &error), -1);
}

static void
duplicates_reordering_and_the_wrap_are_told_apart(void **state)
{
	struct weir_arrivals *arrivals = malloc(sizeof(*arrivals));
	static const uint32_t order[] = {0, 1, 3, 2, 3, 4};

	(void)state;
	weir_arrivals_clear(arrivals);
	for (unsigned int i = 0; i < 6; i++)
		weir_arrivals_add(arrivals, order[i], 100);
	assert_int_equal(arrivals->delivered, 5);
	assert_int_equal(arrivals->duplicates, 1);
	assert_int_equal(arrivals->reordered, 1);

	weir_arrivals_clear(arrivals);
	for (uint64_t sequence = 0; sequence < (1ull << 32) + 1000; sequence += 1ull << 28)
		weir_arrivals_add(arrivals, (uint32_t)sequence, 100);
	assert_int_equal(arrivals->delivered, 17);
	assert_int_equal(arrivals->duplicates, 0);
	weir_arrivals_add(arrivals, 1u << 31, 100);
	assert_int_equal(arrivals->too_late, 1);
	free(arrivals);
}

static void
a_quantile_is_within_one_percent_of_the_sorted_values(void **state)
{
	struct weir_histogram *histogram = malloc(sizeof(*histogram));

	(void)state;
	weir_histogram_clear(histogram);
	for (uint64_t value = 1; value <= 1000000; value++)
		weir_histogram_add(histogram, value);
	assert_in_range(weir_histogram_quantile(histogram, 0.5), 495000, 505000);
	assert_in_range(weir_histogram_quantile(histogram, 0.999), 989010, 1000000);
	assert_int_equal(weir_histogram_quantile(histogram, 1), histogram->max);
	free(histogram);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_smallest_frame_holds_headers_and_stamp),
		cmocka_unit_test(a_stamp_is_found_in_every_template_and_in_no_shorter_cut_of_it),
		cmocka_unit_test(an_ipv4_header_sums_to_all_ones_for_every_flow),
		cmocka_unit_test(more_flows_than_one_field_can_tell_apart_are_refused),
		cmocka_unit_test(an_imix_genome_gives_its_sizes_in_order_and_refuses_other_letters),
		cmocka_unit_test(duplicates_reordering_and_the_wrap_are_told_apart),
		cmocka_unit_test(a_quantile_is_within_one_percent_of_the_sorted_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
