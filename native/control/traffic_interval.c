/* SPDX-License-Identifier: Apache-2.0 */
/* The verbs of long runs: what happened since the last look, and an end before the time. */
#include <rte_cycles.h>

#include "gaps_json.h"
#include "traffic_counts.h"
#include "verbs.h"

static json_t *
losses_json(const struct weir_stream_interval *interval)
{
	json_t *losses = json_array();

	for (unsigned int i = 0; i < interval->loss_count; i++)
		json_array_append_new(losses,
				      json_pack("[I, I]", (json_int_t)interval->losses[i].at_ns,
						(json_int_t)interval->losses[i].packets));
	return losses;
}

static json_t *
stream_json(unsigned int index)
{
	struct weir_stream_interval now;
	json_t *stream;

	weir_stream_interval(index, &now);
	stream = json_pack(
		"{s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:{s:I, s:f, s:f, s:f}, s:o, s:I}", "id",
		weir_stream_id(index), "offered", (json_int_t)now.offered, "tx_refused",
		(json_int_t)now.tx_refused, "delivered", (json_int_t)now.delivered, "duplicates",
		(json_int_t)now.duplicates, "reordered", (json_int_t)now.reordered, "too_late",
		(json_int_t)now.too_late, "missing", (json_int_t)now.missing, "latency", "count",
		(json_int_t)now.latency_ns.count, "mean_ns", now.latency_ns.mean, "min_ns",
		now.latency_ns.min, "max_ns", now.latency_ns.max, "losses", losses_json(&now),
		"losses_left_out_packets", (json_int_t)now.losses_left_out_packets);
	if (now.has_variation)
		json_object_set_new(stream, "variation",
				    json_pack("{s:f, s:f, s:I, s:f, s:f}", "ipdv_min_ns",
					      now.ipdv_min_ns, "ipdv_max_ns", now.ipdv_max_ns,
					      "jitter_count", (json_int_t)now.jitter_count,
					      "jitter_mean_ns", now.jitter_mean_ns, "jitter_max_ns",
					      now.jitter_max_ns));
	return stream;
}

static int
traffic_interval(const void *arguments, json_t **result, struct weir_error *error)
{
	double ns = 1e9 / (double)rte_get_tsc_hz();
	json_t *streams, *gaps;
	uint64_t forgotten, now_tsc, now_raw_ns;

	(void)arguments;
	if (weir_run_poll() == WEIR_RUN_NONE)
		return weir_fail(error, "bad_state", NULL, NULL, "send traffic.start first",
				 "there has been no run");
	streams = json_array();
	for (unsigned int i = 0; i < weir_stream_count(); i++)
		json_array_append_new(streams, stream_json(i));
	gaps = json_array();
	forgotten = weir_gaps_of_interval(gaps);
	now_raw_ns = weir_raw_ns(&now_tsc);
	*result = json_pack("{s:i, s:I, s:I, s:o, s:o, s:o, s:I, s:o}", "run", weir_run_number(),
			    "now_ns", (json_int_t)((double)(now_tsc - weir_run_start_tsc()) * ns),
			    "now_raw_ns", (json_int_t)now_raw_ns, "streams", streams, "stalls",
			    weir_stalls_since_start(), "gaps", gaps, "gaps_left_out",
			    (json_int_t)forgotten, "gone_ports", weir_gone_ports());
	return 0;
}

const struct weir_verb weir_verb_traffic_interval = {
	"traffic.interval", "What happened in a run since the last look at it.", traffic_interval};

static int
traffic_finish(const void *arguments, json_t **result, struct weir_error *error)
{
	(void)arguments, (void)result;
	return weir_run_finish(error);
}

const struct weir_verb weir_verb_traffic_finish = {
	"traffic.finish", "Ends the sending of a run before its time; it drains and has counts.",
	traffic_finish};
