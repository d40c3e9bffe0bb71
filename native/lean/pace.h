/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast a core is now. A virtual CPU is often one of two threads of a physical core; nobody in
 * the machine sees when the other one works for somebody else, except by what takes longer then.
 */
#ifndef WEIR_LEAN_PACE_H
#define WEIR_LEAN_PACE_H

/* Cycles of the time-stamp counter for a fixed piece of work that leaves no unit of the core idle,
 * on the core of the calling thread; the median of many. Takes about a third of a millisecond. */
double weir_pace_cycles(void);

#endif
