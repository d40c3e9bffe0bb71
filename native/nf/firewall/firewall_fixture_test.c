/* SPDX-License-Identifier: Apache-2.0 */
#include "firewall_fixture_test.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <rte_cycles.h>

#define TICKS_OF_A_SWEEP 4096
#define BEGIN_S 1000 /* time 0 of the tests */

void *
firewall_test_with(const char *rules, const char *option, const char *value)
{
	const char *const options[][2] = {
		{"rules", weir_test_file(rules)}, {"sessions", "8"}, {option, value}, {NULL, NULL}};

	return weir_test_state(&weir_nf_firewall, options);
}

static uint64_t
tsc_at(double seconds)
{
	return (uint64_t)((BEGIN_S + seconds) * (double)rte_get_tsc_hz());
}

const char *
firewall_test_send(void *firewall, enum weir_direction direction, struct weir_test_ipv4 what,
		   double seconds)
{
	struct weir_test_outcome outcome =
		weir_test_run(&weir_nf_firewall, firewall, direction, weir_test_ipv4_packet(&what),
			      tsc_at(seconds));

	rte_pktmbuf_free(outcome.packet);
	return outcome.drop_reason;
}

void
firewall_test_ticks(void *firewall, double seconds)
{
	for (unsigned int i = 0; i < TICKS_OF_A_SWEEP; i++)
		weir_nf_firewall.tick(firewall, tsc_at(seconds), NULL);
}

struct weir_test_ipv4
from_inside(uint8_t protocol, uint16_t port, uint8_t tcp_flags)
{
	return (struct weir_test_ipv4){.src = INSIDE,
				       .dst = OUTSIDE,
				       .protocol = protocol,
				       .src_port = port,
				       .dst_port = 80,
				       .tcp_flags = tcp_flags};
}

struct weir_test_ipv4
from_outside(uint8_t protocol, uint16_t port, uint8_t tcp_flags)
{
	return (struct weir_test_ipv4){.src = OUTSIDE,
				       .dst = INSIDE,
				       .protocol = protocol,
				       .src_port = 80,
				       .dst_port = port,
				       .tcp_flags = tcp_flags};
}
