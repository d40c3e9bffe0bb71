/* SPDX-License-Identifier: Apache-2.0 */
/* Runs from start to end, with the polling loop, over a pair of in-memory ports. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <rte_cycles.h>

#include "core/loop.h"
#include "fixtures_test.h"
#include "port/port.h"
#include "stream.h"

#define MS_NS 1000000ull

static struct weir_area *generator, *receiver;
static struct weir_port *left, *right;
static const struct weir_loop_options options = {.stall_threshold_us = {1000}};

static int
make_ports(void **state)
{
	struct weir_error error;

	if (start_eal(state) < 0 || weir_ports_memory(2048, &error) < 0 ||
	    weir_port_open_memory("left", "right", &error) < 0)
		return -1;
	left = weir_port_find("left");
	right = weir_port_find("right");
	return 0;
}

static int
close_ports(void **state)
{
	(void)state;
	weir_ports_close();
	return 0;
}

/* A generator at the left port and a receiver at the right one, not yet polled. */
static int
begin(void **state)
{
	unsigned int cpu = weir_core_number(0);
	struct weir_error error;

	(void)state;
	generator = weir_generator_create("generator", cpu, &left->queue, left->id, &error);
	receiver = weir_receiver_create("receiver", cpu, &right->queue, right->id, &error);
	return 0;
}

static int
end(void **state)
{
	struct rte_mbuf *packet;

	(void)state;
	weir_loops_stop();
	weir_areas_clear();
	weir_streams_clear();
	weir_generator_destroy(generator);
	weir_receiver_destroy(receiver);
	while (weir_queue_receive(&right->queue, &packet, 1) == 1)
		rte_pktmbuf_free(packet);
	return 0;
}

static void
place(struct weir_area *area)
{
	struct weir_error error;

	assert_int_equal(weir_area_add(area, &error), 0);
}

static struct weir_stream_config
left_to_right(uint16_t frame_bytes)
{
	struct weir_stream_config config = stream_of(template_of(false, false, false), frame_bytes);

	config.port_id = left->id;
	config.to_port_id = right->id;
	return config;
}

static void
configure(const struct weir_stream_config *config)
{
	struct weir_error error;

	assert_int_equal(weir_streams_configure(config, 1, &error), 0);
}

static void
start(double rate_pps, uint64_t duration_ns, uint64_t drain_ns)
{
	struct weir_error error;

	assert_int_not_equal(weir_run_start(&rate_pps, duration_ns, drain_ns, &error), -1);
}

/* Waits for the end of the run, a second at most. */
static struct weir_stream_count
wait_for_end(void)
{
	struct weir_stream_count count;

	for (unsigned int i = 0; i < 1000 && weir_run_poll() == WEIR_RUN_RUNNING; i++)
		rte_delay_us_sleep(1000);
	assert_int_equal(weir_run_poll(), WEIR_RUN_DONE);
	weir_stream_counted(0, &count);
	return count;
}

static void
all_that_a_run_sends_arrives_once_and_in_order(void **state)
{
	struct weir_stream_config config = left_to_right(64);
	struct weir_stream_count count;

	(void)state;
	place(generator);
	place(receiver);
	configure(&config);
	weir_loops_start(&options);
	start(100000, 50 * MS_NS, 100 * MS_NS);
	count = wait_for_end();
	assert_int_equal(count.intended, 5000);
	assert_int_equal(count.delivered + count.tx_refused, count.offered);
	assert_int_equal(count.duplicates + count.reordered + count.stale + count.too_late, 0);
	assert_int_equal(count.latency.count, count.delivered);
}

static void
a_poisson_run_intends_what_its_process_draws(void **state)
{
	struct weir_stream_config config = left_to_right(64);
	unsigned int others = 0;

	(void)state;
	config.poisson = true;
	config.to_port_id = WEIR_NOWHERE;
	place(generator);
	place(receiver); /* keeps the ring empty */
	configure(&config);
	weir_loops_start(&options);
	for (unsigned int i = 0; i < 10; i++) {
		struct weir_stream_count count;

		start(20000, 20 * MS_NS, 0);
		count = wait_for_end();
		assert_in_range(count.intended, 400 - 5 * 20, 400 + 5 * 20);
		assert_true(count.offered <= count.intended); /* fewer on a busy machine */
		others += count.intended != 400;
	}
	assert_in_range(others, 5, 10);
}

static void
the_clock_starts_when_the_loops_run(void **state)
{
	struct weir_stream_config config = left_to_right(64);
	uint64_t loops;

	(void)state;
	place(generator);
	configure(&config);
	weir_loops_start(&options);
	weir_loops_stop();
	loops = weir_core_loops(0);
	weir_loops_resume();
	start(1000, 5 * MS_NS, 0);
	assert_int_not_equal(weir_core_loops(0), loops);
}

static void
the_counts_stand_once_the_run_is_done(void **state)
{
	struct weir_stream_config config = left_to_right(64);
	struct weir_stream_count before, after;
	struct rte_mbuf *late;

	(void)state;
	place(generator);
	place(receiver);
	configure(&config);
	weir_loops_start(&options);
	start(10000, 10 * MS_NS, 100 * MS_NS);
	before = wait_for_end();
	/* One that the system under test held back. */
	assert_true(weir_sender_fill(&weir_stream_at(0)->sender, &late, 1));
	assert_int_equal(weir_queue_transmit(&left->queue, &late, 1), 1);
	rte_delay_us_sleep(20000);
	weir_loops_pass();
	weir_stream_counted(0, &after);
	assert_int_equal(after.too_late, 1);
	assert_int_equal(after.delivered, before.delivered);
	assert_int_equal(after.latency.count, before.latency.count);
}

static void
a_stopped_run_has_ended_and_sends_no_more(void **state)
{
	struct weir_stream_config config = left_to_right(64);
	uint64_t offered;

	(void)state;
	place(generator);
	place(receiver);
	configure(&config);
	weir_loops_start(&options);
	start(10000, 1000 * MS_NS, 0);
	rte_delay_us_sleep(20000);
	weir_loops_stop();
	weir_run_stop();
	assert_int_equal(weir_run_poll(), WEIR_RUN_STOPPED);
	offered = weir_stream_at(0)->sender.offered;
	weir_loops_resume();
	rte_delay_us_sleep(20000);
	assert_int_equal(weir_stream_at(0)->sender.offered, offered);
	start(10000, 10 * MS_NS, 100 * MS_NS);
	assert_int_equal(wait_for_end().intended, 100);
}

static void
a_second_run_is_refused_while_one_goes_on(void **state)
{
	struct weir_stream_config config = left_to_right(64);
	struct weir_error error;
	double rate_pps = 1;

	(void)state;
	place(generator);
	configure(&config);
	weir_loops_start(&options);
	start(10000, 1000 * MS_NS, 0);
	assert_int_equal(weir_run_start(&rate_pps, MS_NS, 0, &error), -1);
	assert_string_equal(error.code, "bad_state");
	assert_int_equal(weir_streams_configure(&config, 1, &error), -1);
	assert_string_equal(error.code, "bad_state");
}

/* Nobody reads the wire in the first two runs: their packets stay in the ring while streams of
 * another size and template take the place of those that sent them. */
static void
packets_in_a_ring_outlive_the_streams_that_sent_them(void **state)
{
	enum { MOST = 1000 };
	struct weir_stream_config config = left_to_right(64);
	static struct rte_mbuf *held[MOST];
	static uint8_t before[MOST][60];
	struct weir_stream_count count;
	struct rte_mempool *pool;
	uint16_t first, second;

	(void)state;
	place(generator);
	configure(&config);
	weir_loops_start(&options);
	start(MOST * 1e3, MS_NS, 0);
	first = wait_for_end().offered;
	assert_in_range(first, 1, MOST);
	pool = weir_stream_at(0)->sender.pool;

	/* Looked at, and put back as they were. */
	assert_int_equal(weir_queue_receive(&right->queue, held, MOST), first);
	for (unsigned int i = 0; i < first; i++)
		memcpy(before[i], rte_pktmbuf_mtod(held[i], void *), sizeof(before[i]));
	assert_int_equal(weir_queue_transmit(&left->queue, held, first), first);

	config = left_to_right(1518);
	config.flow_count = 100;
	config.vary = WEIR_VARY_SRC_IP | WEIR_VARY_DST_PORT;
	configure(&config);
	assert_ptr_equal(weir_stream_at(0)->sender.pool, pool);
	start(MOST * 1e3, MS_NS, 0);
	second = wait_for_end().offered;
	assert_in_range(second, 1, MOST);
	for (unsigned int i = 0; i < first; i++) {
		assert_int_equal(weir_queue_receive(&right->queue, held, 1), 1);
		assert_int_equal(held[0]->pkt_len, 60);
		assert_memory_equal(rte_pktmbuf_mtod(held[0], void *), before[i],
				    sizeof(before[i]));
		rte_pktmbuf_free(held[0]);
	}
	weir_loops_stop();

	/* The second run's are still there when a receiver comes: they are stale. */
	config = left_to_right(64);
	configure(&config);
	place(receiver);
	weir_loops_resume();
	rte_delay_us_sleep(10000);
	weir_loops_pass();
	weir_stream_counted(0, &count);
	assert_int_equal(count.stale, second);
	start(10000, 10 * MS_NS, 100 * MS_NS);
	count = wait_for_end();
	assert_int_equal(count.delivered, count.offered - count.tx_refused);
	assert_int_equal(count.duplicates + count.stale, 0);
	weir_loops_stop();
	assert_int_equal(rte_mempool_in_use_count(pool), 0);
}

static void
a_stream_needs_a_generator_and_where_it_goes_a_receiver(void **state)
{
	struct weir_stream_config config = left_to_right(64);
	struct weir_error error;

	(void)state;
	config.to_port_id = left->id;
	assert_int_equal(weir_streams_configure(&config, 1, &error), -1);
	assert_string_equal(error.code, "bad_argument");
	config = left_to_right(64);
	config.port_id = right->id;
	assert_int_equal(weir_streams_configure(&config, 1, &error), -1);
	config = left_to_right(64);
	config.to_port_id = WEIR_NOWHERE;
	assert_int_equal(weir_streams_configure(&config, 1, &error), 0);
}

static void
a_port_has_one_generator_and_one_receiver(void **state)
{
	struct weir_error error;

	(void)state;
	assert_null(weir_generator_create("other", 0, &left->queue, left->id, &error));
	assert_string_equal(error.where, "other");
	assert_null(weir_receiver_create("other", 0, &right->queue, right->id, &error));
}

static void
a_sixty_fifth_generator_is_refused(void **state)
{
	struct weir_area *areas[WEIR_STREAMS_MAX];
	struct weir_error error;
	unsigned int made = 0;

	(void)state;
	while (made < WEIR_STREAMS_MAX) {
		areas[made] = weir_generator_create("more", 0, &left->queue, 100 + made, &error);
		if (areas[made] == NULL)
			break;
		made++;
	}
	assert_int_equal(made, WEIR_STREAMS_MAX - 1); /* and the one of every test here */
	assert_string_equal(error.message, "too many generators");
	while (made > 0)
		weir_generator_destroy(areas[--made]);
}

#define RUN(test) cmocka_unit_test_setup_teardown(test, begin, end)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		RUN(all_that_a_run_sends_arrives_once_and_in_order),
		RUN(a_poisson_run_intends_what_its_process_draws),
		RUN(the_clock_starts_when_the_loops_run),
		RUN(the_counts_stand_once_the_run_is_done),
		RUN(a_stopped_run_has_ended_and_sends_no_more),
		RUN(a_second_run_is_refused_while_one_goes_on),
		RUN(packets_in_a_ring_outlive_the_streams_that_sent_them),
		RUN(a_stream_needs_a_generator_and_where_it_goes_a_receiver),
		RUN(a_port_has_one_generator_and_one_receiver),
		RUN(a_sixty_fifth_generator_is_refused),
	};

	return cmocka_run_group_tests(tests, make_ports, close_ports);
}
