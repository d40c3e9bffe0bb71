/* SPDX-License-Identifier: Apache-2.0 */
#include "gaps_json.h"

#include <rte_cycles.h>

#include "traffic/traffic.h"

static struct weir_gap gaps[WEIR_GAPS_KEPT];

void
weir_gaps_mark(uint64_t seen[WEIR_CORES_MAX])
{
	for (unsigned int i = 0; i < weir_core_count(); i++)
		weir_core_gaps(i, seen[i], gaps, &seen[i]);
}

static json_t *
gap_json(unsigned int core, const struct weir_gap *gap)
{
	double us = 1e6 / (double)rte_get_tsc_hz();
	double at_us = ((double)gap->end_tsc - (double)weir_run_start_tsc()) * us;

	return json_pack("{s:i, s:f, s:f, s:f, s:s?}", "core", weir_core_number(core), "ended_us",
			 at_us, "us", (double)gap->cycles * us, "host_us",
			 (double)gap->host_cycles * us, "area", gap->area);
}

uint64_t
weir_gaps_since(uint64_t seen[WEIR_CORES_MAX], json_t *list)
{
	uint64_t forgotten = 0;

	for (unsigned int core = 0; core < weir_core_count(); core++) {
		uint64_t next;
		unsigned int count = weir_core_gaps(core, seen[core], gaps, &next);

		forgotten += next - seen[core] - count;
		seen[core] = next;
		for (unsigned int i = 0; i < count; i++)
			json_array_append_new(list, gap_json(core, &gaps[i]));
	}
	return forgotten;
}

static uint64_t interval_seen[WEIR_CORES_MAX];

void
weir_gaps_begin(void)
{
	weir_gaps_mark(interval_seen);
}

uint64_t
weir_gaps_of_interval(json_t *list)
{
	return weir_gaps_since(interval_seen, list);
}
