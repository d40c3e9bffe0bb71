/* SPDX-License-Identifier: Apache-2.0 */
/* Makes one stage slower by a known share: how a detector of regressions is put to the test. */
#ifndef WEIR_LEAN_SLOWDOWN_H
#define WEIR_LEAN_SLOWDOWN_H

#include "lean.h"

/* Index of the stage of that name, or of the first with that function. -1: there is none. */
int weir_slowdown_stage(const struct weir_path *path, const char *name);

/* After the warm-up, on the thread that measures: from now on the stage takes `percent` more cycles
 * a batch than it does now. One stage of a process. */
void weir_slowdown_begin(struct weir_lean *lean, unsigned int stage, double percent);

#endif
