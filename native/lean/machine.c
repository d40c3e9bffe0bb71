/* SPDX-License-Identifier: Apache-2.0 */
#include "machine.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <emmintrin.h>
#include <sys/mman.h>

#include "clock.h"

#define LINE_BYTES 64
#define HUGE_BYTES (2UL << 20)
#define LOADS_MIN 200000

#define CALIBRATION_NS 50000000

uint64_t
weir_machine_tsc_hz(void)
{
	static uint64_t hz;
	struct timespec start, now;
	uint64_t cycles, ns;

	if (hz != 0)
		return hz;
	clock_gettime(CLOCK_MONOTONIC_RAW, &start);
	cycles = weir_lean_now();
	do {
		clock_gettime(CLOCK_MONOTONIC_RAW, &now);
		ns = (now.tv_sec - start.tv_sec) * 1000000000ULL + now.tv_nsec - start.tv_nsec;
	} while (ns < CALIBRATION_NS);
	hz = (weir_lean_now() - cycles) * 1e9 / ns;
	return hz;
}

/* --- loads over a size of memory ---------------------------------------------------------------
 */

static uint64_t
next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/*
 * Links `count` cells, `stride` bytes apart, into one random circle (Sattolo's shuffle), so that no
 * prefetcher guesses the next one. False: no memory for the order.
 */
static bool
link_cells(uint8_t *memory, size_t count, size_t stride)
{
	uint32_t *order = malloc(count * sizeof(*order));
	uint64_t state = 88172645463325252ULL;

	if (order == NULL)
		return false;
	for (size_t i = 0; i < count; i++)
		order[i] = i;
	for (size_t i = count - 1; i > 0; i--) {
		size_t j = next_random(&state) % i;
		uint32_t kept = order[i];

		order[i] = order[j];
		order[j] = kept;
	}
	for (size_t i = 0; i < count; i++)
		*(void **)(memory + order[i] * stride) = memory + order[(i + 1) % count] * stride;
	free(order);
	return true;
}

/* Follows `loads` links; the result keeps the compiler from leaving them out. */
static void *
follow(void *at, uint64_t loads)
{
	for (uint64_t i = 0; i < loads; i++) {
		at = *(void *volatile *)at;
	}
	return at;
}

static void *
map(size_t bytes, bool *huge)
{
	const int protection = PROT_READ | PROT_WRITE, flags = MAP_PRIVATE | MAP_ANONYMOUS;
	void *memory = mmap(NULL, bytes, protection, flags | MAP_HUGETLB | MAP_POPULATE, -1, 0);

	*huge = memory != MAP_FAILED;
	if (*huge)
		return memory;
	memory = mmap(NULL, bytes, protection, flags, -1, 0);
	if (memory == MAP_FAILED)
		return NULL;
	/* The kernel may still find large pages; nobody can tell beforehand. */
	madvise(memory, bytes, MADV_HUGEPAGE);
	return memory;
}

int
weir_machine_chase(size_t bytes, struct weir_machine_series *series, bool *huge)
{
	size_t mapped = (bytes + HUGE_BYTES - 1) / HUGE_BYTES * HUGE_BYTES;
	size_t count = bytes / LINE_BYTES;
	uint64_t loads = count < LOADS_MIN ? LOADS_MIN / count * count : LOADS_MIN;
	uint8_t *memory = map(mapped, huge);
	void *at = memory;

	if (memory == NULL || !link_cells(memory, count, LINE_BYTES)) {
		if (memory != NULL)
			munmap(memory, mapped);
		return -1;
	}
	at = follow(at, count < LOADS_MIN ? count * 2 : LOADS_MIN);
	for (unsigned int i = 0; i < WEIR_MACHINE_REPEATS; i++) {
		uint64_t start = weir_lean_now();

		at = follow(at, loads);
		series->cycles[i] = (double)(weir_lean_now() - start) / loads;
	}
	munmap(memory, mapped);
	return 0;
}

/* --- lines of another core ---------------------------------------------------------------------
 */

#define CELLS 64
#define CELL_BYTES 256 /* so that no neighbour comes along */
#define ROUNDS 200
#define TURNS 2000

enum task { TASK_READ, TASK_WRITE, TASK_ANSWER, TASK_END };

/* The two threads take turns: an odd `turn` is the other one's. */
struct pair {
	uint8_t cells[CELLS * CELL_BYTES] __attribute__((aligned(4096)));
	uint64_t turn __attribute__((aligned(128)));
	uint64_t ping __attribute__((aligned(128)));
	uint64_t pong __attribute__((aligned(128)));
	enum task task;
	unsigned int cpu;
	bool pinned;
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

static bool
pin(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set) == 0;
}

static void *
other_core(void *argument)
{
	struct pair *pair = argument;

	pair->pinned = pin(pair->cpu);
	for (uint64_t turn = 1;; turn += 2) {
		wait_for(&pair->turn, turn);
		if (pair->task == TASK_END)
			break;
		if (pair->task == TASK_ANSWER)
			answer(pair);
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

static int
by_size(const void *one, const void *other)
{
	double a = *(const double *)one, b = *(const double *)other;

	return (a > b) - (a < b);
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
		follow(pair->cells, CELLS);
		cycles[i] = (double)(weir_lean_now() - start) / CELLS;
	}
	qsort(cycles, ROUNDS, sizeof(cycles[0]), by_size);
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
	qsort(cycles, TURNS, sizeof(cycles[0]), by_size);
	return cycles[TURNS / 2];
}

int
weir_machine_transfers(unsigned int other_cpu, struct weir_machine_transfer *found)
{
	struct pair *pair = aligned_alloc(4096, (sizeof(*pair) + 4095) / 4096 * 4096);
	pthread_t thread;
	int status;

	if (pair == NULL)
		return -1;
	memset(pair, 0, sizeof(*pair));
	pair->cpu = other_cpu;
	if (!link_cells(pair->cells, CELLS, CELL_BYTES) ||
	    pthread_create(&thread, NULL, other_core, pair) != 0) {
		free(pair);
		return -1;
	}
	for (unsigned int i = 0; i < WEIR_MACHINE_REPEATS; i++) {
		found->clean.cycles[i] = transfer(pair, TASK_READ);
		found->dirty.cycles[i] = transfer(pair, TASK_WRITE);
		found->turn.cycles[i] = turn(pair);
	}
	hand_over(pair, TASK_END);
	pthread_join(thread, NULL);
	status = pair->pinned ? 0 : -1;
	free(pair);
	return status;
}
