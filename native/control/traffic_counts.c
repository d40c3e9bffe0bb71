/* SPDX-License-Identifier: Apache-2.0 */
/* What a run counted, as JSON. */
#include "traffic_counts.h"

#include <string.h>

#include <rte_cycles.h>

#include "port/port.h"
#include "slices_json.h"
#include "traffic/traffic.h"

json_t *
weir_latency_json(const struct weir_latency_ns *latency)
{
	return json_pack("{s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "count",
			 (json_int_t)latency->count, "min_ns", latency->min, "mean_ns",
			 latency->mean, "p50_ns", latency->p50, "p90_ns", latency->p90, "p99_ns",
			 latency->p99, "p999_ns", latency->p999, "p9999_ns", latency->p9999,
			 "max_ns", latency->max);
}

static json_t *
ipdv_json(const struct weir_variation_ns *variation)
{
	return json_pack("{s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "pairs",
			 (json_int_t)variation->pairs, "min_ns", variation->min, "max_ns",
			 variation->max, "mean_size_ns", variation->mean_size, "p50_size_ns",
			 variation->p50_size, "p90_size_ns", variation->p90_size, "p99_size_ns",
			 variation->p99_size, "p999_size_ns", variation->p999_size, "p9999_size_ns",
			 variation->p9999_size);
}

static json_t *
frame_sample_json(const struct weir_frame_sample *sample)
{
	static const char *const changes[] = {
		[WEIR_CHANGED_LENGTH] = "length",
		[WEIR_CHANGED_PAYLOAD] = "payload",
		[WEIR_CHANGED_TRAILER] = "trailer",
	};
	json_t *object = json_pack("{s:I, s:I}", "sampled", (json_int_t)sample->sampled, "changed",
				   (json_int_t)sample->changed);

	if (sample->changed > 0)
		json_object_set_new(object, "first",
				    json_pack("{s:s, s:I, s:I, s:I, s:I}", "what",
					      changes[sample->first.what], "sequence",
					      (json_int_t)sample->first.sequence, "offset_bytes",
					      (json_int_t)sample->first.offset_bytes, "expected",
					      (json_int_t)sample->first.expected, "received",
					      (json_int_t)sample->first.received));
	return object;
}

static json_t *
stream_json(unsigned int index)
{
	struct weir_stream_count c;
	struct weir_learned learned;
	json_t *stream;

	weir_stream_counted(index, &c);
	stream = json_pack("{s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "id",
			   weir_stream_id(index), "intended", (json_int_t)c.intended, "offered",
			   (json_int_t)c.offered, "tx_refused", (json_int_t)c.tx_refused,
			   "delivered", (json_int_t)c.delivered, "duplicates",
			   (json_int_t)c.duplicates, "reordered", (json_int_t)c.reordered,
			   "late_from_earlier_run", (json_int_t)c.stale, "too_late",
			   (json_int_t)c.too_late, "negative", (json_int_t)c.negative, "latency",
			   weir_latency_json(&c.latency));
	json_object_set_new(stream, "frame_sample", frame_sample_json(&c.frame_sample));
	if (c.offered_bytes > 0)
		json_object_set_new(stream, "offered_bytes",
				    json_integer((json_int_t)c.offered_bytes));
	if (weir_stream_learned(index, &learned))
		json_object_set_new(stream, "learned",
				    json_pack("{s:I, s:I, s:I}", "flows", (json_int_t)learned.flows,
					      "arrived", (json_int_t)learned.arrived, "translated",
					      (json_int_t)learned.translated));
	if (c.lateness.count > 0)
		json_object_set_new(stream, "lateness", weir_latency_json(&c.lateness));
	if (c.has_tagged)
		json_object_set_new(stream, "tagged_ns", json_real(c.tagged_ns));
	if (c.gaps > 0)
		json_object_set_new(stream, "gaps",
				    json_pack("{s:I, s:f, s:f}", "count", (json_int_t)c.gaps,
					      "last_lost_ns", c.last_lost_ns, "longest_ns",
					      c.longest_gap_ns));
	if (c.has_variation) {
		json_object_set_new(stream, "ipdv", ipdv_json(&c.variation));
		json_object_set_new(stream, "jitter",
				    json_pack("{s:f, s:f, s:f}", "mean_ns", c.variation.jitter_mean,
					      "max_ns", c.variation.jitter_max, "last_ns",
					      c.variation.jitter_last));
	}
	return stream;
}

json_t *
weir_streams_counted(void)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < weir_stream_count(); i++)
		json_array_append_new(list, stream_json(i));
	return list;
}

static json_t *
receivers_counted(void)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < weir_receiver_count(); i++) {
		struct weir_receiver_count c;

		weir_receiver_counted(i, &c);
		json_array_append_new(
			list,
			json_pack("{s:s, s:I, s:I, s:I, s:I, s:i}", "port", weir_receiver_port(i),
				  "foreign", (json_int_t)c.foreign, "malformed",
				  (json_int_t)c.malformed, "stale", (json_int_t)c.stale, "untimed",
				  (json_int_t)c.untimed, "clock_steps", c.clock_steps));
	}
	return list;
}

static struct weir_stalls at_start[WEIR_CORES_MAX];

void
weir_stalls_begin(const struct weir_stalls *before)
{
	memcpy(at_start, before, sizeof(before[0]) * weir_core_count());
}

json_t *
weir_stalls_since_start(void)
{
	double us = 1e6 / (double)rte_get_tsc_hz();
	json_t *list = json_array();

	for (unsigned int i = 0; i < weir_core_count(); i++) {
		struct weir_stalls now = weir_core_stalls(i);

		json_array_append_new(
			list,
			json_pack("{s:i, s:I, s:f, s:f, s:I, s:f}", "core", weir_core_number(i),
				  "count", (json_int_t)(now.count - at_start[i].count), "total_us",
				  (double)(now.total_cycles - at_start[i].total_cycles) * us,
				  "longest_us", (double)now.longest_cycles * us, "host_count",
				  (json_int_t)(now.host_count - at_start[i].host_count), "host_us",
				  (double)(now.host_cycles - at_start[i].host_cycles) * us));
	}
	return list;
}

json_t *
weir_gone_ports(void)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < weir_port_count(); i++) {
		if (weir_port_gone(weir_port_at(i)))
			json_array_append_new(list, json_string(weir_port_at(i)->name));
	}
	return list;
}

json_t *
weir_traffic_counts(void)
{
	return json_pack("{s:s, s:i, s:I, s:o, s:o, s:o, s:o, s:o*}", "state", "done", "run",
			 weir_run_number(), "tx_duration_ns", (json_int_t)weir_run_tx_duration_ns(),
			 "streams", weir_streams_counted(), "receivers", receivers_counted(),
			 "stalls", weir_stalls_since_start(), "gone_ports", weir_gone_ports(),
			 "slices", weir_slices_json());
}
