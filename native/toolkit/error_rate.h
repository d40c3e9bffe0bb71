/* SPDX-License-Identifier: Apache-2.0 */
/* How often a function says what anybody can provoke: ICMP errors (RFC 1812, 4.3.2.8; RFC 4443,
 * 2.4 f), GTP-U's error indications. */
#ifndef WEIR_TOOLKIT_ERROR_RATE_H
#define WEIR_TOOLKIT_ERROR_RATE_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_common.h>
#include <rte_cycles.h>

#define WEIR_ERRORS_AT_ONCE 10 /* RFC 4443, 2.4 f: the bucket */

/* All zero: none was sent yet. */
struct weir_error_rate {
	uint64_t credit_tsc, last_tsc;
};

/* Whether one more may be sent now, of `pps` a second; 0: never. */
static inline bool
weir_error_rate_admits(struct weir_error_rate *rate, uint64_t pps, uint64_t now_tsc)
{
	uint64_t cost;

	if (pps == 0)
		return false;
	cost = rte_get_tsc_hz() / pps;
	if (rate->last_tsc == 0)
		rate->credit_tsc = WEIR_ERRORS_AT_ONCE * cost;
	else if (now_tsc > rate->last_tsc)
		rate->credit_tsc = RTE_MIN(rate->credit_tsc + now_tsc - rate->last_tsc,
					   WEIR_ERRORS_AT_ONCE * cost);
	rate->last_tsc = now_tsc;
	if (rate->credit_tsc < cost)
		return false;
	rate->credit_tsc -= cost;
	return true;
}

#endif
