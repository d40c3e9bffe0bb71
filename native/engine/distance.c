/* SPDX-License-Identifier: Apache-2.0 */
#include "distance.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>

#include <rte_common.h>
#include <rte_cycles.h>
#include <rte_launch.h>

#include "lcore_wait.h"
#include "loop.h"

#define WARM_UP_TURNS 32
#define PATIENCE 100000000 /* looks at an answer that does not come: some tenths of a second */
#define TURNS (WARM_UP_TURNS + WEIR_DISTANCE_TURNS)

static uint64_t distance_cycles[WEIR_CORES_MAX];
static struct {
	uint64_t ping __rte_cache_aligned;
	uint64_t pong __rte_cache_aligned;
	bool given_up __rte_cache_aligned; /* whoever asks waits no longer */
	uint64_t cycles[TURNS] __rte_cache_aligned;
} line;

static int
answer(void *argument)
{
	(void)argument;
	for (uint64_t turn = 1; turn <= TURNS; turn++) {
		while (__atomic_load_n(&line.ping, __ATOMIC_ACQUIRE) != turn) {
			if (__atomic_load_n(&line.given_up, __ATOMIC_RELAXED))
				return 0;
		}
		__atomic_store_n(&line.pong, turn, __ATOMIC_RELEASE);
	}
	return 0;
}

static int
ask(void *argument)
{
	(void)argument;
	for (uint64_t turn = 1; turn <= TURNS; turn++) {
		uint64_t begin = rte_rdtsc();

		__atomic_store_n(&line.ping, turn, __ATOMIC_RELEASE);
		for (unsigned int looks = 0; __atomic_load_n(&line.pong, __ATOMIC_ACQUIRE) != turn;
		     looks++) {
			if (looks == PATIENCE) {
				__atomic_store_n(&line.given_up, true, __ATOMIC_RELAXED);
				return -1;
			}
		}
		line.cycles[turn - 1] = rte_rdtsc() - begin;
	}
	return 0;
}

static int
by_size(const void *one, const void *other)
{
	uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;

	return (a > b) - (a < b);
}

static struct {
	unsigned int count;
	unsigned int cpu[WEIR_OTHERS_MAX];
	uint64_t distance_cycles[WEIR_OTHERS_MAX];
	uint64_t piece_cycles[WEIR_OTHERS_MAX];
} others;

static void
begin(void)
{
	line.ping = 0;
	line.pong = 0;
	line.given_up = false;
}

/* The first core asks; whoever answers has begun to. 0: nobody answered in time. */
static uint64_t
asked_cycles(void)
{
	uint64_t *counted = line.cycles + WARM_UP_TURNS;

	rte_eal_remote_launch(ask, NULL, weir_core_lcore(0));
	if (weir_lcore_wait(weir_core_lcore(0)) != 0)
		return 0;
	qsort(counted, WEIR_DISTANCE_TURNS, sizeof(*counted), by_size);
	return counted[WEIR_DISTANCE_TURNS / 2];
}

static uint64_t
core_cycles(unsigned int lcore)
{
	uint64_t cycles;

	begin();
	rte_eal_remote_launch(answer, NULL, lcore);
	cycles = asked_cycles();
	weir_lcore_wait(lcore);
	return cycles;
}

/* `argument`: where the speed goes. */
static void *
answer_there(void *argument)
{
	uint64_t *least = argument;
	struct weir_core_speed speed = {0};

	answer(NULL);
	for (unsigned int i = 0; i < WEIR_OTHER_PIECES; i++) {
		uint64_t cycles = weir_core_speed_count(&speed);

		if (cycles != 0 && (*least == 0 || cycles < *least))
			*least = cycles;
	}
	return NULL;
}

/* Before who polls there: without the right to that the two take turns, and some turns are lost. */
static int
start_there(unsigned int cpu, pthread_t *thread, uint64_t *piece_cycles)
{
	struct sched_param first = {.sched_priority = WEIR_ABOVE_POLLING};
	pthread_attr_t attributes;
	cpu_set_t there;
	int status;

	CPU_ZERO(&there);
	CPU_SET(cpu, &there);
	pthread_attr_init(&attributes);
	pthread_attr_setaffinity_np(&attributes, sizeof(there), &there);
	pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attributes, SCHED_FIFO);
	pthread_attr_setschedparam(&attributes, &first);
	status = pthread_create(thread, &attributes, answer_there, piece_cycles);
	pthread_attr_destroy(&attributes);
	return status;
}

static uint64_t
other_cycles(unsigned int cpu, uint64_t *piece_cycles)
{
	pthread_t thread;
	uint64_t cycles;

	begin();
	*piece_cycles = 0;
	if (start_there(cpu, &thread, piece_cycles) != 0)
		return 0;
	cycles = asked_cycles();
	pthread_join(thread, NULL);
	return cycles;
}

void
weir_others_set(const unsigned int *cpus, unsigned int count)
{
	others.count = 0;
	for (unsigned int i = 0; i < count && others.count < WEIR_OTHERS_MAX; i++) {
		if (!weir_core_known(cpus[i]))
			others.cpu[others.count++] = cpus[i];
	}
}

unsigned int
weir_other_count(void)
{
	return others.count;
}

unsigned int
weir_other_number(unsigned int index)
{
	return others.cpu[index];
}

uint64_t
weir_other_piece_cycles(unsigned int index)
{
	return others.piece_cycles[index];
}

uint64_t
weir_other_distance_cycles(unsigned int index)
{
	return others.distance_cycles[index];
}

void
weir_distances_measure(void)
{
	for (unsigned int i = 1; i < weir_core_count(); i++)
		distance_cycles[i] = core_cycles(weir_core_lcore(i));
	for (unsigned int i = 0; i < others.count; i++)
		others.distance_cycles[i] = other_cycles(others.cpu[i], &others.piece_cycles[i]);
}

uint64_t
weir_core_distance_cycles(unsigned int index)
{
	return distance_cycles[index];
}
