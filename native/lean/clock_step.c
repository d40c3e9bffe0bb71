/* SPDX-License-Identifier: Apache-2.0 */
#include "clock_step.h"

#include <stdbool.h>

#include <rte_common.h>
#include <rte_cycles.h>

#define READINGS 4096
#define LENGTHS 16	 /* of work between two readings: a fine counter tells all of them apart */
#define STEPS_MAX 10	 /* what took more says little: a step need not be a whole number */
#define STEPPED_OF_16 15 /* so many of 16 readings; others were interrupted */

/* Whether it is some steps, each of `step` to one cycle more. */
static bool
is_of_steps(uint32_t cycles, uint32_t step)
{
	return cycles % step <= cycles / step;
}

uint32_t
weir_clock_step_of(const uint32_t *cycles, unsigned int count)
{
	uint32_t least = UINT32_MAX;
	unsigned int looked = 0, stepped = 0;

	for (unsigned int i = 0; i < count; i++) {
		if (cycles[i] > 0)
			least = RTE_MIN(least, cycles[i]);
	}
	if (least <= 2 * STEPS_MAX) /* as much as steps may be apart from whole numbers */
		return 1;
	for (unsigned int i = 0; i < count; i++) {
		if (cycles[i] / least >= STEPS_MAX)
			continue;
		looked++;
		stepped += is_of_steps(cycles[i], least);
	}
	return 16 * stepped >= STEPPED_OF_16 * looked ? least : 1;
}

uint32_t
weir_clock_step(void)
{
	static uint32_t cycles[READINGS];

	for (unsigned int i = 0; i < READINGS; i++) {
		uint64_t start = rte_rdtsc();

		for (volatile unsigned int j = 0; j < i % LENGTHS; j++)
			;
		cycles[i] = RTE_MIN(rte_rdtsc() - start, (uint64_t)UINT32_MAX);
	}
	return weir_clock_step_of(cycles, READINGS);
}
