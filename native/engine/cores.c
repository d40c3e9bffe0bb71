/* SPDX-License-Identifier: Apache-2.0 */
#include "cores.h"

#include <string.h>

struct weir_core weir_cores[WEIR_CORES_MAX];
unsigned int weir_cores_used;
bool weir_cores_polled;

int
weir_cores_set(const unsigned int *cpus, const unsigned int *lcores, unsigned int count)
{
	if (count == 0 || count > WEIR_CORES_MAX)
		return -1;
	memset(weir_cores, 0, sizeof(weir_cores));
	for (unsigned int i = 0; i < count; i++) {
		weir_cores[i].cpu = cpus[i];
		weir_cores[i].lcore = lcores[i];
	}
	weir_cores_used = count;
	return 0;
}

unsigned int
weir_core_count(void)
{
	return weir_cores_used;
}

unsigned int
weir_core_number(unsigned int index)
{
	return weir_cores[index].cpu;
}

unsigned int
weir_core_lcore(unsigned int index)
{
	return weir_cores[index].lcore;
}

static struct weir_core *
core_of(unsigned int cpu)
{
	for (unsigned int i = 0; i < weir_cores_used; i++) {
		if (weir_cores[i].cpu == cpu)
			return &weir_cores[i];
	}
	return NULL;
}

bool
weir_core_known(unsigned int cpu)
{
	return core_of(cpu) != NULL;
}

int
weir_area_add(struct weir_area *area, struct weir_error *error)
{
	struct weir_core *core = core_of(area->core);

	if (weir_cores_polled)
		return weir_fail(error, "bad_state", area->name, NULL, "send `stop` first",
				 "areas cannot be added while the loops run");
	if (core == NULL)
		return weir_fail(error, "bad_argument", area->name, "a CPU given with --cores",
				 "start weir-dp with that CPU in --cores",
				 "CPU %u is not one of this process's polling cores", area->core);
	if (core->area_count == WEIR_AREAS_PER_CORE_MAX)
		return weir_fail(error, "bad_argument", area->name, "at most 256 areas on one core",
				 "place some areas on another core", "CPU %u is full", area->core);
	core->areas[core->area_count++] = area;
	return 0;
}

void
weir_areas_clear(void)
{
	for (unsigned int i = 0; i < weir_cores_used; i++)
		weir_cores[i].area_count = 0;
}

uint64_t
weir_core_loops(unsigned int index)
{
	return weir_counted(&weir_cores[index].loops);
}

struct weir_core_speed
weir_core_speed_of(unsigned int index)
{
	const struct weir_core_speed *speed = &weir_cores[index].speed;

	return (struct weir_core_speed){
		.pieces = weir_counted(&speed->pieces),
		.cycles = weir_counted(&speed->cycles),
	};
}

struct weir_stalls
weir_core_stalls(unsigned int index)
{
	const struct weir_stalls *stalls = &weir_cores[index].stalls;

	return (struct weir_stalls){
		.count = weir_counted(&stalls->count),
		.total_cycles = weir_counted(&stalls->total_cycles),
		.longest_cycles = weir_counted(&stalls->longest_cycles),
		.host_count = weir_counted(&stalls->host_count),
		.host_cycles = weir_counted(&stalls->host_cycles),
	};
}

void
weir_core_stalls_begin(unsigned int index)
{
	__atomic_store_n(&weir_cores[index].stalls.longest_cycles, 0, __ATOMIC_RELAXED);
}

unsigned int
weir_core_gaps(unsigned int index, uint64_t from, struct weir_gap *gaps, uint64_t *next)
{
	const struct weir_core *core = &weir_cores[index];

	return weir_history_read(core->gaps[0], WEIR_HISTORY_WORDS(*gaps), &core->gap_count,
				 WEIR_GAPS_KEPT, from, gaps, next);
}

unsigned int
weir_core_pieces(unsigned int index, uint64_t from, struct weir_piece *pieces, uint64_t *next)
{
	const struct weir_core *core = &weir_cores[index];

	return weir_history_read(core->pieces[0], WEIR_HISTORY_WORDS(*pieces), &core->piece_count,
				 WEIR_PIECES_KEPT, from, pieces, next);
}
