/* SPDX-License-Identifier: Apache-2.0 */
#include "barrier.h"

#include <stdbool.h>
#include <unistd.h>

#include <linux/membarrier.h>
#include <sys/syscall.h>

/* Where the kernel has no such call: far longer than a processor keeps a store to itself. */
#define DRAINED_US 1000

static bool
asked(int command)
{
	return syscall(SYS_membarrier, command, 0, 0) == 0;
}

void
weir_barrier_in_all_threads(void)
{
	static bool registered;

	if (!registered)
		registered = asked(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (!registered || !asked(MEMBARRIER_CMD_PRIVATE_EXPEDITED))
		usleep(DRAINED_US);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}
