/* SPDX-License-Identifier: Apache-2.0 */
#include "json.h"

#include <stdio.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_version.h>

#include "control/dataplane.h"
#include "control/stream_json.h"
#include "control/verbs.h"

#define FORMAT 1
#define FRAMES_MAX (1 << 24)

/* --- the request -------------------------------------------------------------------------------
 */

struct request_fields {
	const json_t *configure, *stream;
	const char *area, *path, *pcap;
	uint32_t frames;
};

#define INTO(member) WEIR_INTO(struct request_fields, member)

static const struct weir_field traffic_fields[] = {
	{"pcap", WEIR_FIELD_STRING, INTO(pcap)},
	{"stream", WEIR_FIELD_JSON, INTO(stream)},
	{"frames", WEIR_FIELD_COUNT, .min = 1, .max = FRAMES_MAX, .default_value = 8192,
	 INTO(frames)},
	{0},
};

static const struct weir_field request_fields[] = {
	{"configure", WEIR_FIELD_JSON, true, INTO(configure)},
	{"area", WEIR_FIELD_STRING, true, INTO(area)},
	{"path", WEIR_FIELD_STRING, true, INTO(path)},
	{"traffic", WEIR_FIELD_OBJECT, true, .fields = traffic_fields},
	{0},
};

static int
carry_out(const json_t *request, struct weir_chain **chain, struct weir_path **path,
	  struct weir_frames *frames, struct weir_error *error)
{
	struct weir_stream_config config;
	struct request_fields fields;
	json_t *result = NULL;

	if (weir_read(request, "", request_fields, &fields, error) < 0 ||
	    weir_verb_run(&weir_verb_configure, fields.configure, &result, error) < 0)
		return -1;
	json_decref(result);
	if (weir_path_named(fields.area, fields.path, chain, path, error) < 0)
		return -1;
	if (fields.pcap != NULL)
		return weir_frames_from_pcap(fields.pcap, frames, error);
	if (weir_stream_from_json(fields.stream, "traffic.stream", &config, error) < 0)
		return -1;
	return weir_frames_from_stream(&config, fields.frames, frames, error);
}

int
weir_lean_request(const char *file, struct weir_chain **chain, struct weir_path **path,
		  struct weir_frames *frames, struct weir_error *error)
{
	json_error_t problem;
	json_t *request = json_load_file(file, JSON_REJECT_DUPLICATES, &problem);
	int status;

	if (!json_is_object(request)) {
		json_decref(request);
		return weir_fail(error, "bad_request", "", "a JSON object", NULL, "%s: line %d: %s",
				 file, problem.line, problem.text);
	}
	status = carry_out(request, chain, path, frames, error);
	json_decref(request);
	return status;
}

/* --- answers -----------------------------------------------------------------------------------
 */

void
weir_lean_print(json_t *answer)
{
	json_dumpf(answer, stdout, JSON_COMPACT | JSON_REAL_PRECISION(6));
	json_decref(answer);
	puts("");
	fflush(stdout);
}

static const char *
name_of(const struct weir_stage *stage)
{
	return stage->name[0] != '\0' ? stage->name : stage->nf->name;
}

json_t *
weir_lean_ready_json(const struct weir_lean *lean, const struct weir_lean_ready *ready)
{
	json_t *stages = json_array(), *result;

	for (unsigned int i = 0; i < lean->path->stage_count; i++)
		json_array_append_new(stages, json_string(name_of(&lean->path->stages[i])));
	result = json_pack(
		"{s:i, s:s, s:s, s:I, s:s, s:o, s:b, s:i, s:i, s:s, s:s, s:f, s:f, s:b, s:I}",
		"format", FORMAT, "version", WEIR_VERSION, "dpdk", strchr(rte_version(), ' ') + 1,
		"tsc_hz", (json_int_t)rte_get_tsc_hz(), "memory",
		weir_memory_is_huge ? "hugepages" : "no-huge", "stages", stages, "fastpath",
		lean->path->fastpath.cache != NULL, "frames", lean->frames->count, "left_out",
		lean->frames->left_out, "counters",
		lean->probe->event_count > 0 ? "hardware" : "none", "no_counters",
		lean->probe->reason, "inject_cost_percent", ready->inject_cost_percent,
		"retires_most", ready->retires_most, "steps", ready->steps, "first_packets",
		(json_int_t)ready->first_batches * WEIR_BURST);
	if (ready->first_batches > 0 && ready->first_timed != NULL)
		json_object_set_new(result, "first",
				    weir_lean_timed_json(lean, ready->first_timed));
	if (ready->first_batches > 0 && ready->first_stepped != NULL)
		json_object_set_new(result, "first_stepped",
				    weir_lean_stepped_json(lean, ready->first_stepped));
	return result;
}

json_t *
weir_lean_stepped_json(const struct weir_lean *lean, const struct weir_lean_stepped *stepped)
{
	json_t *stages = json_array();

	for (unsigned int i = 0; lean->path->fastpath.cache == NULL && i < lean->path->stage_count;
	     i++)
		json_array_append_new(stages, json_integer(stepped->steps.stages[i]));
	return json_pack("{s:I, s:I, s:I, s:o}", "batches", (json_int_t)stepped->batches, "packets",
			 (json_int_t)stepped->packets, "instructions",
			 (json_int_t)stepped->steps.total, "stages", stages);
}

static json_t *
drops_json(const struct weir_nf *nf, const struct weir_lean_stage *stage)
{
	json_t *drops = json_object();

	for (unsigned int i = 0; i < nf->drop_reason_count; i++) {
		if (stage->drops[i] > 0)
			json_object_set_new(drops, nf->drop_reasons[i].symbol,
					    json_integer(stage->drops[i]));
	}
	return drops;
}

json_t *
weir_lean_timed_json(const struct weir_lean *lean, const struct weir_lean_timed *timed)
{
	const struct weir_path *path = lean->path;
	json_t *stages = json_array(), *result;

	for (unsigned int i = 0; i < path->stage_count; i++) {
		const struct weir_lean_stage *stage = &timed->stages[i];

		json_array_append_new(stages,
				      json_pack("{s:s, s:I, s:I, s:I, s:f, s:o}", "name",
						name_of(&path->stages[i]), "packets_in",
						(json_int_t)stage->packets_in, "packets_out",
						(json_int_t)stage->packets_out, "cycles",
						(json_int_t)stage->cycles, "middle", stage->middle,
						"drops", drops_json(path->stages[i].nf, stage)));
	}
	result = json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:b, s:o}", "batches",
			   (json_int_t)timed->batches, "packets", (json_int_t)timed->packets,
			   "forwarded", (json_int_t)timed->forwarded, "interrupted",
			   (json_int_t)timed->interrupted, "cycled", (json_int_t)timed->cycled,
			   "cycles", (json_int_t)timed->cycles, "middle", timed->middle,
			   "core_per_tsc", timed->core_per_tsc, "by_hardware", timed->by_hardware,
			   "stages", stages);
	if (path->fastpath.cache != NULL)
		json_object_set_new(result, "fastpath",
				    json_pack("{s:I, s:I, s:I, s:f}", "hits",
					      (json_int_t)timed->fastpath.hits, "slow_packets",
					      (json_int_t)timed->fastpath.slow_packets, "cycles",
					      (json_int_t)timed->fastpath.cycles, "middle",
					      timed->fastpath_middle));
	return result;
}

json_t *
weir_lean_counted_json(const struct weir_probe *probe, const struct weir_lean_counted *counted,
		       unsigned int count)
{
	json_t *targets = json_array();

	for (unsigned int i = 0; i < count; i++) {
		json_t *target = json_pack("{s:s, s:I, s:I}", "label", counted[i].label, "batches",
					   (json_int_t)counted[i].batches, "packets",
					   (json_int_t)counted[i].packets);

		for (unsigned int j = 0; j < probe->event_count; j++)
			json_object_set_new(target, probe->name[j],
					    json_integer(counted[i].sums[j]));
		json_array_append_new(targets, target);
	}
	return json_pack("{s:o, s:b}", "targets", targets, "shared", probe->shared);
}

static json_t *
series_json(const struct weir_machine_series *series)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < WEIR_MACHINE_REPEATS; i++)
		json_array_append_new(list, json_real(series->cycles[i]));
	return list;
}

json_t *
weir_machine_chase_json(size_t bytes, const struct weir_machine_series *series, bool huge)
{
	return json_pack("{s:I, s:b, s:I, s:o}", "bytes", (json_int_t)bytes, "huge", huge, "tsc_hz",
			 (json_int_t)weir_machine_tsc_hz(), "cycles", series_json(series));
}

json_t *
weir_machine_transfer_json(const struct weir_machine_transfer *transfer)
{
	return json_pack("{s:o, s:o, s:o}", "clean", series_json(&transfer->clean), "dirty",
			 series_json(&transfer->dirty), "turn", series_json(&transfer->turn));
}

json_t *
weir_machine_distance_json(const struct weir_machine_distance *found)
{
	return json_pack("{s:f, s:[f, f]}", "distance_cycles", found->cycles, "piece_cycles",
			 found->piece_cycles[0], found->piece_cycles[1]);
}
