/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `trace`: frames through one path of functions, one at a time, and what became of each. It changes
 * the functions' state as real packets do and counts in their stages, but uses no port and no ring.
 * While the loops are stopped the caller may set the time, to see what times out.
 */
#include <string.h>

#include <rte_cycles.h>
#include <rte_mbuf.h>

#include "dataplane.h"
#include "frame_json.h"
#include "port/port.h"
#include "verbs.h"

#define FRAMES_MAX 4096

struct trace {
	struct weir_chain *chain;
	struct weir_path *path;
	const json_t *frames;
	uint64_t now_tsc;
	json_t *outcomes;
	bool no_memory;
};

/* The stage and the reason whose count is not what it was; "held": a stage keeps it for later. */
static json_t *
drop_since(const struct weir_path *path, uint64_t before[][WEIR_DROP_REASONS_MAX])
{
	for (unsigned int i = 0; i < path->stage_count; i++) {
		const struct weir_stage *stage = &path->stages[i];

		for (unsigned int j = 0; j < stage->nf->drop_reason_count; j++) {
			if (stage->ledger.drops[j] != before[i][j])
				return json_pack("{s:s, s:s}", "dropped",
						 stage->nf->drop_reasons[j].symbol, "at",
						 stage->nf->name);
		}
	}
	for (unsigned int i = 0; i < path->stage_count; i++) {
		if (path->stages[i].nf->release != NULL &&
		    !weir_nf_is_idle(path->stages[i].nf, path->stages[i].state))
			return json_pack("{s:s, s:s}", "dropped", "held", "at",
					 path->stages[i].nf->name);
	}
	return json_pack("{s:s}", "dropped", "uncounted");
}

static json_t *
trace_one(const struct trace *trace, struct rte_mbuf *packet)
{
	struct weir_path *path = trace->path;
	uint64_t drops[WEIR_STAGES_MAX][WEIR_DROP_REASONS_MAX];
	struct weir_batch batch = {
		.count = 1,
		.direction = path->direction,
		.now_tsc = trace->now_tsc,
		.packet = {packet},
	};
	json_t *outcome;

	for (unsigned int i = 0; i < path->stage_count; i++)
		memcpy(drops[i], path->stages[i].ledger.drops, sizeof(drops[i]));
	weir_path_run(path, &batch);
	if (batch.count == 0)
		return drop_since(path, drops);
	outcome = json_pack("{s:o, s:i}", "frame", weir_frame_to_json(batch.packet[0]), "egress",
			    batch.egress[0]);
	rte_pktmbuf_free(batch.packet[0]);
	return outcome;
}

static void
run(void *argument)
{
	struct trace *trace = argument;
	size_t index;
	json_t *text;

	if (trace->chain->flows != NULL)
		weir_flow_cache_flush(trace->chain->flows);
	weir_chain_tick(trace->chain, trace->now_tsc);
	json_array_foreach((json_t *)trace->frames, index, text)
	{
		struct rte_mbuf *packet = weir_frame_from_json(text, weir_ports_mempool());

		if (packet == NULL) {
			trace->no_memory = true;
			return;
		}
		json_array_append_new(trace->outcomes, trace_one(trace, packet));
	}
}

struct trace_fields {
	const char *area, *path;
	const json_t *frames;
	uint64_t at_us;
};

#define INTO(member) WEIR_INTO(struct trace_fields, member)

static const struct weir_field trace_fields[] = {
	{"area", WEIR_FIELD_STRING, true, INTO(area)},
	{"path", WEIR_FIELD_STRING, true, INTO(path)},
	{"frames", WEIR_FIELD_LIST, true, INTO(frames)},
	{"at_us", WEIR_FIELD_COUNT, .max = UINT32_MAX * 1000ULL, .default_value = UINT64_MAX,
	 INTO(at_us)},
	{0},
};

static int
trace_frames(const void *arguments, json_t **result, struct weir_error *error)
{
	const struct trace_fields *fields = arguments;
	struct trace trace = {.frames = fields->frames, .now_tsc = rte_rdtsc()};

	if (weir_frames_check(fields->frames, FRAMES_MAX, "frames", error) < 0 ||
	    weir_path_named(fields->area, fields->path, &trace.chain, &trace.path, error) < 0)
		return -1;
	if (fields->at_us != UINT64_MAX) {
		if (weir_loops_running())
			return weir_fail(error, "bad_state", "at_us", NULL, "send `stop` first",
					 "the time cannot be set while the loops run");
		/* In two parts: 49 days in microseconds times gigahertz is more than 64 bits. */
		trace.now_tsc = fields->at_us / 1000000 * rte_get_tsc_hz() +
				fields->at_us % 1000000 * rte_get_tsc_hz() / 1000000;
	}
	trace.outcomes = json_array();
	weir_area_run(&trace.chain->area, run, &trace);
	if (trace.no_memory) {
		json_decref(trace.outcomes);
		return weir_fail(error, "no_memory", "frames", NULL, "configure with more `mbufs`",
				 "no packet buffer for a frame");
	}
	*result = json_pack("{s:o}", "outcomes", trace.outcomes);
	return 0;
}

const struct weir_verb weir_verb_trace = {"trace",
					  "Shows what becomes of frames on a path of functions.",
					  trace_frames, trace_fields, sizeof(struct trace_fields)};
