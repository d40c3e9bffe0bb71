/* SPDX-License-Identifier: Apache-2.0 */
/* How finely the time-stamp counter counts: of some processors it goes on in steps of tens. */
#ifndef WEIR_LEAN_CLOCK_STEP_H
#define WEIR_LEAN_CLOCK_STEP_H

#include <stdint.h>

/* Cycles of a step of the counter; 1: no step shows. Takes less than a millisecond. */
uint32_t weir_clock_step(void);
/* The same from cycles that different pieces of work took. */
uint32_t weir_clock_step_of(const uint32_t *cycles, unsigned int count);

#endif
