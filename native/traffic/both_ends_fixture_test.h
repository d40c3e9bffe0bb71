/* SPDX-License-Identifier: Apache-2.0 */
/* A tester with two ends in a loop, and between them a translator of addresses: for tests of
 * streams that answer others. What is sent left goes through the translator, what is sent right is
 * kept. */
#ifndef WEIR_TRAFFIC_BOTH_ENDS_FIXTURE_TEST_H
#define WEIR_TRAFFIC_BOTH_ENDS_FIXTURE_TEST_H

#include <stdbool.h>
#include <stdint.h>

#include "traffic.h"

#define FLOWS 50
#define NOBODY UINT32_MAX

/* All sources of what is translated are behind this address, flow n's at the port. */
#define TRANSLATED_IP 0xcb007101
uint16_t translated_port(uint32_t flow);
/* Back-ends of all that is balanced: flow n's is n % 2 addresses behind this one. */
#define BACKEND_IP 0x0a000001
#define BACKEND_PORT 8080

/* The source; or the destination, as a balancer does. */
extern bool translates, balances;
/* It takes a packet each time that has passed; 0: all that is there. */
extern uint64_t slow_cycles;
/* By the number of its source address; NOBODY: none. */
extern uint32_t dropped_flow;
/* Packets that came to the translator. */
extern uint32_t passed;

/* What was sent right, in order. */
#define KEPT 4096
struct kept {
	uint32_t src_ip, dst_ip;
	uint16_t src_port, dst_port;
	bool checksums_right;
};
extern struct kept kept[KEPT];
extern uint32_t kept_count;

/* Group set-up: start_eal(), and the other wires. */
int start_both_ends(void **state);
/* Test set-up and clean-up. */
int make_both_ends(void **state);
int free_both_ends(void **state);

/* Stream 0 from left to right, and stream 1, which answers it. */
void both_ways(struct weir_stream_config configs[2]);
/* Has the loop poll all of it. */
void run_both_ends(const struct weir_stream_config *configs);

#endif
