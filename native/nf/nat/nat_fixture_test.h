/* SPDX-License-Identifier: Apache-2.0 */
/* A NAT between 10.0.0.0/8 and 203.0.113.0/30 for tests, and packets through it described as text.
 */
#ifndef WEIR_NF_NAT_NAT_FIXTURE_TEST_H
#define WEIR_NF_NAT_NAT_FIXTURE_TEST_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <string.h>

#include <cmocka.h>
#include <rte_cycles.h>
#include <rte_ip.h>
#include <rte_tcp.h>

#include "testing/eal.h"
#include "testing/packet.h"
#include "testing/report.h"

extern const struct weir_nf weir_nf_nat;

#define INSIDE "10.0.0.1"
#define OTHER_INSIDE "10.0.0.2"
#define REMOTE "198.51.100.1"
#define OTHER_REMOTE "198.51.100.2"
#define IP_AT 14 /* in a frame; and the packet in an ICMP error */
#define INNER_AT (IP_AT + 20 + 8)
#define SYN RTE_TCP_SYN_FLAG
#define ACK RTE_TCP_ACK_FLAG
#define FIN RTE_TCP_FIN_FLAG
#define RST RTE_TCP_RST_FLAG

/* The present NAT, and its time. */
extern void *nat;
extern uint64_t now_s;

/* A new NAT; `options` (ended by NULL) go before `external` 203.0.113.0/30 and one lane. NULL: none
 * but those. */
void start(const char *const (*options)[2]);
#define START(...) start((const char *const[][2]){__VA_ARGS__, {NULL, NULL}})

/* What became of a packet: dropped for a reason, or its endpoints after it, "ADDRESS:PORT". For
 * ICMP echo the port is the identifier. */
struct seen {
	const char *drop; /* NULL: forwarded */
	char source[32];
	char destination[32];
	uint8_t egress;
};

/* Passes a packet; its checksums must be right afterwards. */
struct seen pass(enum weir_direction direction, const struct weir_test_ipv4 *what);
struct seen pass_bytes(enum weir_direction direction, const void *frame, size_t bytes);

/* Passes the error; what leaves must have the packet `expected` inside, byte for byte, checksums
 * included, and the type and code that it had. Returns what is seen outside. */
struct seen pass_error(enum weir_direction direction, const struct weir_test_icmp_error *error,
		       const struct weir_test_ipv4 *expected);

/* The external endpoint that a packet of 10.0.0.x leaves from, or a drop reason. */
const char *leaves_from(uint8_t protocol, const char *inside, uint16_t inside_port,
			const char *remote, uint16_t remote_port, uint8_t tcp_flags);
/* The inside endpoint that a packet from outside arrives at, or a drop reason. */
const char *arrives_at(uint8_t protocol, const char *remote, uint16_t remote_port,
		       const char *external, uint8_t tcp_flags);

/* So many seconds pass, and all mappings are looked at. */
void wait_s(uint64_t seconds);

/* Port of "ADDRESS:PORT". */
uint16_t port_in(const char *endpoint);

#endif
