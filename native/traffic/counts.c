/* SPDX-License-Identifier: Apache-2.0 */
/* What a run counted, for the control thread. */
#include <string.h>

#include <rte_cycles.h>

#include "stream.h"

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
	const struct weir_stream *stream = weir_stream_at(index);

	*count = (struct weir_stream_count){
		.intended = stream->sender.intended,
		.offered = stream->sender.offered,
		.tx_refused = stream->sender.refused,
		.delivered = stream->arrivals.delivered,
		.duplicates = stream->arrivals.duplicates,
		.reordered = stream->arrivals.reordered,
		.stale = stream->arrivals.stale,
		.too_late = stream->arrivals.too_late,
	};
	summarise(&stream->arrivals.latency_cycles, &count->latency);
}

const char *
weir_receiver_port(unsigned int index)
{
	return weir_receiver_port_name(weir_receiver_at(index));
}

void
weir_receiver_counted(unsigned int index, struct weir_receiver_count *count)
{
	*count = *weir_receiver_counts(weir_receiver_at(index));
}
