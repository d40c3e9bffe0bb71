/* SPDX-License-Identifier: Apache-2.0 */
/* Packets for tests of network functions: made plainly, checked plainly. */
#ifndef WEIR_TESTING_PACKET_H
#define WEIR_TESTING_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/stage.h"

/* An IPv4 packet; what is 0 or NULL gets a plain value. Ports and lengths in host byte order. */
struct weir_test_ipv4 {
	const char *src, *dst;	     /* "192.0.2.1", "198.51.100.1" */
	uint8_t protocol;	     /* UDP */
	uint16_t src_port, dst_port; /* 1024, 80; for ICMP: src_port is the identifier */
	uint8_t ttl;		     /* 64 */
	uint8_t tcp_flags;	     /* ACK */
	uint32_t tcp_seq;
	uint8_t icmp_type; /* 8, echo request */
	uint8_t icmp_code;
	const void *payload; /* behind the L4 header */
	uint16_t payload_bytes;
	uint16_t identification;
	uint16_t fragment_offset_bytes; /* a later fragment has no L4 header: payload only */
	bool more_fragments;
	bool tagged; /* 802.1Q, VLAN 100 */
	bool no_udp_checksum;
	uint8_t option_bytes; /* of IPv4 options, a multiple of 4: no-operations */
};

#define WEIR_TEST_FRAME_BYTES 2048

/* Writes the frame, padded to 60 bytes, checksums right; returns its length. */
size_t weir_test_ipv4_frame(const struct weir_test_ipv4 *what, uint8_t *frame);

/* An ICMP error message about the packet `inside`, as that was where the error arose. */
struct weir_test_icmp_error {
	const char *src, *dst;
	uint8_t type; /* 3, destination unreachable */
	uint8_t code;
	struct weir_test_ipv4 inside;
	uint16_t inside_bytes; /* how many of it are there, from its IP header on; 0: all */
};
size_t weir_test_icmp_error_frame(const struct weir_test_icmp_error *what, uint8_t *frame);

/* That frame, or any bytes, in a buffer of weir_test_pool(). */
struct rte_mbuf *weir_test_ipv4_packet(const struct weir_test_ipv4 *what);
struct rte_mbuf *weir_test_packet(const void *frame, size_t bytes);

/* Checks IPv4, TCP, UDP and ICMP checksums word by word; frames of other kinds and later fragments
 * are right; a first fragment's L4 checksum is not looked at. */
bool weir_test_checksums_right(const uint8_t *frame, size_t bytes);

/* What a function did with one packet. A forwarded one is the caller's, to look at and free. */
struct weir_test_outcome {
	struct rte_mbuf *packet; /* NULL: dropped */
	const char *drop_reason; /* its symbol, "held", or NULL */
	uint8_t egress;
};

/* Runs the function on `packet` alone, as a chain does. `now_tsc` is what it takes for the time. */
struct weir_test_outcome weir_test_run(const struct weir_nf *nf, void *state,
				       enum weir_direction direction, struct rte_mbuf *packet,
				       uint64_t now_tsc);

/* A state with these options: {"name", "text"} pairs, ended by NULL. Fails the test on a bad one.
 */
void *weir_test_state(const struct weir_nf *nf, const char *const (*options)[2]);
/* Runs a command to its end; NULL, or what its prepare() said. */
const char *weir_test_command(const struct weir_nf *nf, void *state, const char *command,
			      const char *const (*arguments)[2]);
/* The same with a fast path that remembers what the function decided. */
const char *weir_test_command_beside(const struct weir_nf *nf, void *state, const char *command,
				     const char *const (*arguments)[2],
				     struct weir_flow_cache *cache);

#endif
