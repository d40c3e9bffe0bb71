/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What memory and other cores cost on this machine ([Lean], Tables III and VI): loads of which
 * each waits for the one before. Needs neither DPDK nor privileges.
 */
#ifndef WEIR_LEAN_MACHINE_H
#define WEIR_LEAN_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WEIR_MACHINE_REPEATS 11

/* Cycles of the time-stamp counter for one load, a value a repeat. */
struct weir_machine_series {
	double cycles[WEIR_MACHINE_REPEATS];
};

/* Rate of the time-stamp counter, by the system's clock: DPDK, which knows it, is not running. */
uint64_t weir_machine_tsc_hz(void);

/* Loads that wander over `bytes` of memory. `*huge`: it lies in pages of 2 MiB. -1: no memory. */
int weir_machine_chase(size_t bytes, struct weir_machine_series *series, bool *huge);

/* What is loaded was last touched by the other core: read (clean) or written (dirty). `turn`: one
 * message to the other core and its answer, halved. */
struct weir_machine_transfer {
	struct weir_machine_series clean, dirty, turn;
};

/* Between the CPU of the calling thread and `other_cpu`. -1: no thread can run there. */
int weir_machine_transfers(unsigned int other_cpu, struct weir_machine_transfer *transfer);

/* At this moment. `cycles`: to read a line that the other core has read, `clean` of
 * weir_machine_transfers(), but once. `piece_cycles`: of a piece of work (engine/core_speed.h) on
 * the CPU of the calling thread and on the other one, both at work; 0 where every piece was
 * interrupted. */
struct weir_machine_distance {
	double cycles, piece_cycles[2];
};

/* Takes some milliseconds. -1: no thread can run on `other_cpu`. */
int weir_machine_distance(unsigned int other_cpu, struct weir_machine_distance *found);

#endif
