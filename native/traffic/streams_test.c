/* SPDX-License-Identifier: Apache-2.0 */
/* Which streams and areas belong together, and what becomes of the packets of earlier ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <rte_cycles.h>
#include <rte_malloc.h>

#include "engine/loop.h"
#include "fixtures_test.h"
#include "stream.h"
#include "testing/eal.h"

#define MS_NS 1000000ull
/* Of a port that copies what it sends. */
#define COPYING_PORT 2

/* Runs a millisecond of `most` packets, again where the host took the whole of it from the
 * generator; packets sent, 1 to `most`. */
static uint16_t
sent_in_a_run(uint16_t most)
{
	uint64_t offered = 0;

	for (unsigned int i = 0; i < 100 && offered == 0; i++) {
		start_run(most * 1e3, MS_NS, 0);
		offered = wait_for_end().offered;
	}
	assert_in_range(offered, 1, most);
	return (uint16_t)offered;
}

/* Nobody reads the wire in the first two runs: their packets stay in the ring while streams of
 * another size and template take the place of those that sent them. */
static void
packets_in_a_ring_outlive_the_streams_that_sent_them(void **state)
{
	enum { MOST = 1000 };
	struct weir_stream_config config = stream_of(template_of(false, false, false), 64);
	static struct rte_mbuf *held[MOST];
	static uint8_t before[MOST][60];
	struct weir_stream_count count;
	struct rte_mempool *pool;
	uint16_t first, second;

	(void)state;
	place(generator);
	configure(&config);
	start_loop();
	first = sent_in_a_run(MOST);
	pool = weir_stream_at(0)->sender.pool;

	/* Looked at, and put back as they were. */
	assert_int_equal(weir_queue_receive(&wire, held, MOST), first);
	for (unsigned int i = 0; i < first; i++)
		memcpy(before[i], rte_pktmbuf_mtod(held[i], void *), sizeof(before[i]));
	assert_int_equal(weir_queue_transmit(&wire, held, first), first);

	config = stream_of(template_of(false, false, false), 1518);
	config.flow_count = 100;
	config.vary = WEIR_VARY_SRC_IP | WEIR_VARY_DST_PORT;
	configure(&config);
	assert_ptr_equal(weir_stream_at(0)->sender.pool, pool);
	second = sent_in_a_run(MOST);
	for (unsigned int i = 0; i < first; i++) {
		assert_int_equal(weir_queue_receive(&wire, held, 1), 1);
		assert_int_equal(held[0]->pkt_len, 60);
		assert_memory_equal(rte_pktmbuf_mtod(held[0], void *), before[i],
				    sizeof(before[i]));
		rte_pktmbuf_free(held[0]);
	}
	weir_loops_stop();

	/* The second run's are still there when a receiver comes: they are stale. */
	config = stream_of(template_of(false, false, false), 64);
	configure(&config);
	place(receiver);
	weir_loops_resume();
	rte_delay_us_sleep(10000);
	weir_loops_pass();
	weir_stream_counted(0, &count);
	assert_int_equal(count.stale, second);
	start_run(10000, 10 * MS_NS, 100 * MS_NS);
	count = wait_for_end();
	assert_int_equal(count.delivered, count.offered - count.tx_refused);
	assert_int_equal(count.duplicates + count.stale, 0);
	weir_loops_stop();
	assert_int_equal(rte_mempool_in_use_count(pool), 0);
}

static size_t
allocated_bytes(void)
{
	struct rte_malloc_socket_stats stats;

	assert_int_equal(rte_malloc_get_socket_stats(0, &stats), 0);
	return stats.heap_allocsz_bytes;
}

/* A copy of each goes on the wire, where there is room; as at a socket, none of them is kept. */
static uint16_t
copy_to_wire(void *state, struct rte_mbuf **packets, uint16_t count)
{
	uint16_t taken = 0;

	(void)state;
	for (; taken < count; taken++) {
		struct rte_mbuf *copy =
			rte_pktmbuf_copy(packets[taken], weir_test_pool(), 0, UINT32_MAX);

		if (copy == NULL)
			break;
		if (weir_queue_transmit(&wire, &copy, 1) == 0) {
			rte_pktmbuf_free(copy);
			break;
		}
	}
	rte_pktmbuf_free_bulk(packets, taken);
	return taken;
}

static const struct weir_queue_driver copying_driver = {.transmit = copy_to_wire, .copies = true};
static const struct weir_queue copying = {
	.kind = WEIR_QUEUE_DRIVER, .driver = &copying_driver, .name = "copying"};

/* docs/design/decisions.md has the figure, and weir.plan.cloud.data_plane counts with it. */
static void
at_a_port_that_copies_as_many_streams_as_there_may_be_need_256_KiB_each(void **state)
{
	static struct weir_stream_config configs[WEIR_STREAMS_MAX];
	struct weir_stream_count count;
	struct weir_area *copier;
	struct weir_error error;
	size_t before;

	(void)state;
	assert_non_null(weir_test_pool());
	copier = weir_generator_create("copier", weir_core_number(0), &copying, COPYING_PORT,
				       &error);
	assert_non_null(copier);
	for (uint16_t i = 0; i < WEIR_STREAMS_MAX; i++) {
		configs[i] = stream_of(template_of(false, false, false), 1518);
		configs[i].id = i;
		configs[i].port_id = COPYING_PORT;
	}
	before = allocated_bytes();
	assert_int_equal(weir_streams_configure(configs, WEIR_STREAMS_MAX, &error), 0);
	assert_in_range(allocated_bytes() - before, 1, WEIR_STREAMS_MAX * 256 * 1024);

	/* At the greatest rate there is a packet for each that is sent. */
	configure(&configs[WEIR_STREAMS_MAX - 1]);
	place(copier);
	place(receiver);
	start_loop();
	start_run(0, 10 * MS_NS, 100 * MS_NS);
	count = wait_for_end();
	assert_in_range(count.offered, 100, UINT64_MAX);
	assert_int_equal(count.delivered, count.offered - count.tx_refused);
	assert_int_equal(count.duplicates + count.stale, 0);
	weir_loops_stop();
	assert_int_equal(rte_mempool_in_use_count(weir_stream_at(0)->sender.pool), 0);
	weir_areas_clear();
	weir_streams_clear();
	weir_generator_destroy(copier);
}

/* Its packets stay in the ring, so that a few would soon be none. */
static void
a_stream_that_moves_from_such_a_port_to_a_ring_has_packets_for_the_whole_ring(void **state)
{
	struct weir_stream_config config = stream_of(template_of(false, false, false), 64);
	struct weir_stream_count count;
	struct weir_area *copier;
	struct weir_error error;

	(void)state;
	copier = weir_generator_create("copier", weir_core_number(0), &copying, COPYING_PORT,
				       &error);
	assert_non_null(copier);
	config.port_id = COPYING_PORT;
	configure(&config);
	config.port_id = 0;
	configure(&config);
	place(generator);
	start_loop();
	start_run(0, 10 * MS_NS, 0);
	count = wait_for_end();
	assert_int_equal(rte_ring_count(wire.ring), rte_ring_get_capacity(wire.ring));
	assert_int_equal(count.offered - count.tx_refused, rte_ring_get_capacity(wire.ring));
	weir_loops_stop();
	weir_areas_clear();
	weir_streams_clear();
	weir_generator_destroy(copier);
}

static void
a_stream_needs_a_generator_and_where_it_goes_a_receiver(void **state)
{
	struct weir_stream_config config = stream_of(template_of(false, false, false), 64);
	struct weir_error error;

	(void)state;
	config.to_port_id = 0;
	assert_int_equal(weir_streams_configure(&config, 1, &error), -1);
	assert_string_equal(error.code, "bad_argument");
	config = stream_of(template_of(false, false, false), 64);
	config.port_id = 1;
	assert_int_equal(weir_streams_configure(&config, 1, &error), -1);
	config = stream_of(template_of(false, false, false), 64);
	config.to_port_id = WEIR_NOWHERE;
	assert_int_equal(weir_streams_configure(&config, 1, &error), 0);
}

static void
a_port_has_one_generator_and_one_receiver(void **state)
{
	struct weir_error error;

	(void)state;
	assert_null(weir_generator_create("other", 0, &wire, 0, &error));
	assert_string_equal(error.where, "other");
	assert_null(weir_receiver_create("other", 0, &wire, 1, &error));
}

static void
a_sixty_fifth_generator_is_refused(void **state)
{
	struct weir_area *areas[WEIR_STREAMS_MAX];
	struct weir_error error;
	unsigned int made = 0;

	(void)state;
	while (made < WEIR_STREAMS_MAX) {
		areas[made] = weir_generator_create("more", 0, &wire, 100 + made, &error);
		if (areas[made] == NULL)
			break;
		made++;
	}
	assert_int_equal(made, WEIR_STREAMS_MAX - 1); /* and the one of every test here */
	assert_string_equal(error.message, "too many generators");
	while (made > 0)
		weir_generator_destroy(areas[--made]);
}

#define TESTER(test) cmocka_unit_test_setup_teardown(test, make_tester, free_tester)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TESTER(packets_in_a_ring_outlive_the_streams_that_sent_them),
		TESTER(at_a_port_that_copies_as_many_streams_as_there_may_be_need_256_KiB_each),
		TESTER(a_stream_that_moves_from_such_a_port_to_a_ring_has_packets_for_the_whole_ring),
		TESTER(a_stream_needs_a_generator_and_where_it_goes_a_receiver),
		TESTER(a_port_has_one_generator_and_one_receiver),
		TESTER(a_sixty_fifth_generator_is_refused),
	};

	return cmocka_run_group_tests(tests, start_eal, NULL);
}
