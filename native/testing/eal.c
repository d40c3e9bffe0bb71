/* SPDX-License-Identifier: Apache-2.0 */
#include "eal.h"

#include <sched.h>
#include <stdio.h>

#include <rte_eal.h>
#include <rte_mbuf.h>

#include "engine/handover.h"
#include "engine/loop.h"

int
weir_test_eal(void **state)
{
	const unsigned int lcore = 1;
	unsigned int cpu = sched_getcpu(); /* where there was room for this of several programs */
	char lcores[64];

	(void)state;
	snprintf(lcores, sizeof(lcores), "--lcores=0@%u,1@%u", cpu, cpu);
	const char *arguments[] = {"test", lcores,	     "--no-huge", "--no-shconf",      "-m",
				   "512",  "--no-telemetry", "--no-pci",  "--log-level=error"};

	if (rte_eal_init(RTE_DIM(arguments), (char **)arguments) < 0)
		return -1;
	return weir_cores_set(&cpu, &lcore, 1);
}

struct rte_mempool *
weir_test_pool(void)
{
	static struct rte_mempool *pool;

	if (pool == NULL)
		pool = rte_pktmbuf_pool_create("test", 1023, 0, WEIR_PRIVATE_BYTES,
					       RTE_PKTMBUF_HEADROOM + 2048, SOCKET_ID_ANY);
	return pool;
}
