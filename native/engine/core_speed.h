/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast a core is now. A virtual CPU is often one of two hardware threads of a physical core.
 * The guest cannot see activity on the other thread, except that its own work takes longer.
 */
#ifndef WEIR_ENGINE_CORE_SPEED_H
#define WEIR_ENGINE_CORE_SPEED_H

#include <stdint.h>

/* Pieces of work that a polling loop timed between its polls; one writer. */
struct weir_core_speed {
	uint64_t pieces;
	uint64_t cycles; /* that they took together */
};

/* One of them. */
struct weir_piece {
	uint64_t end_tsc;
	uint64_t cycles;
};
#define WEIR_PIECES_KEPT 8192 /* of a core, the last ones: four seconds */

#define WEIR_CORE_SPEED_STEPS 200
#define WEIR_CORE_SPEED_PER_S 2000

/* Times one piece of WEIR_CORE_SPEED_STEPS, a third of a microsecond or so, on the thread that
 * calls, and counts it. Returns its cycles; 0 of one that was interrupted, which is a stall. */
uint64_t weir_core_speed_count(struct weir_core_speed *speed);

#endif
