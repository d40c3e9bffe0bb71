/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts instructions one by one: the processor's trap flag stops this thread after each of them.
 * So the very program that is timed is counted, with the instructions of any processor, without
 * privileges, and the number is the same each time. A microsecond an instruction, or tens of them
 * where a hypervisor sees each trap.
 */
#ifndef WEIR_LEAN_STEPS_H
#define WEIR_LEAN_STEPS_H

#include "engine/chain.h"

/* Instructions of a path; what lies between stages is in none. */
struct weir_steps {
	uint64_t total;
	uint64_t stages[WEIR_STAGES_MAX];
};

/* Readies the calling thread. False: single-stepping does not count right here. */
bool weir_steps_open(void);

/* What the path runs until the end, added to `steps`. Stages are told by their ledgers, if the path
 * has no fast path. */
void weir_steps_begin(const struct weir_path *path);
void weir_steps_end(struct weir_steps *steps);

#endif
