/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "testing/eal.h"
#include "testing/packet.h"

static void
every_packet_ends_there_counted_and_its_buffer_free_again(void **state)
{
	const struct weir_nf *sink = weir_nf_find("sink");
	struct weir_stage stage = {.nf = sink, .state = weir_test_state(sink, NULL)};
	unsigned int before = rte_mempool_avail_count(weir_test_pool());
	struct weir_batch batch = {.count = WEIR_BURST};

	(void)state;
	for (uint16_t i = 0; i < WEIR_BURST; i++)
		batch.packet[i] = weir_test_packet("any bytes", 9);
	weir_stage_run(&stage, &batch);
	assert_int_equal(batch.count, 0);
	assert_int_equal(stage.ledger.drops[0], WEIR_BURST);
	assert_int_equal(rte_mempool_avail_count(weir_test_pool()), before);
	weir_nf_destroy(sink, stage.state);
}

static void
it_can_only_end_a_chain(void **state)
{
	(void)state;
	assert_false(weir_nf_find("sink")->returns);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_packet_ends_there_counted_and_its_buffer_free_again),
		cmocka_unit_test(it_can_only_end_a_chain),
	};

	return cmocka_run_group_tests_name("sink", tests, weir_test_eal, NULL);
}
