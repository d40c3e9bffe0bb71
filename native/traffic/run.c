/* SPDX-License-Identifier: Apache-2.0 */
/* One run of the streams: start, end of sending, drain, end. */
#include <string.h>
#include <time.h>

#include <rte_cycles.h>

#include "engine/distance.h"
#include "engine/loop.h"
#include "stream.h"

static struct {
	enum weir_run_state state;
	uint16_t number;
	uint64_t start_tsc, start_raw_ns, drain_cycles, longest_drain_cycles;
	uint64_t seen, seen_at_tsc; /* arrivals, and when they last grew */
	uint64_t sent_at_tsc;	    /* when it was seen that all had been sent; 0: not yet */
	uint64_t slice_ns;
	unsigned int slice_count;
} run;

static void
end_with(enum weir_run_state state)
{
	__atomic_store_n(&weir_epoch, 0, __ATOMIC_RELEASE);
	run.state = state;
}

void
weir_run_forget(void)
{
	end_with(WEIR_RUN_NONE);
}

void
weir_run_stop(void)
{
	if (run.state != WEIR_RUN_RUNNING)
		return;
	for (unsigned int i = 0; i < weir_stream_count(); i++)
		weir_delays_flush(&weir_stream_at(i)->arrivals.delays);
	end_with(WEIR_RUN_STOPPED);
}

static struct weir_pacing
pacing_of(const struct weir_run_options *options, unsigned int index, uint64_t seed)
{
	const struct weir_capture *capture = &weir_stream_at(index)->sender.capture;
	const struct weir_stream_config *config = &weir_stream_at(index)->config;
	uint64_t tsc_hz = rte_get_tsc_hz();
	struct weir_pacing pacing = weir_pacing_of(options->rates_pps[index], options->duration_ns,
						   tsc_hz, config->poisson, seed);

	if (config->recorded && options->rates_pps[index] > 0) {
		weir_pacing_record(&pacing, capture->gap_ns, capture->count, capture->mean_gap_ns);
		if (config->once)
			weir_pacing_draw(&pacing, capture->lead_ns / capture->mean_gap_ns);
	}
	for (unsigned int i = 0; i < options->then_count; i++)
		weir_pacing_then(&pacing, options->then[i].factor, options->then[i].after_ns,
				 tsc_hz);
	if (options->packets > 0)
		weir_pacing_limit(&pacing, options->packets);
	if (config->once)
		weir_pacing_limit(&pacing, capture->count);
	return pacing;
}

/* At a constant rate a packet's number tells when it was due. */
static void
ready_slices(struct weir_stream *stream, uint64_t tsc_hz, bool skips)
{
	const struct weir_pacing *pacing = &stream->sender.pacing;
	bool by_time = pacing->poisson || pacing->schedule.count > 1;
	double packets_per_cycle = by_time ? 0 : pacing->schedule.parts[0].packets_per_cycle;
	uint64_t width_cycles = (uint64_t)((double)run.slice_ns * 1e-9 * (double)tsc_hz);

	weir_slices_begin(&stream->arrivals.slices, run.slice_count, width_cycles,
			  packets_per_cycle);
	weir_slices_begin(&stream->sender.slices, run.slice_count, width_cycles, packets_per_cycle);
	stream->sender.skips = skips && run.slice_count > 0 && packets_per_cycle > 0;
}

/* The loops have stopped: counters and senders belong to the control thread. */
static void
ready_streams(const struct weir_run_options *options)
{
	uint64_t tsc_hz = rte_get_tsc_hz();

	for (unsigned int i = 0; i < weir_stream_count(); i++) {
		struct weir_stream *stream = weir_stream_at(i);
		struct weir_delays *delays = &stream->arrivals.delays;
		struct weir_pacing pacing;

		weir_arrivals_clear(&stream->arrivals);
		stream->arrivals.losses.together_cycles = tsc_hz / 1000;
		delays->wanted.variation = options->delay_variation;
		if (options->first_packets)
			delays->wanted.sequence_limit = stream->config.flow_count;
		pacing = pacing_of(options, i, stream->config.seed + run.number);
		if (!weir_answers_ready(stream, options->learns))
			weir_pacing_limit(&pacing, 0);
		else if (options->learns)
			weir_pacing_limit(&pacing, stream->config.flow_count);
		weir_sender_ready(&stream->sender, run.number, pacing);
		ready_slices(stream, tsc_hz, options->skip);
		if (weir_pacing_is_constant(&stream->sender.pacing))
			delays->pacing = &stream->sender.pacing;
	}
	for (unsigned int i = 0; i < weir_receiver_count(); i++)
		memset(weir_receiver_counts(weir_receiver_at(i)), 0,
		       sizeof(struct weir_receiver_count));
	for (unsigned int i = 0; i < weir_core_count(); i++)
		weir_core_stalls_begin(i);
}

/* The first packet of each flow is in the first pass over the flows: they must be sent in turn. */
static int
check_first_packets(struct weir_error *error)
{
	for (unsigned int i = 0; i < weir_stream_count(); i++) {
		if (weir_stream_at(i)->config.zipf)
			return weir_fail(error, "bad_argument", "delay.first_packets",
					 "streams whose flows are sent in turn",
					 "use the uniform distribution",
					 "stream %u draws its flows by Zipf's law",
					 weir_stream_id(i));
	}
	return 0;
}

/* What changes is a rate, and ever later. */
static int
check_schedule(const struct weir_run_options *options, struct weir_error *error)
{
	for (unsigned int i = 0; i < weir_stream_count() && options->then_count > 0; i++) {
		if (options->rates_pps[i] == 0)
			return weir_fail(error, "bad_argument", "then",
					 "a first rate above 0 for each stream", NULL,
					 "stream %u is sent as fast as can be", weir_stream_id(i));
	}
	for (unsigned int i = 0; i < options->then_count; i++) {
		if (i > 0 && options->then[i].after_ns <= options->then[i - 1].after_ns)
			return weir_fail(error, "bad_argument", "then", "times that go up", NULL,
					 "change %u is not behind the one before it", i + 1);
	}
	return 0;
}

/* Of frames without a stamp it is known how many arrived, not which and when. */
static int
check_unstamped(const struct weir_run_options *options, struct weir_error *error)
{
	const char *wanted = options->slice_ns > 0	? "slice_ns"
			     : options->tags		? "delay.tag_ns"
			     : options->first_packets	? "delay.first_packets"
			     : options->delay_variation ? "delay.variation"
							: NULL;

	for (unsigned int i = 0; i < weir_stream_count() && wanted != NULL; i++) {
		if (weir_stream_is_unstamped(weir_stream_at(i)))
			return weir_fail(
				error, "bad_argument", wanted, "absent, or captures with `stamp`",
				NULL, "the frames of stream %u carry no stamp", weir_stream_id(i));
	}
	return 0;
}

int
weir_run_check(const struct weir_run_options *options, struct weir_error *error)
{
	if (weir_stream_count() == 0)
		return weir_fail(error, "bad_state", NULL, NULL, "send traffic.configure first",
				 "there are no streams");
	if (!weir_loops_running())
		return weir_fail(error, "bad_state", NULL, NULL, "send `start` first",
				 "the loops do not run");
	if (weir_run_poll() == WEIR_RUN_RUNNING)
		return weir_fail(error, "bad_state", NULL, NULL,
				 "wait for its end with traffic.result", "a run goes on");
	if (options->learns && !weir_answers_any())
		return weir_fail(error, "bad_argument", "learn", "false",
				 "say of a stream that it `answers` another one",
				 "no stream answers another one");
	if (check_unstamped(options, error) < 0)
		return -1;
	if (options->first_packets && check_first_packets(error) < 0)
		return -1;
	if (options->slice_ns > 0 &&
	    options->duration_ns > (uint64_t)WEIR_SLICES_MAX * options->slice_ns)
		return weir_fail(error, "bad_argument", "slice_ns", "at most 16,384 slices",
				 "ask for longer slices, or for a shorter run",
				 "the run would have more slices");
	return check_schedule(options, error);
}

int
weir_run_start(const struct weir_run_options *options, struct weir_error *error)
{
	double cycles_per_ns = (double)rte_get_tsc_hz() / 1e9;

	if (weir_run_check(options, error) < 0)
		return -1;
	weir_loops_stop();
	__atomic_store_n(&weir_epoch, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&weir_run_closed, false, __ATOMIC_RELEASE);
	run.number = run.number == UINT16_MAX ? 1 : run.number + 1;
	run.drain_cycles = (uint64_t)((double)options->drain_ns * cycles_per_ns);
	run.longest_drain_cycles =
		(uint64_t)((double)(options->longest_drain_ns != 0 ? options->longest_drain_ns
								   : WEIR_LONGEST_DRAIN_NS) *
			   cycles_per_ns);
	run.seen_at_tsc = run.sent_at_tsc = 0;
	run.slice_ns = options->slice_ns;
	run.slice_count = options->slice_ns > 0 ? (options->duration_ns + options->slice_ns - 1) /
							  options->slice_ns
						: 0;
	ready_streams(options);
	if (run.slice_count > 0)
		weir_distances_measure();
	weir_loops_resume();
	/* The clock starts when every loop runs: a thread that the system wakes late is no late
	 * sender. Until the epoch is set, the generators leave their senders alone. */
	weir_loops_pass();
	run.start_raw_ns = weir_raw_ns(&run.start_tsc);
	for (unsigned int i = 0; i < weir_stream_count(); i++) {
		struct weir_stream *stream = weir_stream_at(i);

		stream->arrivals.delays.wanted.from_tsc =
			run.start_tsc + (uint64_t)((double)options->settle_ns * cycles_per_ns);
		if (options->tags)
			stream->arrivals.delays.wanted.tag_tsc =
				run.start_tsc + (uint64_t)((double)options->tag_ns * cycles_per_ns);
		stream->arrivals.slices.start_tsc = run.start_tsc;
		stream->sender.slices.start_tsc = run.start_tsc;
		weir_sender_begin(&stream->sender, run.start_tsc);
	}
	run.state = WEIR_RUN_RUNNING;
	__atomic_store_n(&weir_epoch, run.number, __ATOMIC_RELEASE);
	return run.number;
}

/* Whether every stream has been sent. `*expected`: packets that receivers may still see, or have
 * seen; `*seen`: those that they saw. */
static bool
all_sent(uint64_t *expected, uint64_t *seen)
{
	*expected = 0;
	*seen = 0;
	for (unsigned int i = 0; i < weir_stream_count(); i++) {
		const struct weir_stream *stream = weir_stream_at(i);

		if (!__atomic_load_n(&stream->sender.done, __ATOMIC_ACQUIRE))
			return false;
		if (stream->config.to_port_id == WEIR_NOWHERE)
			continue;
		*expected += stream->sender.offered - stream->sender.refused;
		*seen += weir_counted(&stream->arrivals.delivered);
	}
	return true;
}

enum weir_run_state
weir_run_poll(void)
{
	uint64_t expected, seen, now = rte_rdtsc();

	if (run.state != WEIR_RUN_RUNNING || !all_sent(&expected, &seen))
		return run.state;
	if (run.sent_at_tsc == 0)
		run.sent_at_tsc = now;
	if (run.seen_at_tsc == 0 || seen != run.seen) {
		run.seen = seen;
		run.seen_at_tsc = now;
	}
	if (seen < expected && now - run.seen_at_tsc < run.drain_cycles &&
	    now - run.sent_at_tsc < run.drain_cycles + run.longest_drain_cycles)
		return run.state;
	/* From here on the counts stand: what still comes is too late. */
	__atomic_store_n(&weir_run_closed, true, __ATOMIC_RELEASE);
	weir_loops_pass();
	for (unsigned int i = 0; i < weir_stream_count(); i++) {
		struct weir_sender *sender = &weir_stream_at(i)->sender;

		sender->intended = weir_pacing_intended(&sender->pacing, sender->offered);
		weir_delays_flush(&weir_stream_at(i)->arrivals.delays);
	}
	weir_answers_take();
	run.state = WEIR_RUN_DONE;
	return run.state;
}

static void
finish_sender(void *argument)
{
	weir_sender_finish(argument, rte_rdtsc());
}

int
weir_run_finish(struct weir_error *error)
{
	if (weir_run_poll() != WEIR_RUN_RUNNING)
		return weir_fail(error, "bad_state", NULL, NULL, "send traffic.start first",
				 "no run goes on");
	for (unsigned int i = 0; i < weir_stream_count(); i++) {
		struct weir_stream *stream = weir_stream_at(i);

		weir_area_run(weir_generator_of(stream->config.port_id), finish_sender,
			      &stream->sender);
	}
	return 0;
}

unsigned int
weir_run_slices(uint64_t *slice_ns)
{
	*slice_ns = run.slice_ns;
	return run.slice_count;
}

/* Of three tries the one that took least: its reading is nearest to the counter's. */
uint64_t
weir_raw_ns(uint64_t *tsc)
{
	uint64_t least = UINT64_MAX, ns = 0;

	for (unsigned int i = 0; i < 3; i++) {
		struct timespec raw;
		uint64_t before = rte_rdtsc(), took;

		clock_gettime(CLOCK_MONOTONIC_RAW, &raw);
		took = rte_rdtsc() - before;
		if (took >= least)
			continue;
		least = took;
		*tsc = before + took / 2;
		ns = (uint64_t)raw.tv_sec * 1000000000 + (uint64_t)raw.tv_nsec;
	}
	return ns;
}

uint64_t
weir_run_start_raw_ns(void)
{
	return run.start_raw_ns;
}

uint64_t
weir_run_start_tsc(void)
{
	return run.start_tsc;
}

unsigned int
weir_run_number(void)
{
	return run.number;
}

uint64_t
weir_run_tx_duration_ns(void)
{
	uint64_t last = run.start_tsc;

	for (unsigned int i = 0; i < weir_stream_count(); i++)
		last = RTE_MAX(last, weir_stream_at(i)->sender.last_tx_tsc);
	return (uint64_t)((double)(last - run.start_tsc) * 1e9 / (double)rte_get_tsc_hz());
}
