/* SPDX-License-Identifier: Apache-2.0 */
/* For the tests of this folder: clients and servers at the two ends of a wire in memory that loses,
 * doubles and swaps packets on demand, in a time of its own. */
#ifndef WEIR_TRAFFIC_CONNECTIONS_WIRE_FIXTURE_TEST_H
#define WEIR_TRAFFIC_CONNECTIONS_WIRE_FIXTURE_TEST_H

#include <rte_byteorder.h>
#include <rte_mbuf.h>

#include "segment.h"
#include "traffic/connections/connections.h"

#define MS_NS 1000000ull
#define S_NS (1000 * MS_NS)
#define WIRE_PACKETS 65536
#define TRACE_MOST 64

/* What was put on the wire, before anything happened to it. */
struct seen {
	bool from_client;
	struct weir_segment segment;
	uint8_t payload[64]; /* its beginning */
};

extern struct wire {
	bool ipv6;
	double lost, doubled, swapped; /* of the packets, by chance */
	uint64_t random;
	/* Sees and may change each packet, or return false: it is lost. NULL: none. */
	bool (*pass)(bool from_client, struct rte_mbuf *packet);
	struct seen trace[TRACE_MOST];
	unsigned int seen;
} wire;

int start_wire(void **state);	  /* group set-up */
int make_ends(void **state);	  /* set-up: a clean wire, areas, nothing configured */
int make_ipv6_ends(void **state); /* likewise, for connections of IPv6 */
int free_ends(void **state);

/* A test of both versions of IP, or of one. */
#define IPV4(name) cmocka_unit_test_setup_teardown(name, make_ends, free_ends)
#define IPV6(name)                                                                                 \
	{                                                                                          \
#name "_ipv6", name, make_ipv6_ends, free_ends, NULL                               \
	}
#define BOTH(name) IPV4(name), IPV6(name)

/* Host byte order: the clients' first, 198.18.0.1, and what it is translated to, 203.0.113.1. */
#define CLIENTS_ADDRESS 0xc6120001u
#define TRANSLATED_ADDRESS 0xcb007101u

/* A connection; a thousand, 10,000 a second. */
extern const struct weir_connections_run wire_one, wire_thousand;

/* 16 addresses of 1,000 ports each, to one server, in the longest segments; one service: 100 bytes
 * and 3,000 back. */
struct weir_connections_config plain_config(void);
void configure_ends(const struct weir_connections_config *config);
/* Lets both ends work until nothing is open or so much time has passed; gives the counts, which
 * must add up. */
struct weir_connections_count make_connections(const struct weir_connections_run *run,
					       uint64_t most_ns);
#define TRANSPORT_OFFSET (wire.ipv6 ? 54 : 34) /* in an untagged frame */
#define PAYLOAD_OFFSET (TRANSPORT_OFFSET + 20)
/* The last 32 bits of an address, wherever it lies. */
struct last_bits {
	rte_be32_t word;
} __rte_packed;
struct last_bits *source_of(struct rte_mbuf *packet);
struct last_bits *destination_of(struct rte_mbuf *packet);
/* Without configuration: the checksums again. */
void set_checksums(struct rte_mbuf *packet);
/* Puts a packet on the wire, to the client, as if the server had sent it. */
void send_to_client(const struct weir_segment *segment);

#endif
