/* SPDX-License-Identifier: Apache-2.0 */
/* DPDK for unit tests: ordinary memory, no devices, one polling lcore. */
#ifndef WEIR_TESTING_EAL_H
#define WEIR_TESTING_EAL_H

#include <rte_mempool.h>

/* A group set-up of cmocka: starts DPDK and gives weir_cores_set() its one core. 0 or -1. */
int weir_test_eal(void **state);

/* A pool of 1,023 buffers, made at the first call. */
struct rte_mempool *weir_test_pool(void);

#endif
