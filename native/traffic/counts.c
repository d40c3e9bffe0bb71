/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run counted, for the control thread. While the loops run, the threads that count are asked
 * for it: each copies its half of a stream between two of its polls, so that the figures of one
 * half belong together, and nothing that is counted needs to be atomic. The receiver is asked
 * first: no more has arrived than was offered.
 */
#include <assert.h>
#include <string.h>

#include <rte_common.h>
#include <rte_cycles.h>

#include "engine/loop.h"
#include "stream.h"

static_assert(WEIR_HISTOGRAM_BUCKETS == WEIR_DELAY_BUCKETS_MAX, "room for all of them");

void
weir_latency_of(const struct weir_histogram *cycles, struct weir_latency_ns *latency)
{
	double ns = weir_ns_per_cycle();

	memset(latency, 0, sizeof(*latency));
	latency->count = cycles->count;
	if (latency->count == 0)
		return;
	latency->min = (double)weir_histogram_min(cycles) * ns;
	latency->mean = (double)cycles->sum / (double)latency->count * ns;
	latency->p50 = (double)weir_histogram_quantile(cycles, 0.50) * ns;
	latency->p90 = (double)weir_histogram_quantile(cycles, 0.90) * ns;
	latency->p99 = (double)weir_histogram_quantile(cycles, 0.99) * ns;
	latency->p999 = (double)weir_histogram_quantile(cycles, 0.999) * ns;
	latency->p9999 = (double)weir_histogram_quantile(cycles, 0.9999) * ns;
	latency->max = (double)weir_histogram_max(cycles) * ns;
}

static void
summarise_variation(const struct weir_delays *delays, struct weir_variation_ns *variation)
{
	double ns = weir_ns_per_cycle();
	struct weir_latency_ns size;

	weir_latency_of(&delays->ipdv_cycles, &size);
	*variation = (struct weir_variation_ns){
		.pairs = size.count,
		.mean_size = size.mean,
		.p50_size = size.p50,
		.p90_size = size.p90,
		.p99_size = size.p99,
		.p999_size = size.p999,
		.p9999_size = size.p9999,
	};
	if (size.count > 0) {
		variation->min =
			(double)RTE_MIN(delays->ipdv_min_cycles, delays->earlier_ipdv_min_cycles) *
			ns;
		variation->max =
			(double)RTE_MAX(delays->ipdv_max_cycles, delays->earlier_ipdv_max_cycles) *
			ns;
	}
	if (delays->jitter_count > 0) {
		variation->jitter_mean = delays->jitter_sum / (double)delays->jitter_count * ns;
		variation->jitter_max =
			RTE_MAX(delays->jitter_max, delays->earlier_jitter_max) * ns;
		variation->jitter_last = delays->jitter * ns;
	}
}

/* Packets lost after the last arrival are a gap that ends when sending ended. While the run goes on
 * they may still be under way. */
static void
find_gaps(const struct weir_stream *stream, struct weir_stream_count *count)
{
	const struct weir_arrivals *arrivals = &stream->arrivals;
	uint64_t come = arrivals->any ? arrivals->highest + 1 : 0;
	uint64_t last_tsc = arrivals->after_gap_tsc, longest = arrivals->longest_gap_cycles;
	bool goes_on = weir_epoch != 0 && !weir_run_closed;

	count->gaps = arrivals->gaps;
	if (weir_stream_is_unstamped(stream))
		return;
	if (!goes_on && stream->config.to_port_id != WEIR_NOWHERE &&
	    stream->sender.sequence > come) {
		uint64_t from_tsc = arrivals->any ? arrivals->newest_rx_tsc : weir_run_start_tsc();

		count->gaps++;
		last_tsc = stream->sender.last_tx_tsc;
		if (last_tsc > from_tsc && last_tsc - from_tsc > longest)
			longest = last_tsc - from_tsc;
	}
	if (count->gaps > 0)
		count->last_lost_ns =
			(double)(last_tsc - weir_run_start_tsc()) * weir_ns_per_cycle();
	count->longest_gap_ns = (double)longest * weir_ns_per_cycle();
}

/* The stream looked at last. Of its arrays only the histograms are ever filled. */
static struct weir_stream taken;

/* On the receiver's thread. */
static void
take_arrivals(void *argument)
{
	struct weir_arrivals *arrivals = argument;
	struct weir_delays *delays = &arrivals->delays;

	weir_delays_flush(delays);
	memcpy(&taken.arrivals, arrivals, offsetof(struct weir_arrivals, window));
	memcpy(&taken.arrivals.delays, delays, offsetof(struct weir_delays, latency_cycles));
	weir_histogram_copy(&taken.arrivals.delays.latency_cycles, &delays->latency_cycles);
	weir_histogram_copy(&taken.arrivals.delays.ipdv_cycles, &delays->ipdv_cycles);
}

/* On the generator's thread. */
static void
take_sender(void *argument)
{
	const struct weir_sender *sender = argument;

	taken.sender.intended = sender->intended;
	taken.sender.sequence = sender->sequence;
	taken.sender.offered = sender->offered;
	taken.sender.offered_bytes = sender->offered_bytes;
	taken.sender.refused = sender->refused;
	taken.sender.last_tx_tsc = sender->last_tx_tsc;
	weir_histogram_copy(&taken.sender.lateness_cycles, &sender->lateness_cycles);
}

static void
ask_receiver(struct weir_stream *stream)
{
	/* Here, not on the thread that polls. */
	weir_histogram_clear(&taken.arrivals.delays.latency_cycles);
	weir_histogram_clear(&taken.arrivals.delays.ipdv_cycles);
	if (stream->config.to_port_id != WEIR_NOWHERE)
		weir_area_run(weir_receiver_of(stream->config.to_port_id), take_arrivals,
			      &stream->arrivals);
	else
		take_arrivals(&stream->arrivals);
}

static void
ask_generator(struct weir_stream *stream)
{
	weir_histogram_clear(&taken.sender.lateness_cycles);
	weir_area_run(weir_generator_of(stream->config.port_id), take_sender, &stream->sender);
}

void
weir_stream_counted(unsigned int index, struct weir_stream_count *count)
{
	const struct weir_stream *stream = &taken;
	const struct weir_delays *delays = &stream->arrivals.delays;

	taken.config = weir_stream_at(index)->config;
	ask_receiver(weir_stream_at(index));
	ask_generator(weir_stream_at(index));
	*count = (struct weir_stream_count){
		.intended = stream->sender.intended,
		.offered = stream->sender.offered,
		.offered_bytes = stream->sender.offered_bytes,
		.tx_refused = stream->sender.refused,
		.delivered = stream->arrivals.delivered,
		.duplicates = stream->arrivals.duplicates,
		.reordered = stream->arrivals.reordered,
		.stale = stream->arrivals.stale,
		.too_late = stream->arrivals.too_late,
		.has_variation = delays->wanted.variation,
		.has_tagged = delays->has_tagged,
		.tagged_ns = (double)delays->tagged_cycles * weir_ns_per_cycle(),
		.negative = delays->negative,
		.frame_sample = stream->arrivals.frame_sample,
	};
	find_gaps(stream, count);
	weir_latency_of(&stream->sender.lateness_cycles, &count->lateness);
	weir_latency_of(&delays->latency_cycles, &count->latency);
	if (delays->wanted.variation)
		summarise_variation(delays, &count->variation);
}

/* At a constant rate those from one slice's first key up to the next one's; the last ones that were
 * due may not have been sent, nor those that were skipped. */
static void
count_due(const struct weir_stream *stream, unsigned int slice, struct weir_slice_count *count)
{
	const struct weir_slices *slices = &stream->arrivals.slices;
	const struct weir_sender *sender = &stream->sender;
	bool last = slice + 1 == slices->count;
	uint64_t from = weir_slices_first(slices, slice);
	uint64_t to = last ? UINT64_MAX : weir_slices_first(slices, slice + 1);

	if (slices->by_time) {
		count->offered = sender->slices.slice[slice].packets;
		count->due = count->offered;
		return;
	}
	count->due = RTE_MIN(to, sender->intended) - RTE_MIN(from, sender->intended);
	count->offered = RTE_MIN(to, sender->sequence) - RTE_MIN(from, sender->sequence) -
			 sender->slices.slice[slice].packets;
}

void
weir_stream_slice(unsigned int index, unsigned int slice, struct weir_slice_count *count)
{
	const struct weir_stream *stream = weir_stream_at(index);
	const struct weir_slices *slices = &stream->arrivals.slices;
	const struct weir_slice *arrived = &slices->slice[slice];
	double packets = (double)arrived->packets;
	double due_cycles;

	memset(count, 0, sizeof(*count));
	count_due(stream, slice, count);
	count->delivered = arrived->packets;
	if (arrived->packets == 0)
		return;
	due_cycles = (double)weir_slices_first(slices, slice) + (double)arrived->keys / packets;
	if (!slices->by_time)
		due_cycles = (due_cycles + 1) *
			     stream->sender.pacing.schedule.parts[0].cycles_per_packet;
	count->delay_ns = ((double)arrived->arrivals / packets - due_cycles) * weir_ns_per_cycle();
	if (!slices->by_time)
		count->late_ns =
			((double)arrived->stamps / packets - due_cycles) * weir_ns_per_cycle();
}

unsigned int
weir_stream_buckets(unsigned int index, enum weir_delay_histogram which,
		    struct weir_bucket_ns *buckets, unsigned int room)
{
	const struct weir_delays *delays = &taken.arrivals.delays;
	const struct weir_histogram *histogram =
		which == WEIR_DELAY_LATENCY ? &delays->latency_cycles : &delays->ipdv_cycles;
	double ns = weir_ns_per_cycle();
	unsigned int found = 0;

	ask_receiver(weir_stream_at(index));
	for (uint32_t i = 0; i < WEIR_HISTOGRAM_BUCKETS; i++) {
		uint64_t count = histogram->buckets[i];

		if (count == 0)
			continue;
		if (found < room)
			buckets[found] = (struct weir_bucket_ns){
				.from = (double)weir_histogram_from(i) * ns,
				.to = (double)weir_histogram_from(i + 1) * ns,
				.count = count,
			};
		found++;
	}
	return found;
}

const char *
weir_receiver_port(unsigned int index)
{
	return weir_receiver_port_name(weir_receiver_at(index));
}

struct receiver_taking {
	struct weir_area *receiver;
	struct weir_receiver_count *count;
};

/* On the receiver's thread. */
static void
take_receiver(void *argument)
{
	const struct receiver_taking *taking = argument;

	*taking->count = *weir_receiver_counts(taking->receiver);
}

void
weir_receiver_counted(unsigned int index, struct weir_receiver_count *count)
{
	struct receiver_taking taking = {.receiver = weir_receiver_at(index), .count = count};

	weir_area_run(taking.receiver, take_receiver, &taking);
}
