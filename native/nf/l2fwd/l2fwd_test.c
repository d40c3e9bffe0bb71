/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "testing/eal.h"
#include "testing/packet.h"

static const struct weir_nf *l2fwd;

static int
set_up(void **state)
{
	l2fwd = weir_nf_find("l2fwd");
	return l2fwd != NULL ? weir_test_eal(state) : -1;
}

static const char *const swap[][2] = {{"mode", "mac-swap"}, {NULL, NULL}};
static const char *const rewrite[][2] = {
	{"src_mac", "02:00:00:00:00:05"}, {"dst_mac", "02:00:00:00:00:0d"}, {NULL, NULL}};

/* A frame of so many bytes whose every byte says where it is; run through l2fwd into `frame`. */
static struct weir_test_outcome
run(const char *const (*options)[2], size_t bytes, uint8_t *frame)
{
	void *state = weir_test_state(l2fwd, options);
	struct weir_test_outcome outcome;

	for (size_t i = 0; i < bytes; i++)
		frame[i] = i;
	outcome = weir_test_run(l2fwd, state, WEIR_OUTBOUND, weir_test_packet(frame, bytes), 0);
	if (outcome.packet != NULL)
		memcpy(frame, rte_pktmbuf_mtod(outcome.packet, void *), bytes);
	rte_pktmbuf_free(outcome.packet);
	weir_nf_destroy(l2fwd, state);
	return outcome;
}

static void
mac_swap_exchanges_the_addresses_of_frames_of_every_length(void **state)
{
	(void)state;
	for (size_t bytes = RTE_ETHER_HDR_LEN; bytes < 64; bytes++) {
		uint8_t frame[64];

		assert_null(run(swap, bytes, frame).drop_reason);
		for (size_t i = 0; i < bytes; i++)
			assert_int_equal(frame[i], i < 6 ? i + 6 : i < 12 ? i - 6 : i);
	}
}

static void
mac_rewrite_writes_destination_and_source_and_nothing_else(void **state)
{
	const uint8_t addresses[12] = {2, 0, 0, 0, 0, 0xd, 2, 0, 0, 0, 0, 5};
	uint8_t frame[60];

	(void)state;
	assert_null(run(rewrite, sizeof(frame), frame).drop_reason);
	assert_memory_equal(frame, addresses, 12);
	for (size_t i = 12; i < sizeof(frame); i++)
		assert_int_equal(frame[i], i);
}

static void
a_frame_without_a_whole_header_is_dropped_as_truncated(void **state)
{
	uint8_t frame[16];

	(void)state;
	assert_string_equal(run(swap, 13, frame).drop_reason, "truncated");
	assert_string_equal(run(rewrite, 1, frame).drop_reason, "truncated");
}

static void
truncated_frames_leave_the_others_of_their_batch_in_order_each_with_its_output(void **state)
{
	struct weir_stage stage = {.nf = l2fwd, .state = weir_test_state(l2fwd, swap)};
	struct weir_batch batch = {.count = 9};
	uint8_t frame[60] = {0};

	(void)state;
	for (uint16_t i = 0; i < batch.count; i++) {
		frame[20] = i;
		batch.packet[i] = weir_test_packet(frame, i % 3 == 1 ? 10 : sizeof(frame));
		batch.egress[i] = i;
	}
	weir_stage_run(&stage, &batch);
	assert_int_equal(batch.count, 6);
	assert_int_equal(stage.ledger.drops[0], 3);
	for (uint16_t i = 0; i < batch.count; i++) {
		const uint8_t order[6] = {0, 2, 3, 5, 6, 8};

		assert_int_equal(rte_pktmbuf_mtod(batch.packet[i], uint8_t *)[20], order[i]);
		assert_int_equal(batch.egress[i], order[i]);
		rte_pktmbuf_free(batch.packet[i]);
	}
	weir_nf_destroy(l2fwd, stage.state);
}

static void
mac_rewrite_without_an_address_is_refused_with_what_to_do(void **state)
{
	struct weir_error error;

	(void)state;
	assert_null(weir_nf_create(l2fwd, NULL, 0, "stages[0]", &error));
	assert_string_equal(error.code, "bad_argument");
	assert_string_equal(error.where, "stages[0]");
	assert_non_null(strstr(error.fix, "mac-swap"));
}

static void
a_bad_option_is_refused_with_what_was_expected(void **state)
{
	const struct weir_option_value mode = {"mode", "mac-swop"}, unknown = {"mood", "good"};
	struct weir_error error;

	(void)state;
	assert_null(weir_nf_create(l2fwd, &mode, 1, "", &error));
	assert_string_equal(error.expected, "mac-rewrite, mac-swap");
	assert_null(weir_nf_create(l2fwd, &unknown, 1, "", &error));
	assert_string_equal(error.expected, "mode, src_mac, dst_mac");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mac_swap_exchanges_the_addresses_of_frames_of_every_length),
		cmocka_unit_test(mac_rewrite_writes_destination_and_source_and_nothing_else),
		cmocka_unit_test(a_frame_without_a_whole_header_is_dropped_as_truncated),
		cmocka_unit_test(
			truncated_frames_leave_the_others_of_their_batch_in_order_each_with_its_output),
		cmocka_unit_test(mac_rewrite_without_an_address_is_refused_with_what_to_do),
		cmocka_unit_test(a_bad_option_is_refused_with_what_was_expected),
	};

	return cmocka_run_group_tests_name("l2fwd", tests, set_up, NULL);
}
