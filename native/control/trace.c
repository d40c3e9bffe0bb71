/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `trace`: frames through one path of functions, one at a time, and what became of each. It changes
 * the functions' state as real packets do and counts in their stages, but uses no port and no ring.
 * While the loops are stopped the caller may set the time, to see what times out.
 */
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_mbuf.h>

#include "arguments.h"
#include "dataplane.h"
#include "port/port.h"
#include "verb.h"

#define FRAMES_MAX 4096
#define FRAME_BYTES_MAX 2048

struct trace {
	struct weir_chain *chain;
	struct weir_path *path;
	const json_t *frames;
	uint64_t now_tsc;
	json_t *outcomes;
	bool no_memory;
};

static int
nibble(char digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	if (digit >= 'a' && digit <= 'f')
		return digit - 'a' + 10;
	return -1;
}

/* Bytes of a hexadecimal text, or -1. */
static int
bytes_of(const char *text, uint8_t *bytes)
{
	size_t digits = strlen(text);

	if (digits % 2 != 0 || digits / 2 > FRAME_BYTES_MAX)
		return -1;
	for (size_t i = 0; i < digits; i += 2) {
		int high = nibble(text[i]), low = nibble(text[i + 1]);

		if (high < 0 || low < 0)
			return -1;
		bytes[i / 2] = high << 4 | low;
	}
	return digits / 2;
}

static json_t *
text_of(const struct rte_mbuf *packet)
{
	static const char digits[] = "0123456789abcdef";
	const uint8_t *bytes = rte_pktmbuf_mtod(packet, const uint8_t *);
	char text[2 * FRAME_BYTES_MAX];

	for (uint16_t i = 0; i < packet->data_len; i++) {
		text[2 * i] = digits[bytes[i] >> 4];
		text[2 * i + 1] = digits[bytes[i] & 0xf];
	}
	return json_stringn(text, 2 * packet->data_len);
}

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
		if (path->stages[i].nf->release != NULL)
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
	outcome = json_pack("{s:o, s:i}", "frame", text_of(batch.packet[0]), "egress",
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
		weir_flow_cache_settle(trace->chain->flows);
	weir_chain_tick(trace->chain, trace->now_tsc);
	json_array_foreach((json_t *)trace->frames, index, text)
	{
		struct rte_mbuf *packet = rte_pktmbuf_alloc(weir_ports_mempool());
		uint8_t bytes[FRAME_BYTES_MAX];
		int count = bytes_of(json_string_value(text), bytes);

		if (packet == NULL || count > rte_pktmbuf_tailroom(packet)) {
			rte_pktmbuf_free(packet);
			trace->no_memory = true;
			return;
		}
		memcpy(rte_pktmbuf_append(packet, count), bytes, count);
		json_array_append_new(trace->outcomes, trace_one(trace, packet));
	}
}

static struct weir_path *
path_named(struct weir_chain *chain, const char *name)
{
	for (unsigned int i = 0; i < chain->path_count; i++) {
		if (strcmp(chain->paths[i].name, name) == 0)
			return &chain->paths[i];
	}
	return NULL;
}

static int
check_frames(const json_t *frames, struct weir_error *error)
{
	uint8_t bytes[FRAME_BYTES_MAX];
	size_t index;
	json_t *text;

	if (json_array_size(frames) > FRAMES_MAX)
		return weir_fail(error, "bad_argument", "frames", "at most 4096 frames", NULL,
				 "too many frames");
	json_array_foreach((json_t *)frames, index, text)
	{
		if (!json_is_string(text) || bytes_of(json_string_value(text), bytes) < 0)
			return weir_fail(
				error, "bad_argument", "frames",
				"small hexadecimal digits, 2048 bytes at most, without FCS", NULL,
				"frame %zu cannot be read", index);
	}
	return 0;
}

int
weir_verb_trace(const json_t *args, json_t **result, struct weir_error *error)
{
	static const char *const known[] = {"area", "path", "frames", "at_us", NULL};
	const char *area = NULL, *path = NULL;
	uint64_t at_us = UINT64_MAX;
	struct trace trace = {.now_tsc = rte_rdtsc()};

	if (weir_refuse_unknown(args, "", known, error) < 0 ||
	    weir_take_string(args, "area", true, "", &area, error) < 0 ||
	    weir_take_string(args, "path", true, "", &path, error) < 0 ||
	    weir_take_array(args, "frames", "", &trace.frames, error) < 0 ||
	    weir_take_count(args, "at_us", 0, UINT32_MAX * 1000ULL, "", &at_us, error) < 0 ||
	    check_frames(trace.frames, error) < 0)
		return -1;
	trace.chain = weir_chain_named(area);
	if (trace.chain == NULL)
		return weir_fail(error, "bad_argument", "area", "the name of an area of functions",
				 NULL, "there is no area '%s'", area);
	trace.path = path_named(trace.chain, path);
	if (trace.path == NULL)
		return weir_fail(error, "bad_argument", "path", "the name of a path of that area",
				 NULL, "area '%s' has no path '%s'", area, path);
	if (at_us != UINT64_MAX) {
		if (weir_loops_running())
			return weir_fail(error, "bad_state", "at_us", NULL, "send `stop` first",
					 "the time cannot be set while the loops run");
		trace.now_tsc = at_us * rte_get_tsc_hz() / 1000000;
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
