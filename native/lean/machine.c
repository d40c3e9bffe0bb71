/* SPDX-License-Identifier: Apache-2.0 */
#include "machine.h"

#include <stdlib.h>
#include <time.h>

#include <sys/mman.h>

#include "cells.h"
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

	if (memory == NULL || !weir_cells_link(memory, count, LINE_BYTES)) {
		if (memory != NULL)
			munmap(memory, mapped);
		return -1;
	}
	at = weir_cells_follow(at, count < LOADS_MIN ? count * 2 : LOADS_MIN);
	for (unsigned int i = 0; i < WEIR_MACHINE_REPEATS; i++) {
		uint64_t start = weir_lean_now();

		at = weir_cells_follow(at, loads);
		series->cycles[i] = (double)(weir_lean_now() - start) / loads;
	}
	munmap(memory, mapped);
	return 0;
}
