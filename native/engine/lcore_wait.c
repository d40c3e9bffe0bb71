/* SPDX-License-Identifier: Apache-2.0 */
#include "lcore_wait.h"

#include <rte_cycles.h>
#include <rte_launch.h>

#define LOOK_US 20

int
weir_lcore_wait(unsigned int lcore)
{
	while (rte_eal_get_lcore_state(lcore) == RUNNING)
		rte_delay_us_sleep(LOOK_US);
	return rte_eal_wait_lcore(lcore);
}
