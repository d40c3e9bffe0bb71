/* SPDX-License-Identifier: Apache-2.0 */
/* Makes one stage slower by a known share: how a detector of regressions is put to the test. */
#ifndef WEIR_LEAN_SLOWDOWN_H
#define WEIR_LEAN_SLOWDOWN_H

#include "lean.h"

/* Index of the stage of that name, or of the first with that function. -1: there is none. */
int weir_slowdown_stage(const struct weir_path *path, const char *name);

/*
 * After the warm-up, on the thread that measures: from now on a batch of the stage takes `percent`
 * more cycles than it takes by itself, at that moment. One stage of a process. `cost_percent`:
 * what a wait costs besides its cycles, of the stage's own, as an earlier process returned it, less
 * than nothing where the processor does other work meanwhile; NAN: it is measured, which takes a
 * half a second. Returns it.
 */
double weir_slowdown_begin(struct weir_lean *lean, unsigned int stage, double percent,
			   double cost_percent);
/* Off and on again: how a bench sees what is added. */
void weir_slowdown_switch(bool on);

#endif
