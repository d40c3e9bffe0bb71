/* SPDX-License-Identifier: Apache-2.0 */
/* What is read of a run while it goes on at full rate: no answer contradicts itself or the one
 * before it. */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <rte_cycles.h>

#include "engine/loop.h"
#include "fixtures_test.h"
#include "stream.h"

#define MS_NS 1000000ull
/* So often at least, and until the wire has refused so many packets. */
#define LOOKS 300
#define LOOKS_MOST 1000000
#define REFUSED 100000

static struct weir_bucket_ns buckets[WEIR_DELAY_BUCKETS_MAX];

/* The polling thread stays on its CPU; this one may go to another, and then both run at once. */
static int
start_apart(void **state)
{
	cpu_set_t allowed;

	sched_getaffinity(0, sizeof(allowed), &allowed);
	if (start_eal(state) < 0)
		return -1;
	return sched_setaffinity(0, sizeof(allowed), &allowed);
}

static weir_area_poll_fn receive;

/* Half as often as packets are sent: the wire gets full, and refuses some. */
static uint32_t
receive_every_other_time(struct weir_area *area, uint64_t now_tsc)
{
	static unsigned int turn;

	return turn++ % 2 == 0 ? receive(area, now_tsc) : 0;
}

static void
start(void)
{
	const struct weir_stream_config config = stream_of(template_of(false, false, false), 64);
	const double rate_pps = 0;
	const struct weir_run_options run = {
		.rates_pps = &rate_pps,
		.duration_ns = 3600 * 1000 * MS_NS,
		.drain_ns = 100 * MS_NS,
		.delay_variation = true,
	};
	struct weir_error error;

	place(generator);
	place(receiver);
	receive = receiver->poll;
	receiver->poll = receive_every_other_time;
	configure(&config);
	start_loop();
	assert_int_not_equal(weir_run_start(&run, &error), -1);
}

static void
end(void)
{
	struct weir_error error;

	assert_int_equal(weir_run_finish(&error), 0);
	for (unsigned int i = 0; i < 10000 && weir_run_poll() == WEIR_RUN_RUNNING; i++)
		rte_delay_us_sleep(1000);
	assert_int_equal(weir_run_poll(), WEIR_RUN_DONE);
}

static bool
goes_on(unsigned int looks, uint64_t refused)
{
	return looks < LOOKS_MOST && (looks < LOOKS || refused < REFUSED);
}

static uint64_t
packets_in(enum weir_delay_histogram which)
{
	unsigned int count = weir_stream_buckets(0, which, buckets, RTE_DIM(buckets));
	uint64_t packets = 0;

	for (unsigned int i = 0; i < count; i++)
		packets += buckets[i].count;
	return packets;
}

static void
counts_agree(const struct weir_stream_count *now, const struct weir_stream_count *before)
{
	assert_true(now->tx_refused <= now->offered);
	assert_true(now->delivered <= now->offered - now->tx_refused);
	assert_int_equal(now->latency.count, now->delivered);
	assert_true(now->variation.pairs <= now->delivered);
	assert_true(now->latency.min <= now->latency.mean && now->latency.mean <= now->latency.max);
	assert_true(now->latency.p50 <= now->latency.p9999 &&
		    now->latency.p9999 <= now->latency.max);
	assert_int_equal(now->duplicates + now->reordered + now->too_late + now->negative, 0);
	assert_true(now->offered >= before->offered && now->tx_refused >= before->tx_refused);
	assert_true(now->delivered >= before->delivered && now->gaps >= before->gaps);
	assert_true(now->latency.max >= before->latency.max);
	assert_true(before->latency.count == 0 || now->latency.min <= before->latency.min);
}

static void
counts_read_during_a_run_agree_with_each_other(void **state)
{
	struct weir_stream_count before = {0}, now = {0};
	uint64_t packets, pairs;

	(void)state;
	start();
	for (unsigned int i = 0; goes_on(i, now.tx_refused); i++) {
		weir_stream_counted(0, &now);
		counts_agree(&now, &before);
		packets = packets_in(WEIR_DELAY_LATENCY);
		pairs = packets_in(WEIR_DELAY_IPDV);
		before = now;
		weir_stream_counted(0, &now);
		assert_true(before.latency.count <= packets && packets <= now.latency.count);
		assert_true(before.variation.pairs <= pairs && pairs <= now.variation.pairs);
	}
	end();
	weir_stream_counted(0, &now);
	counts_agree(&now, &before);
	assert_int_equal(now.delivered, now.offered - now.tx_refused);
	assert_true(now.tx_refused >= REFUSED && now.delivered > 0);
	assert_int_equal(packets_in(WEIR_DELAY_LATENCY), now.delivered);
}

static uint64_t
lost_in(const struct weir_stream_interval *interval)
{
	uint64_t packets = interval->losses_left_out_packets;

	for (unsigned int i = 0; i < interval->loss_count; i++)
		packets += interval->losses[i].packets;
	return packets;
}

static void
intervals_add_up_to_the_whole_run(void **state)
{
	struct weir_stream_interval before = {0}, now = {0};
	bool last = false;
	struct weir_stream_count whole;
	uint64_t lost = 0;
	double min = 1e300, max = 0;

	(void)state;
	start();
	for (unsigned int i = 0; !last; i++) {
		last = !goes_on(i, now.tx_refused);
		if (last)
			end();
		weir_stream_interval(0, &now);
		lost += lost_in(&now);
		assert_int_equal(lost, now.missing);
		assert_int_equal(now.latency_ns.count, now.delivered);
		assert_true(now.tx_refused <= now.offered);
		assert_true(now.delivered <= now.offered - now.tx_refused);
		assert_true(now.missing <= now.tx_refused);
		assert_true(now.offered >= before.offered && now.delivered >= before.delivered);
		assert_true(now.tx_refused >= before.tx_refused && now.missing >= before.missing);
		if (now.delivered > before.delivered) {
			min = RTE_MIN(min, now.latency_ns.min);
			max = RTE_MAX(max, now.latency_ns.max);
		}
		before = now;
	}
	weir_stream_counted(0, &whole);
	assert_int_equal(now.offered, whole.offered);
	assert_int_equal(now.delivered, whole.delivered);
	assert_int_equal(now.tx_refused, whole.tx_refused);
	assert_true(min == whole.latency.min && max == whole.latency.max);
	assert_int_equal(whole.delivered, whole.offered - whole.tx_refused);
}

#define TESTER(test) cmocka_unit_test_setup_teardown(test, make_tester, free_tester)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TESTER(counts_read_during_a_run_agree_with_each_other),
		TESTER(intervals_add_up_to_the_whole_run),
	};

	return cmocka_run_group_tests(tests, start_apart, NULL);
}
