/* SPDX-License-Identifier: Apache-2.0 */
/* Streams and runs: the control thread's side. */
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>

#include "core/loop.h"
#include "stream.h"

uint16_t weir_epoch;

static struct weir_area *generators[WEIR_STREAMS_MAX];
static unsigned int generator_count;
static struct weir_area *receivers[WEIR_STREAMS_MAX];
static unsigned int receiver_count;

static struct weir_stream *streams[WEIR_STREAMS_MAX];
static struct weir_stream *by_id[WEIR_STREAMS_MAX];
static unsigned int stream_count;

static struct {
	enum weir_run_state state;
	uint16_t number;
	uint64_t start_tsc, drain_cycles;
	uint64_t seen, seen_at_tsc; /* arrivals, and when they last grew */
} run;

void
weir_tester_area_add(struct weir_area *area, bool sends)
{
	if (sends && generator_count < WEIR_STREAMS_MAX)
		generators[generator_count++] = area;
	else if (!sends && receiver_count < WEIR_STREAMS_MAX)
		receivers[receiver_count++] = area;
}

static unsigned int
without(struct weir_area **list, unsigned int count, const struct weir_area *area)
{
	for (unsigned int i = 0; i < count; i++) {
		if (list[i] == area) {
			memmove(&list[i], &list[i + 1], (count - i - 1) * sizeof(*list));
			return count - 1;
		}
	}
	return count;
}

void
weir_tester_area_remove(struct weir_area *area)
{
	generator_count = without(generators, generator_count, area);
	receiver_count = without(receivers, receiver_count, area);
}

void
weir_streams_clear(void)
{
	__atomic_store_n(&weir_epoch, 0, __ATOMIC_RELEASE);
	for (unsigned int i = 0; i < generator_count; i++)
		weir_generator_take(generators[i], NULL, 0);
	for (unsigned int i = 0; i < receiver_count; i++)
		weir_receiver_take(receivers[i], NULL);
	while (stream_count > 0) {
		weir_sender_free(&streams[--stream_count]->sender);
		free(streams[stream_count]);
	}
	memset(by_id, 0, sizeof(by_id));
	run.state = WEIR_RUN_NONE;
}

static int
add_stream(const struct weir_stream_config *config, struct weir_error *error)
{
	struct weir_stream *stream = aligned_alloc(64, (sizeof(*stream) + 63) / 64 * 64);

	if (stream == NULL)
		return weir_fail(error, "no_memory", "streams", NULL, NULL,
				 "no memory for a stream");
	stream->config = *config;
	weir_arrivals_clear(&stream->arrivals);
	if (weir_sender_prepare(&stream->sender, &stream->config, error) < 0) {
		free(stream);
		return -1;
	}
	streams[stream_count++] = stream;
	by_id[config->id] = stream;
	return 0;
}

/* Hands the streams to the areas; false if a stream's port has no generator. */
static bool
hand_out(struct weir_error *error)
{
	for (unsigned int i = 0; i < receiver_count; i++)
		weir_receiver_take(receivers[i], by_id);
	for (unsigned int i = 0; i < stream_count; i++) {
		struct weir_sender *taken[WEIR_STREAMS_MAX];
		unsigned int g = 0, count = 0;

		while (g < generator_count &&
		       weir_generator_port(generators[g]) != streams[i]->config.port_id)
			g++;
		if (g == generator_count) {
			weir_fail(error, "bad_argument", "streams",
				  "a port that has a generator area", NULL,
				  "no generator sends on the port of stream %u",
				  streams[i]->config.id);
			return false;
		}
		for (unsigned int j = 0; j < stream_count; j++) {
			if (streams[j]->config.port_id == streams[i]->config.port_id)
				taken[count++] = &streams[j]->sender;
		}
		weir_generator_take(generators[g], taken, count);
	}
	return true;
}

int
weir_streams_configure(const struct weir_stream_config *configs, unsigned int count,
		       struct weir_error *error)
{
	bool was_running = weir_loops_running();

	if (run.state == WEIR_RUN_RUNNING)
		return weir_fail(error, "bad_state", "streams", NULL,
				 "wait for its end with traffic.result", "a run goes on");
	weir_loops_stop();
	weir_streams_clear();
	for (unsigned int i = 0; i < count; i++) {
		if (add_stream(&configs[i], error) < 0)
			goto failed;
	}
	if (!hand_out(error))
		goto failed;
	if (was_running)
		weir_loops_resume();
	return 0;
failed:
	weir_streams_clear();
	if (was_running)
		weir_loops_resume();
	return -1;
}

unsigned int
weir_stream_count(void)
{
	return stream_count;
}

uint16_t
weir_stream_id(unsigned int index)
{
	return streams[index]->config.id;
}

static void
start_sender(struct weir_sender *sender, double rate_pps, uint64_t start, uint64_t duration_cycles)
{
	double cycles = (double)rte_get_tsc_hz();

	sender->epoch = run.number;
	sender->pacing = (struct weir_pacing){
		.start_tsc = start,
		.packets_per_cycle = rate_pps / cycles,
		.poisson = sender->config->poisson && rate_pps > 0,
		.random = sender->config->seed + run.number,
	};
	if (sender->pacing.poisson)
		sender->pacing.next_due_cycles = weir_pacing_gap_cycles(&sender->pacing);
	sender->intended = rate_pps > 0
				   ? (uint64_t)(rate_pps * (double)duration_cycles / cycles + 1e-6)
				   : UINT64_MAX;
	sender->end_tsc = start + duration_cycles;
	sender->offered = 0;
	sender->refused = 0;
	sender->last_tx_tsc = start;
	sender->done = false;
}

int
weir_run_start(const double *rates_pps, uint64_t duration_ns, uint64_t drain_ns,
	       struct weir_error *error)
{
	double cycles_per_ns = (double)rte_get_tsc_hz() / 1e9;

	if (stream_count == 0)
		return weir_fail(error, "bad_state", NULL, NULL, "send traffic.configure first",
				 "there are no streams");
	if (!weir_loops_running())
		return weir_fail(error, "bad_state", NULL, NULL, "send `start` first",
				 "the loops do not run");
	if (run.state == WEIR_RUN_RUNNING)
		return weir_fail(error, "bad_state", NULL, NULL,
				 "wait for its end with traffic.result", "a run goes on");
	/* Counters and senders belong to the polling cores while these run. */
	weir_loops_stop();
	run.number = run.number == UINT16_MAX ? 1 : run.number + 1;
	run.drain_cycles = (uint64_t)((double)drain_ns * cycles_per_ns);
	run.start_tsc = rte_rdtsc() + rte_get_tsc_hz() / 1000;
	run.seen = 0;
	run.seen_at_tsc = 0;
	for (unsigned int i = 0; i < stream_count; i++) {
		weir_arrivals_clear(&streams[i]->arrivals);
		start_sender(&streams[i]->sender, rates_pps[i], run.start_tsc,
			     (uint64_t)((double)duration_ns * cycles_per_ns));
	}
	for (unsigned int i = 0; i < receiver_count; i++)
		memset(weir_receiver_counts(receivers[i]), 0, sizeof(struct weir_receiver_count));
	for (unsigned int i = 0; i < weir_core_count(); i++)
		weir_core_stalls_begin(i);
	run.state = WEIR_RUN_RUNNING;
	__atomic_store_n(&weir_epoch, run.number, __ATOMIC_RELEASE);
	weir_loops_resume();
	return run.number;
}

enum weir_run_state
weir_run_poll(void)
{
	uint64_t offered = 0, seen = 0, now = rte_rdtsc();

	if (run.state != WEIR_RUN_RUNNING)
		return run.state;
	for (unsigned int i = 0; i < stream_count; i++) {
		const struct weir_sender *sender = &streams[i]->sender;

		if (!__atomic_load_n(&sender->done, __ATOMIC_ACQUIRE))
			return run.state;
		offered += weir_counted(&sender->offered) - weir_counted(&sender->refused);
		seen += weir_counted(&streams[i]->arrivals.delivered);
	}
	if (run.seen_at_tsc == 0 || seen != run.seen) {
		run.seen = seen;
		run.seen_at_tsc = now;
	}
	if (seen < offered && now - run.seen_at_tsc < run.drain_cycles)
		return run.state;
	/* The epoch stays: what comes later still counts as of this run until the next one starts.
	 */
	run.state = WEIR_RUN_DONE;
	return run.state;
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

	for (unsigned int i = 0; i < stream_count; i++)
		last = RTE_MAX(last, streams[i]->sender.last_tx_tsc);
	return (uint64_t)((double)(last - run.start_tsc) * 1e9 / (double)rte_get_tsc_hz());
}

static void
summarise(const struct weir_histogram *cycles, struct weir_latency_ns *latency)
{
	double ns = 1e9 / (double)rte_get_tsc_hz();

	memset(latency, 0, sizeof(*latency));
	latency->count = cycles->count;
	if (cycles->count == 0)
		return;
	latency->min = (double)cycles->min * ns;
	latency->mean = (double)cycles->sum / (double)cycles->count * ns;
	latency->p50 = (double)weir_histogram_quantile(cycles, 0.50) * ns;
	latency->p90 = (double)weir_histogram_quantile(cycles, 0.90) * ns;
	latency->p99 = (double)weir_histogram_quantile(cycles, 0.99) * ns;
	latency->p999 = (double)weir_histogram_quantile(cycles, 0.999) * ns;
	latency->max = (double)cycles->max * ns;
}

void
weir_stream_counted(unsigned int index, struct weir_stream_count *count)
{
	const struct weir_stream *stream = streams[index];

	*count = (struct weir_stream_count){
		.intended = stream->sender.intended == UINT64_MAX ? stream->sender.offered
								  : stream->sender.intended,
		.offered = stream->sender.offered,
		.tx_refused = stream->sender.refused,
		.delivered = stream->arrivals.delivered,
		.duplicates = stream->arrivals.duplicates,
		.reordered = stream->arrivals.reordered,
		.stale = stream->arrivals.stale,
	};
	summarise(&stream->arrivals.latency_cycles, &count->latency);
}

unsigned int
weir_receiver_count(void)
{
	return receiver_count;
}

const char *
weir_receiver_port(unsigned int index)
{
	return weir_receiver_port_name(receivers[index]);
}

void
weir_receiver_counted(unsigned int index, struct weir_receiver_count *count)
{
	*count = *weir_receiver_counts(receivers[index]);
}
