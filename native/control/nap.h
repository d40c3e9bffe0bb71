/* SPDX-License-Identifier: Apache-2.0 */
/* How a verb waits for what loops do. */
#ifndef WEIR_CONTROL_NAP_H
#define WEIR_CONTROL_NAP_H

#include <stdint.h>
#include <unistd.h>

#include "timestamps.h"

#define WEIR_NAP_MS 5

/* Of what is left of the time that it may wait. Asleep, so that the polling cores keep their CPUs;
 * clocks of cards are followed meanwhile. */
static inline void
weir_nap(uint32_t *wait_ms)
{
	const uint32_t nap_ms = *wait_ms < WEIR_NAP_MS ? *wait_ms : WEIR_NAP_MS;

	usleep(nap_ms * 1000);
	*wait_ms -= nap_ms;
	weir_clocks_follow();
}

#endif
