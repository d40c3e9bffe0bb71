/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of another core, which a second thread touches in turn with this one. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include <emmintrin.h>

#include "cells.h"
#include "clock.h"
#include "engine/core_speed.h"
#include "machine.h"
#include "order.h"

#define CELLS 64
#define CELL_BYTES 256 /* so that no neighbour comes along */
#define ROUNDS 200
#define TURNS 2000
#define PIECES 500 /* of a third of a microsecond or so */

enum task { TASK_READ, TASK_WRITE, TASK_ANSWER, TASK_PACE, TASK_END };

/* The two threads take turns: an odd `turn` is the other one's. */
struct pair {
	uint8_t cells[CELLS * CELL_BYTES] __attribute__((aligned(4096)));
	uint64_t turn __attribute__((aligned(128)));
	uint64_t ping __attribute__((aligned(128)));
	uint64_t pong __attribute__((aligned(128)));
	struct weir_core_speed speed __attribute__((aligned(128))); /* of the other core */
	enum task task;
};

static void
wait_for(const uint64_t *word, uint64_t value)
{
	while (__atomic_load_n(word, __ATOMIC_ACQUIRE) != value)
		_mm_pause();
}

static void
set(uint64_t *word, uint64_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

/* All lines out of every cache, then into this core's: clean, or dirty. */
static void
touch(struct pair *pair, bool write)
{
	for (unsigned int i = 0; i < CELLS; i++)
		_mm_clflush(pair->cells + i * CELL_BYTES);
	_mm_mfence();
	for (unsigned int i = 0; i < CELLS; i++) {
		volatile uint64_t *beside_link = (uint64_t *)(pair->cells + i * CELL_BYTES) + 1;

		if (write)
			*beside_link = i;
		else
			(void)*beside_link; /* a load: it is volatile */
	}
	_mm_mfence();
}

static void
answer(struct pair *pair)
{
	for (uint64_t i = 1; i <= TURNS; i++) {
		while (__atomic_load_n(&pair->ping, __ATOMIC_ACQUIRE) != i)
			;
		set(&pair->pong, i);
	}
}

static void
keep_speed(struct weir_core_speed *speed)
{
	for (unsigned int i = 0; i < PIECES; i++)
		weir_core_speed_count(speed);
}

static void *
other_core(void *argument)
{
	struct pair *pair = argument;

	for (uint64_t turn = 1;; turn += 2) {
		wait_for(&pair->turn, turn);
		if (pair->task == TASK_END)
			break;
		if (pair->task == TASK_ANSWER)
			answer(pair);
		else if (pair->task == TASK_PACE)
			keep_speed(&pair->speed);
		else
			touch(pair, pair->task == TASK_WRITE);
		set(&pair->turn, turn + 1);
	}
	return NULL;
}

/* Lets the other core begin its task. Returns what `turn` is when it has ended. */
static uint64_t
hand_over(struct pair *pair, enum task task)
{
	uint64_t turn = pair->turn + 1;

	pair->task = task;
	set(&pair->turn, turn);
	return turn + 1;
}

static void
let(struct pair *pair, enum task task)
{
	wait_for(&pair->turn, hand_over(pair, task));
}

/* The median of many rounds: a host that takes the core away shows in few of them. */
static double
transfer(struct pair *pair, enum task task)
{
	double cycles[ROUNDS];

	for (unsigned int i = 0; i < ROUNDS; i++) {
		uint64_t start;

		let(pair, task);
		start = weir_lean_now();
		weir_cells_follow(pair->cells, CELLS);
		cycles[i] = (double)(weir_lean_now() - start) / CELLS;
	}
	weir_order(cycles, ROUNDS);
	return cycles[ROUNDS / 2];
}

static double
turn(struct pair *pair)
{
	static double cycles[TURNS];
	uint64_t ended;

	pair->ping = 0;
	pair->pong = 0;
	ended = hand_over(pair, TASK_ANSWER);
	for (uint64_t i = 1; i <= TURNS; i++) {
		uint64_t start = weir_lean_now();

		set(&pair->ping, i);
		while (__atomic_load_n(&pair->pong, __ATOMIC_ACQUIRE) != i)
			;
		cycles[i - 1] = (weir_lean_now() - start) / 2.0;
	}
	wait_for(&pair->turn, ended);
	weir_order(cycles, TURNS);
	return cycles[TURNS / 2];
}

/* On that CPU from its start: it need not run on this one first, which may be busy waiting. */
static int
start_on(unsigned int cpu, struct pair *pair, pthread_t *thread)
{
	pthread_attr_t attributes;
	cpu_set_t set;
	int status;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	pthread_attr_init(&attributes);
	pthread_attr_setaffinity_np(&attributes, sizeof(set), &set);
	status = pthread_create(thread, &attributes, other_core, pair);
	pthread_attr_destroy(&attributes);
	return status;
}

/* Another thread to take turns with. NULL: none can run on that CPU. */
static struct pair *
begin(unsigned int other_cpu, pthread_t *thread)
{
	struct pair *pair = aligned_alloc(4096, (sizeof(*pair) + 4095) / 4096 * 4096);

	if (pair == NULL)
		return NULL;
	memset(pair, 0, sizeof(*pair));
	if (!weir_cells_link(pair->cells, CELLS, CELL_BYTES) ||
	    start_on(other_cpu, pair, thread) != 0) {
		free(pair);
		return NULL;
	}
	return pair;
}

static void
end(struct pair *pair, pthread_t thread)
{
	hand_over(pair, TASK_END);
	pthread_join(thread, NULL);
	free(pair);
}

int
weir_machine_transfers(unsigned int other_cpu, struct weir_machine_transfer *found)
{
	pthread_t thread;
	struct pair *pair = begin(other_cpu, &thread);

	if (pair == NULL)
		return -1;
	for (unsigned int i = 0; i < WEIR_MACHINE_REPEATS; i++) {
		found->clean.cycles[i] = transfer(pair, TASK_READ);
		found->dirty.cycles[i] = transfer(pair, TASK_WRITE);
		found->turn.cycles[i] = turn(pair);
	}
	end(pair, thread);
	return 0;
}

static double
piece_cycles(const struct weir_core_speed *speed)
{
	return speed->pieces > 0 ? (double)speed->cycles / speed->pieces : 0;
}

int
weir_machine_distance(unsigned int other_cpu, struct weir_machine_distance *found)
{
	struct weir_core_speed speed = {0};
	pthread_t thread;
	struct pair *pair = begin(other_cpu, &thread);
	uint64_t ended;

	if (pair == NULL)
		return -1;
	found->cycles = transfer(pair, TASK_READ);
	ended = hand_over(pair, TASK_PACE);
	keep_speed(&speed);
	wait_for(&pair->turn, ended);
	found->piece_cycles[0] = piece_cycles(&speed);
	found->piece_cycles[1] = piece_cycles(&pair->speed);
	end(pair, thread);
	return 0;
}
