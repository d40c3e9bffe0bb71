/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the stamp in a frame. Everything that comes from the system under test is untrusted: each
 * length is checked against the bytes that are there. Ethernet, up to two VLAN tags (802.1Q,
 * 802.1ad), IPv4 with options, IPv6, UDP, TCP.
 */
#ifndef WEIR_TRAFFIC_PARSER_H
#define WEIR_TRAFFIC_PARSER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stamp.h"

enum weir_parsed {
	WEIR_PARSED_STAMP,     /* `*stamp` is filled and its check is right */
	WEIR_PARSED_FOREIGN,   /* a whole packet without a stamp of Weir */
	WEIR_PARSED_MALFORMED, /* truncated, or its lengths contradict each other */
};

/* The bytes at the front of a frame that the parser may want to see. */
#define WEIR_PARSER_BYTES 256

/*
 * `head`: the first `head_length` bytes of a frame of `frame_length` bytes (without FCS);
 * head_length = min(frame_length, WEIR_PARSER_BYTES) or more.
 */
enum weir_parsed weir_parse(const uint8_t *head, size_t head_length, size_t frame_length,
			    struct weir_stamp *stamp);

/* Offsets in a frame: of its IP header, of its UDP or TCP header and of the payload behind it, and
 * where the IP packet ends by its own length. */
struct weir_payload {
	size_t network, transport, at, end;
	uint8_t protocol; /* 6 or 17 */
};

/* The same frame's payload; false: malformed, a fragment, or neither UDP nor TCP. */
bool weir_parse_payload(const uint8_t *head, size_t head_length, size_t frame_length,
			struct weir_payload *payload);

/* Whether a frame without a stamp is of the kind that functions make themselves: ARP, ICMP, ICMPv6,
 * or a message of GTP-U (TS 29.281, 7.2 to 7.3) that carries no user's packet. */
bool weir_parse_signal(const uint8_t *head, size_t head_length, size_t frame_length);

#endif
