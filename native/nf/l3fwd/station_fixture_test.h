/* SPDX-License-Identifier: Apache-2.0 */
/* A router with addresses between two wires, for tests: a clock of the test's own, frames in at a
 * side and out of it. */
#ifndef WEIR_NF_L3FWD_STATION_FIXTURE_TEST_H
#define WEIR_NF_L3FWD_STATION_FIXTURE_TEST_H

#include "l3fwd_fixture_test.h"

#include "engine/chain.h"

/* The inner wire and the outer one. */
enum side { LEFT, RIGHT };

#define LEFT_MAC "\2\0\0\0\0\x1a"
#define RIGHT_MAC "\2\0\0\0\0\x0a"
#define HOST_MAC "\2\0\0\0\0\x11"    /* 10.0.1.2, 2001:db8:1::2, on the left */
#define GATEWAY_MAC "\2\0\0\0\0\x22" /* 10.0.2.2, 2001:db8:2::2, on the right */

struct frame {
	uint8_t bytes[WEIR_TEST_FRAME_BYTES];
	size_t size;
};

extern struct weir_chain *router;
extern uint64_t now_tsc;

/* A new router with 10.0.1.1/24 and 2001:db8:1::1/64 on the left, 10.0.2.1/24 and 2001:db8:2::1/64
 * on the right, and default routes via .2 and ::2 there; and one more option, or NULL. */
void start_router(const char *option, const char *value);
int end_router(void **state);

/* Sends a frame in there, and lets the router run until all that it has to say is out. */
void arrives(enum side side, const struct frame *frame);
void pass_ms(uint64_t ms);
/* The next frame that left by that side; false: none. */
bool leaves(enum side side, struct frame *frame);
/* Fails unless the next frame that left by that side has just these bytes. */
void leaves_as(enum side side, const void *bytes, size_t size);
/* Fails if anything left. */
void nothing_leaves(void);

/* Summed over both paths; by the reason's symbol. */
uint64_t dropped(const char *reason);
uint64_t held(void);
/* Fails unless all that came went somewhere. */
void all_is_accounted_for(void);
/* Sends a frame in at that side; fails unless it is dropped for that reason, and nobody told. */
void nobody_is_answered(enum side side, const struct frame *frame, const char *reason);

/* Frames: ARP; neighbour discovery; IPv4 UDP from 10.0.1.2 by HOST_MAC; the same in IPv6. */
struct frame arp(uint16_t operation, const char *mac, const char *sender, const char *target);
struct frame discovery(uint8_t type, uint8_t flags, const char *source, const char *destination,
		       const char *target, const char *mac);
struct frame ipv4_to(const char *destination, uint8_t ttl, uint16_t payload_bytes);
struct frame ipv6_to(const char *destination, uint8_t hop_limit, uint16_t payload_bytes);
/* Sets the checksum of an ICMPv6 message right behind its IPv6 header. */
void set_icmpv6_checksum(struct frame *frame);

/* The gateway says its address, unasked for if it was not. */
void gateway_answers_arp(void);

#endif
