/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far two cores are from each other, which can change: a hypervisor moves virtual CPUs between
 * threads, caches and sockets without notice.
 */
#ifndef WEIR_ENGINE_DISTANCE_H
#define WEIR_ENGINE_DISTANCE_H

#include <stdint.h>

#define WEIR_DISTANCE_TURNS 64
/* Of SCHED_FIFO: of polling loops realtime threads of priority 1 are made (`weir tune`). */
#define WEIR_ABOVE_POLLING 2

/* CPUs on which other processes poll (a switch), to be measured, too; at most WEIR_OTHERS_MAX. The
 * polling cores of this process are left out. Each runs a thread of this process for some tens of
 * microseconds. */
#define WEIR_OTHERS_MAX 16
void weir_others_set(const unsigned int *cpus, unsigned int count);
unsigned int weir_other_count(void);
unsigned int weir_other_number(unsigned int index);
/* As weir_core_distance_cycles(); 0 where it could not be measured: nobody answered in time, or a
 * thread may not run there. */
uint64_t weir_other_distance_cycles(unsigned int index);
/* The least of WEIR_OTHER_PIECES pieces of work (core_speed.h) that were timed there then; 0
 * likewise. */
#define WEIR_OTHER_PIECES 16
uint64_t weir_other_piece_cycles(unsigned int index);

/* Measures all polling cores from the first one, and those CPUs; some tens of microseconds
 * each. Only while the loops are stopped. */
void weir_distances_measure(void);
/* Cycles in which a word went from the first core to core `index` and its answer came back, the
 * median of WEIR_DISTANCE_TURNS; 0 of the first one, and before it was measured. */
uint64_t weir_core_distance_cycles(unsigned int index);

#endif
