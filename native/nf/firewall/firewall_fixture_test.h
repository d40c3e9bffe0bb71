/* SPDX-License-Identifier: Apache-2.0 */
/* A firewall of eight sessions and packets between one host inside and one outside. */
#ifndef WEIR_NF_FIREWALL_FIREWALL_FIXTURE_TEST_H
#define WEIR_NF_FIREWALL_FIREWALL_FIXTURE_TEST_H

#include "nf/firewall/firewall.h"
#include "testing/file.h"
#include "testing/packet.h"

extern const struct weir_nf weir_nf_firewall;

#define INSIDE "10.0.0.1"
#define OUTSIDE "192.0.2.1"

/* A firewall with these rules, in the file of the tests, and one option more. */
void *firewall_test_with(const char *rules, const char *option, const char *value);
/* Sends one packet at that time; NULL, or why it was dropped. */
const char *firewall_test_send(void *firewall, enum weir_direction direction,
			       struct weir_test_ipv4 what, double seconds);
/* So many ticks at that time that all sessions are looked at. */
void firewall_test_ticks(void *firewall, double seconds);

/* A packet from INSIDE, at `port`, to port 80 of OUTSIDE; and back. */
struct weir_test_ipv4 from_inside(uint8_t protocol, uint16_t port, uint8_t tcp_flags);
struct weir_test_ipv4 from_outside(uint8_t protocol, uint16_t port, uint8_t tcp_flags);

#define OUT(packet, seconds) firewall_test_send(firewall, WEIR_OUTBOUND, packet, seconds)
#define IN(packet, seconds) firewall_test_send(firewall, WEIR_INBOUND, packet, seconds)
#define ends(firewall) weir_nf_destroy(&weir_nf_firewall, firewall)

#define assert_drop(reason, sent)                                                                  \
	do {                                                                                       \
		const char *const why = (sent);                                                    \
		assert_non_null(why);                                                              \
		assert_string_equal(why, reason);                                                  \
	} while (0)

#endif
