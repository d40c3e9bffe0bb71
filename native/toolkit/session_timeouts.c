/* SPDX-License-Identifier: Apache-2.0 */
#include "session_timeouts.h"

#include <rte_cycles.h>

uint32_t
weir_session_time_of_s(uint64_t seconds)
{
	return weir_session_time(seconds * rte_get_tsc_hz()) + 1;
}

struct weir_session_timeouts
weir_session_timeouts_of_s(const struct weir_session_timeouts_s *timeouts_s)
{
	return (struct weir_session_timeouts){
		.udp = weir_session_time_of_s(timeouts_s->udp_timeout_s),
		.tcp_established = weir_session_time_of_s(timeouts_s->tcp_established_timeout_s),
		.tcp_transitory = weir_session_time_of_s(timeouts_s->tcp_transitory_timeout_s),
		.icmp = weir_session_time_of_s(timeouts_s->icmp_timeout_s),
	};
}
