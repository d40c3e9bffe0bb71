/* SPDX-License-Identifier: Apache-2.0 */
/* A stream up to now, with extremes and losses since the last call. */
#include <assert.h>
#include <string.h>

#include <rte_cycles.h>

#include "engine/loop.h"
#include "stream.h"

static_assert(WEIR_LOSSES_MAX == WEIR_INTERVAL_LOSSES_MAX, "room for all of them");

struct taking {
	struct weir_arrivals *arrivals;
	const struct weir_sender *sender;
	struct weir_stream_interval *interval;
};

static double
ns(double cycles)
{
	return cycles * weir_ns_per_cycle();
}

static void
take_variation(struct weir_delays *delays, struct weir_stream_interval *interval)
{
	interval->has_variation = delays->wanted.variation;
	if (delays->ipdv_max_cycles >= delays->ipdv_min_cycles) {
		interval->ipdv_min_ns = ns((double)delays->ipdv_min_cycles);
		interval->ipdv_max_ns = ns((double)delays->ipdv_max_cycles);
	}
	interval->jitter_count = delays->jitter_count;
	if (delays->jitter_count > 0)
		interval->jitter_mean_ns = ns(delays->jitter_sum / (double)delays->jitter_count);
	interval->jitter_max_ns = ns(delays->jitter_max);
	weir_delays_take_extremes(delays);
}

static void
take_losses(struct weir_losses *losses, struct weir_stream_interval *interval)
{
	interval->loss_count = losses->count;
	for (unsigned int i = 0; i < losses->count; i++) {
		double cycles = (double)(losses->kept[i].tsc - weir_run_start_tsc());

		interval->losses[i] = (struct weir_loss_ns){
			.at_ns = (uint64_t)ns(cycles),
			.packets = losses->kept[i].packets,
		};
	}
	interval->losses_left_out_packets = losses->left_out_packets;
	losses->count = 0;
	losses->left_out_packets = 0;
}

/* On the receiver's thread, between two of its polls. */
static void
take(void *argument)
{
	struct weir_stream_interval *interval = ((struct taking *)argument)->interval;
	struct weir_arrivals *arrivals = ((struct taking *)argument)->arrivals;
	struct weir_histogram *latency = &arrivals->delays.latency_cycles;
	uint64_t min, max;

	weir_delays_flush(&arrivals->delays);
	interval->delivered = arrivals->delivered;
	interval->duplicates = arrivals->duplicates;
	interval->reordered = arrivals->reordered;
	interval->too_late = arrivals->too_late;
	interval->missing = arrivals->any ? arrivals->highest + 1 - arrivals->delivered : 0;
	interval->latency_ns.count = latency->count;
	if (latency->count > 0)
		interval->latency_ns.mean = ns((double)latency->sum / (double)latency->count);
	weir_histogram_take_extremes(latency, &min, &max);
	interval->latency_ns.min = min <= max ? ns((double)min) : 0;
	interval->latency_ns.max = ns((double)max);
	take_variation(&arrivals->delays, interval);
	take_losses(&arrivals->losses, interval);
}

/* On the generator's thread: what was refused is part of what was offered. */
static void
take_sent(void *argument)
{
	const struct taking *taking = argument;

	taking->interval->offered = taking->sender->offered;
	taking->interval->tx_refused = taking->sender->refused;
}

void
weir_stream_interval(unsigned int index, struct weir_stream_interval *interval)
{
	struct weir_stream *stream = weir_stream_at(index);
	struct taking taking = {
		.arrivals = &stream->arrivals,
		.sender = &stream->sender,
		.interval = interval,
	};

	memset(interval, 0, sizeof(*interval));
	if (stream->config.to_port_id != WEIR_NOWHERE)
		weir_area_run(weir_receiver_of(stream->config.to_port_id), take, &taking);
	/* After the arrivals, so never less than these. */
	weir_area_run(weir_generator_of(stream->config.port_id), take_sent, &taking);
}
