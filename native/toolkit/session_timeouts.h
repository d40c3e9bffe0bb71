/* SPDX-License-Identifier: Apache-2.0 */
/* How long sessions may be idle: options with the bounds of RFC 4787 (UDP), RFC 5382 (TCP) and RFC
 * 5508 (ICMP), and the times that they become. */
#ifndef WEIR_TOOLKIT_SESSION_TIMEOUTS_H
#define WEIR_TOOLKIT_SESSION_TIMEOUTS_H

#include <stdint.h>

#include "option_rows.h"

/* A state's field of this type, whose name the rows take, is filled by the options. */
struct weir_session_timeouts_s {
	uint64_t udp_timeout_s, tcp_established_timeout_s, tcp_transitory_timeout_s, icmp_timeout_s;
};

/* In weir_session_time(). */
struct weir_session_timeouts {
	uint32_t udp, tcp_established, tcp_transitory, icmp;
};

/* Time in units of 2^22 cycles (1 to 2 ms), which 32 bits can hold the differences of. */
static inline uint32_t
weir_session_time(uint64_t tsc)
{
	return (uint32_t)(tsc >> 22);
}

/* So many seconds or a little more. */
uint32_t weir_session_time_of_s(uint64_t seconds);
struct weir_session_timeouts
weir_session_timeouts_of_s(const struct weir_session_timeouts_s *timeouts_s);

/* Their rows. `session`: what a user calls one; the texts for TCP say which are idle so long. */
#define WEIR_UDP_TIMEOUT_ROW(owner, field, session)                                                \
	WEIR_TIMEOUT_ROW_AT(owner, field, udp_timeout_s, "300", 86400,                             \
			    "Idle time of a UDP " session                                          \
			    " (RFC 4787: 120 or more, 300 recommended).")
#define WEIR_TCP_TIMEOUT_ROWS(owner, field, established, transitory)                               \
	WEIR_TIMEOUT_ROW_AT(owner, field, tcp_established_timeout_s, "7440", 864000,               \
			    "Idle time of " established " (RFC 5382: 7440 or more)."),             \
		WEIR_TIMEOUT_ROW_AT(owner, field, tcp_transitory_timeout_s, "240", 86400,          \
				    "Idle time of " transitory " (RFC 5382: 240 or more).")
#define WEIR_ICMP_TIMEOUT_ROW(owner, field, session)                                               \
	WEIR_TIMEOUT_ROW_AT(owner, field, icmp_timeout_s, "60", 86400,                             \
			    "Idle time of a " session " of ICMP echo (RFC 5508: 60 or more).")

#endif
