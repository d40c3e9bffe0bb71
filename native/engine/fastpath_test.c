/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fast path against the plain chain: two copies of three small functions get the same random
 * packets and the same random changes, one with a fast path and one without.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fastpath_fixture_test.h"
#include "testing/eal.h"
#include "testing/packet.h"

static void
run_both(struct weir_chain *const chains[2])
{
	struct weir_batch batches[2] = {0};
	uint16_t count = 1 + rand() % WEIR_BURST;

	for (uint16_t i = 0; i < count; i++) {
		struct rte_mbuf *packet = weir_fastpath_packet(8);

		batches[0].packet[i] = packet;
		batches[1].packet[i] =
			weir_test_packet(rte_pktmbuf_mtod(packet, void *), packet->data_len);
	}
	for (unsigned int i = 0; i < 2; i++) {
		batches[i].count = count;
		weir_path_run(&chains[i]->paths[0], &batches[i]);
	}
	assert_int_equal(batches[0].count, batches[1].count);
	for (uint16_t i = 0; i < batches[0].count; i++) {
		struct rte_mbuf *plain = batches[0].packet[i], *fast = batches[1].packet[i];

		assert_int_equal(plain->data_len, fast->data_len);
		assert_memory_equal(rte_pktmbuf_mtod(plain, void *), rte_pktmbuf_mtod(fast, void *),
				    plain->data_len);
		assert_true(weir_test_checksums_right(rte_pktmbuf_mtod(fast, uint8_t *),
						      fast->data_len));
		assert_int_equal(batches[0].egress[i], batches[1].egress[i]);
		rte_pktmbuf_free(plain);
		rte_pktmbuf_free(fast);
	}
}

/* --- sentences -----------------------------------------------------------------------------------
 */

static void
differ_nowhere(uint32_t flows, uint64_t hits_min)
{
	struct weir_chain *const chains[2] = {weir_fastpath_chain(0), weir_fastpath_chain(flows)};

	srand(1);
	for (unsigned int step = 0; step < 20000; step++) {
		if (rand() % 4 == 0)
			weir_fastpath_change(chains);
		run_both(chains);
	}
	weir_fastpath_assert_same_counts(chains);
	/* It was a fast path, not a detour. */
	assert_true(chains[1]->paths[0].fastpath.ledger.hits > hits_min);
	for (unsigned int i = 0; i < 2; i++)
		weir_chain_destroy(chains[i]);
}

static void
random_traffic_with_random_changes_leaves_as_without_the_fast_path(void **state)
{
	(void)state;
	differ_nowhere(4096, 20000);
}

static void
so_it_does_when_flows_push_each_other_out(void **state)
{
	(void)state;
	differ_nowhere(64, 2000);
}

static void
a_change_forgets_the_flows_that_rest_on_it_and_no_other(void **state)
{
	struct weir_chain *chain = weir_fastpath_chain(64);
	struct mapper *mapper = chain->paths[0].stages[0].state;

	(void)state;
	for (uint16_t port = 0; port < 8; port++) {
		struct weir_batch batch = {.count = 1};

		batch.packet[0] = weir_test_ipv4_packet(
			&(struct weir_test_ipv4){.src_port = 16 + port, .dst_port = 1});
		weir_path_run(&chain->paths[0], &batch);
		rte_pktmbuf_free(batch.packet[0]);
	}
	assert_int_equal(weir_flow_cache_count(chain->flows), 8);
	weir_flow_cache_forget(chain->flows, &mapper->sessions[3].invalidation);
	assert_int_equal(weir_flow_cache_count(chain->flows), 7);
	assert_int_equal(mapper->sessions[3].invalidation.first, 0);
	assert_int_not_equal(mapper->sessions[4].invalidation.first, 0);
	weir_chain_destroy(chain);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			random_traffic_with_random_changes_leaves_as_without_the_fast_path),
		cmocka_unit_test(so_it_does_when_flows_push_each_other_out),
		cmocka_unit_test(a_change_forgets_the_flows_that_rest_on_it_and_no_other),
	};

	return cmocka_run_group_tests_name("fastpath", tests, weir_test_eal, NULL);
}
