/* SPDX-License-Identifier: Apache-2.0 */
#include "slices_json.h"

#include <math.h>
#include <string.h>

#include <rte_common.h>
#include <rte_cycles.h>

#include "engine/distance.h"
#include "gaps_json.h"
#include "traffic/traffic.h"

static uint64_t gaps_seen[WEIR_CORES_MAX];
static uint64_t pieces_seen[WEIR_CORES_MAX];
static struct weir_piece pieces[WEIR_PIECES_KEPT];

void
weir_slices_forget(void)
{
	weir_gaps_mark(gaps_seen);
	for (unsigned int i = 0; i < weir_core_count(); i++)
		weir_core_pieces(i, pieces_seen[i], pieces, &pieces_seen[i]);
}

static json_t *
stream_json(unsigned int index, unsigned int count)
{
	json_t *due = json_array(), *offered = json_array(), *delivered = json_array();
	json_t *delay_ns = json_array(), *late_ns = json_array();

	for (unsigned int slice = 0; slice < count; slice++) {
		struct weir_slice_count found;

		weir_stream_slice(index, slice, &found);
		json_array_append_new(due, json_integer((json_int_t)found.due));
		json_array_append_new(offered, json_integer((json_int_t)found.offered));
		json_array_append_new(delivered, json_integer((json_int_t)found.delivered));
		json_array_append_new(delay_ns, json_integer(llround(found.delay_ns)));
		json_array_append_new(late_ns, json_integer(llround(found.late_ns)));
	}
	return json_pack("{s:i, s:o, s:o, s:o, s:o, s:o}", "id", weir_stream_id(index), "due", due,
			 "offered", offered, "delivered", delivered, "delay_ns", delay_ns,
			 "late_ns", late_ns);
}

/* Least cycles of the pieces of work that ended in each slice; 0 where none did. The least, since
 * one that took longer may have met an interrupt, and a slowed core slows them all. */
static json_t *
piece_cycles_json(unsigned int core, unsigned int count, double slice_cycles)
{
	static uint64_t least[WEIR_SLICES_MAX];
	uint64_t next;
	unsigned int found = weir_core_pieces(core, pieces_seen[core], pieces, &next);
	json_t *list = json_array();

	memset(least, 0, sizeof(least));
	for (unsigned int i = 0; i < found; i++) {
		double slice =
			((double)pieces[i].end_tsc - (double)weir_run_start_tsc()) / slice_cycles;
		uint64_t *of;

		if (slice < 0 || slice >= count)
			continue;
		of = &least[(unsigned int)slice];
		if (*of == 0 || pieces[i].cycles < *of)
			*of = pieces[i].cycles;
	}
	for (unsigned int i = 0; i < count; i++)
		json_array_append_new(list, json_integer((json_int_t)least[i]));
	return list;
}

static json_t *
others_json(void)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < weir_other_count(); i++)
		json_array_append_new(list, json_pack("{s:i, s:I, s:I}", "core",
						      weir_other_number(i), "distance_cycles",
						      (json_int_t)weir_other_distance_cycles(i),
						      "piece_cycles",
						      (json_int_t)weir_other_piece_cycles(i)));
	return list;
}

static json_t *
core_json(unsigned int core, unsigned int count, double slice_cycles)
{
	return json_pack("{s:i, s:I, s:o}", "core", weir_core_number(core), "distance_cycles",
			 (json_int_t)weir_core_distance_cycles(core), "piece_cycles",
			 piece_cycles_json(core, count, slice_cycles));
}

json_t *
weir_slices_json(void)
{
	uint64_t slice_ns, now_tsc, now_raw_ns, forgotten;
	unsigned int count = weir_run_slices(&slice_ns);
	double slice_cycles = (double)slice_ns * 1e-9 * (double)rte_get_tsc_hz();
	double cycles;
	uint64_t seen[WEIR_CORES_MAX];
	json_t *streams, *cores, *gaps;

	if (count == 0)
		return NULL;
	streams = json_array();
	cores = json_array();
	gaps = json_array();
	for (unsigned int i = 0; i < weir_stream_count(); i++)
		json_array_append_new(streams, stream_json(i, count));
	for (unsigned int i = 0; i < weir_core_count(); i++)
		json_array_append_new(cores, core_json(i, count, slice_cycles));
	memcpy(seen, gaps_seen, sizeof(seen)); /* asking again gives the same answer */
	forgotten = weir_gaps_since(seen, gaps);
	now_raw_ns = weir_raw_ns(&now_tsc);
	cycles = (double)(now_tsc - weir_run_start_tsc());
	return json_pack("{s:I, s:I, s:I, s:f, s:o, s:o, s:o, s:o, s:I}", "width_ns",
			 (json_int_t)slice_ns, "start_raw_ns", (json_int_t)weir_run_start_raw_ns(),
			 "now_raw_ns", (json_int_t)now_raw_ns, "now_us",
			 cycles * 1e6 / (double)rte_get_tsc_hz(), "streams", streams, "cores",
			 cores, "other_cores", others_json(), "gaps", gaps, "gaps_left_out",
			 (json_int_t)forgotten);
}
