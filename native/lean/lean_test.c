/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <linux/perf_event.h>
#include <pcap/pcap.h>
#include <sys/mman.h>

#include "lean/core_clock.h"
#include "lean/lean.h"
#include "lean/machine.h"
#include "lean/slowdown.h"
#include "lean/steps.h"
#include "testing/eal.h"
#include "testing/packet.h"

#define BATCHES 256

/* --- a function that drops every second packet -------------------------------------------------
 */

static const struct weir_drop_reason reasons[] = {{"odd", "It stood at an odd place."}};

static void
drop_odd(void *state, const struct weir_batch *batch, struct weir_action *actions)
{
	(void)state;
	for (uint16_t i = 1; i < batch->count; i += 2)
		actions[i].verdict = WEIR_DROP;
}

static const struct weir_nf halver = {
	.name = "halver",
	.drop_reasons = reasons,
	.drop_reason_count = 1,
	.returns = true,
	.state_size = 64,
	.decide = drop_odd,
};

/* --- a chain of it -----------------------------------------------------------------------------
 */

static struct weir_frames frames;
static struct weir_lean lean;

static int
begin(void **state)
{
	static const struct weir_stream_config config = {
		.frame_count = 1,
		.frame_bytes = {64},
		.template = {.ip_version = 4, .src_ip = {198, 18, 0, 1}, .dst_ip = {198, 19, 0, 1}},
		.flow_count = 100,
		.vary = WEIR_VARY_SRC_PORT,
		.seed = 1,
	};
	struct weir_error error;
	struct weir_chain *chain = weir_chain_create("chain", 0, true);

	(void)state;
	chain->path_count = 1;
	chain->paths[0].stage_count = 2;
	for (unsigned int i = 0; i < 2; i++) {
		chain->paths[0].stages[i].nf = &halver;
		chain->paths[0].stages[i].state = weir_nf_create(&halver, NULL, 0, "", &error);
	}
	strcpy(chain->paths[0].stages[1].name, "second");
	if (weir_chain_complete(chain, 0, &error) < 0 ||
	    weir_frames_from_stream(&config, 1024, &frames, &error) < 0)
		return -1;
	return weir_lean_open(&lean, chain, &chain->paths[0], &frames, weir_test_pool(), &error);
}

static int
end(void **state)
{
	(void)state;
	weir_lean_close(&lean);
	weir_chain_destroy(lean.chain);
	weir_frames_free(&frames);
	return 0;
}

static void
every_packet_is_accounted_for_and_every_buffer_comes_back(void **state)
{
	unsigned int free_before = rte_mempool_avail_count(weir_test_pool());
	struct weir_lean_timed timed;

	(void)state;
	weir_lean_time(&lean, BATCHES, &timed);
	assert_int_equal(timed.packets, BATCHES * WEIR_BURST);
	assert_int_equal(timed.stages[0].packets_in, timed.packets);
	assert_int_equal(timed.stages[0].drops[0], timed.packets / 2);
	assert_int_equal(timed.stages[1].packets_in, timed.packets / 2);
	assert_int_equal(timed.stages[1].drops[0], timed.packets / 4);
	assert_int_equal(timed.stages[1].packets_out, timed.forwarded);
	assert_int_equal(timed.forwarded, timed.packets / 4);
	assert_int_equal(rte_mempool_avail_count(weir_test_pool()), free_before);
}

static void
cycles_of_stages_lie_within_those_of_the_path(void **state)
{
	struct weir_lean_timed timed;

	(void)state;
	weir_lean_warm_up(&lean);
	weir_lean_time(&lean, BATCHES, &timed);
	assert_int_equal(timed.cycled, (timed.batches - timed.interrupted) * WEIR_BURST);
	assert_true(timed.stages[0].cycles > 0 && timed.stages[1].cycles > 0);
	assert_true(timed.stages[0].cycles + timed.stages[1].cycles <= timed.cycles);
	assert_true(timed.middle > 0);
	assert_true(timed.core_per_tsc > 0.1 && timed.core_per_tsc < 10);
}

static void
a_batch_that_took_far_longer_than_usual_is_left_out_of_the_cycles(void **state)
{
	struct weir_lean_timed timed;

	(void)state;
	lean.threshold_cycles = 0;
	weir_lean_time(&lean, BATCHES, &timed);
	assert_int_equal(timed.interrupted, BATCHES);
	assert_int_equal(timed.cycles, 0);
	assert_int_equal(timed.packets, BATCHES * WEIR_BURST);
}

static void
the_functions_clock_advances_by_the_batch(void **state)
{
	uint64_t before = lean.now_tsc;
	struct weir_lean_timed timed;

	(void)state;
	weir_lean_time(&lean, 1, &timed);
	uint64_t step = lean.now_tsc - before;

	weir_lean_time(&lean, 100, &timed);
	assert_int_equal(lean.now_tsc, before + 101 * step);
}

static double
cycles_of_second(bool slowed)
{
	struct weir_lean_timed timed;

	weir_slowdown_switch(slowed);
	weir_lean_time(&lean, 256, &timed);
	return timed.stages[1].middle;
}

static int
by_size(const void *one, const void *other)
{
	double a = *(const double *)one, b = *(const double *)other;

	return (a > b) - (a < b);
}

static void
a_stage_is_made_slower_by_what_was_asked_and_by_itself_again(void **state)
{
	struct weir_lean_timed before, after;
	double ratios[99];

	(void)state;
	assert_int_equal(weir_slowdown_stage(lean.path, "second"), 1);
	assert_int_equal(weir_slowdown_stage(lean.path, "halver"), 0);
	assert_int_equal(weir_slowdown_stage(lean.path, "third"), -1);
	weir_lean_warm_up(&lean);
	weir_lean_time(&lean, 4096, &before);
	weir_slowdown_begin(&lean, 1, 300, NAN);
	for (unsigned int i = 0; i < RTE_DIM(ratios); i++) {
		double slowed = cycles_of_second(true);

		ratios[i] = slowed / cycles_of_second(false);
	}
	qsort(ratios, RTE_DIM(ratios), sizeof(ratios[0]), by_size);
	double middle = ratios[RTE_DIM(ratios) / 2];

	assert_true(middle > 3.6 && middle < 4.4); /* beside other programs */
	weir_lean_time(&lean, 4096, &after);
	assert_true(after.stages[0].middle < 2 * before.stages[0].middle);
}

static void
counting_runs_the_path_and_each_of_its_stages(void **state)
{
	struct weir_lean_counted counted[WEIR_LEAN_TARGETS_MAX] = {0};
	struct weir_probe probe = {0};

	(void)state;
	assert_int_equal(weir_lean_count(&lean, &probe, 2, counted), 4);
	assert_string_equal(counted[0].label, "empty");
	assert_string_equal(counted[1].label, "path");
	assert_string_equal(counted[3].label, "stage 1");
	assert_int_equal(counted[3].packets, 2 * WEIR_BURST);
}

static void
first_packets_come_once_a_flow_and_before_all_others(void **state)
{
	struct weir_lean_timed timed;

	(void)state;
	assert_int_equal(lean.first_count, 96); /* of 100 flows, in whole batches */
	for (unsigned int i = 0; i < lean.first_count; i++) {
		for (unsigned int j = 0; j < i; j++)
			assert_memory_not_equal(frames.bytes + frames.offset[lean.first[i]],
						frames.bytes + frames.offset[lean.first[j]], 42);
	}
	assert_int_equal(weir_lean_first(&lean, 8, &timed), 3);
	assert_int_equal(timed.packets, 96);
	assert_int_equal(timed.stages[0].packets_in, 96);
	assert_true(timed.cycles > 0);
	assert_int_equal(lean.next_first, lean.first_count);
}

static void
fewer_first_packets_are_timed_where_fewer_were_stepped_through(void **state)
{
	struct weir_lean_timed timed;

	(void)state;
	assert_int_equal(weir_lean_first(&lean, 1, &timed), 1);
	assert_int_equal(timed.packets, WEIR_BURST);
	assert_int_equal(lean.next_first, lean.first_count); /* the others passed too */
}

/* --- the core's clock --------------------------------------------------------------------------
 */

static void
interrupted_pieces_do_not_move_the_cores_clock(void **state)
{
	struct weir_core_clock clock = {.count = 12};

	(void)state;
	for (unsigned int i = 0; i < clock.count; i++)
		clock.tsc_per_add[i] = i % 2 == 0 ? 0.499 : 0.501;
	assert_true(fabs(weir_core_clock_ratio(&clock) - 2) < 1e-6);
	clock.tsc_per_add[3] = 0.2;
	clock.tsc_per_add[7] = 5;
	assert_true(fabs(weir_core_clock_ratio(&clock) - 2) < 0.002);
	clock.count = 0;
	assert_true(weir_core_clock_ratio(&clock) == 0);
}

static void
a_core_retires_more_than_one_instruction_a_cycle_and_less_than_twenty(void **state)
{
	double most = weir_core_retires_most();

	(void)state;
	assert_true(most > 1.5 && most < 20);
}

/* --- instructions ------------------------------------------------------------------------------
 */

/* Of two batches; the sanitizers' own checks are instructions, too. */
#ifdef __SANITIZE_ADDRESS__
#define BETWEEN_STAGES_MOST 2000
#else
#define BETWEEN_STAGES_MOST 200
#endif

static void
stages_and_what_is_between_them_are_all_instructions_of_a_path(void **state)
{
	struct weir_lean_stepped once, again;
	uint64_t stages;

	(void)state;
	assert_true(weir_steps_open());
	weir_lean_warm_up(&lean);
	weir_lean_step(&lean, 2, &once);
	weir_lean_step(&lean, 2, &again);
	stages = once.steps.stages[0] + once.steps.stages[1];
	assert_int_equal(once.packets, 2 * WEIR_BURST);
	assert_true(once.steps.stages[0] > 32 && once.steps.stages[1] > 16);
	assert_true(once.steps.stages[0] > once.steps.stages[1]); /* it has twice the packets */
	assert_in_range(once.steps.total - stages, 1, BETWEEN_STAGES_MOST);
	assert_int_equal(again.steps.total, once.steps.total);
}

static void
an_instruction_that_repeats_itself_counts_once(void **state)
{
	static uint8_t from[4096], to[4096];
	struct weir_steps steps = {0};
	void *source = from, *destination = to;
	size_t count = sizeof(from);

	(void)state;
	assert_true(weir_steps_open());
	weir_steps_begin(NULL);
	__asm__ volatile("rep movsb" : "+S"(source), "+D"(destination), "+c"(count) : : "memory");
	weir_steps_end(&steps);
	assert_in_range(steps.total, 1, 16); /* loads of its operands */
}

/* --- counters ----------------------------------------------------------------------------------
 */

static void
a_probe_counts_what_happens_between_begin_and_end(void **state)
{
	/* Events that every kernel counts, in place of a processor's. */
	static const struct weir_probe_event events[] = {
		{"page_faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
		{"migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
	};
	const size_t pages = 64, page = sysconf(_SC_PAGESIZE);
	uint64_t sums[WEIR_PROBE_EVENTS_MAX];
	struct weir_probe probe;
	uint8_t *memory = mmap(NULL, 2 * pages * page, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	madvise(memory, 2 * pages * page, MADV_NOHUGEPAGE);
	weir_probe_open(&probe, events, 2);
	if (probe.event_count == 0) {
		print_message("skipped: this kernel gives this process no counters at all\n");
		skip();
	}
	weir_probe_begin(&probe);
	for (size_t i = 0; i < pages; i++)
		memory[i * page] = 1;
	weir_probe_end(&probe);
	for (size_t i = pages; i < 2 * pages; i++)
		memory[i * page] = 1;
	weir_probe_take(&probe, sums);
	assert_in_range(sums[0], pages, 2 * pages - 1); /* some more under a sanitiser */
	weir_probe_take(&probe, sums);
	assert_int_equal(sums[0], 0);
	weir_probe_close(&probe);
	munmap(memory, 2 * pages * page);
}

static void
a_processor_without_counters_is_told_with_the_reason(void **state)
{
	static const struct weir_probe_event events[] = {{"cycles", 12345, 0}};
	struct weir_probe probe;

	(void)state;
	weir_probe_open(&probe, events, 1);
	assert_int_equal(probe.event_count, 0);
	assert_non_null(strstr(probe.reason, "no counter of cycles"));
}

/* --- frames ------------------------------------------------------------------------------------
 */

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
	static const uint8_t bytes[4096];
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

/* --- the machine -------------------------------------------------------------------------------
 */

static void
memory_is_farther_than_the_first_cache(void **state)
{
	struct weir_machine_series near, far;
	bool huge;

	(void)state;
	assert_int_equal(weir_machine_chase(16 << 10, &near, &huge), 0);
	assert_int_equal(weir_machine_chase(64 << 20, &far, &huge), 0);
	for (unsigned int i = 0; i < WEIR_MACHINE_REPEATS; i++)
		assert_true(near.cycles[i] > 0 && near.cycles[i] < far.cycles[i]);
}

static void
there_is_no_distance_to_a_cpu_that_there_is_not(void **state)
{
	struct weir_machine_distance distance;
	struct weir_machine_transfer transfer;

	(void)state;
	assert_int_equal(weir_machine_distance(CPU_SETSIZE - 1, &distance), -1);
	assert_int_equal(weir_machine_transfers(CPU_SETSIZE - 1, &transfer), -1);
}

int
main(void)
{
#define WITH_CHAIN(test) cmocka_unit_test_setup_teardown(test, begin, end)
	const struct CMUnitTest tests[] = {
		WITH_CHAIN(every_packet_is_accounted_for_and_every_buffer_comes_back),
		WITH_CHAIN(cycles_of_stages_lie_within_those_of_the_path),
		WITH_CHAIN(a_batch_that_took_far_longer_than_usual_is_left_out_of_the_cycles),
		WITH_CHAIN(the_functions_clock_advances_by_the_batch),
		WITH_CHAIN(a_stage_is_made_slower_by_what_was_asked_and_by_itself_again),
		WITH_CHAIN(counting_runs_the_path_and_each_of_its_stages),
		WITH_CHAIN(first_packets_come_once_a_flow_and_before_all_others),
		WITH_CHAIN(fewer_first_packets_are_timed_where_fewer_were_stepped_through),
		WITH_CHAIN(stages_and_what_is_between_them_are_all_instructions_of_a_path),
		cmocka_unit_test(an_instruction_that_repeats_itself_counts_once),
		cmocka_unit_test(interrupted_pieces_do_not_move_the_cores_clock),
		cmocka_unit_test(
			a_core_retires_more_than_one_instruction_a_cycle_and_less_than_twenty),
		cmocka_unit_test(a_probe_counts_what_happens_between_begin_and_end),
		cmocka_unit_test(a_processor_without_counters_is_told_with_the_reason),
		cmocka_unit_test(frames_of_a_stream_are_the_same_each_time),
		cmocka_unit_test(a_capture_gives_its_whole_frames_and_tells_how_many_were_left_out),
		cmocka_unit_test(a_capture_of_something_else_is_refused),
		cmocka_unit_test(memory_is_farther_than_the_first_cache),
		cmocka_unit_test(there_is_no_distance_to_a_cpu_that_there_is_not),
	};

	return cmocka_run_group_tests(tests, weir_test_eal, NULL);
}
