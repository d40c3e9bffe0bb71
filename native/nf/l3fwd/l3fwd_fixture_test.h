/* SPDX-License-Identifier: Apache-2.0 */
/* A router for tests, with routes of a file of its own, and packets through it described as text.
 */
#ifndef WEIR_NF_L3FWD_L3FWD_FIXTURE_TEST_H
#define WEIR_NF_L3FWD_L3FWD_FIXTURE_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "testing/eal.h"
#include "testing/file.h"
#include "testing/packet.h"

extern const struct weir_nf weir_nf_l3fwd;

#define SRC_MAC "02:00:00:00:00:0a"

/* The present router. */
extern void *l3fwd;
/* A group tear-down: ends it and removes the file of routes. */
int end(void **state);

/* A new router; `options` are ended by NULL. */
void start(const char *const (*options)[2]);
void start_with_routes(const char *lines);

/* Where a packet goes, "last byte of the next hop/egress", or why not; frees it. */
const char *fate(struct weir_test_outcome outcome);
const char *pass(struct rte_mbuf *packet);
/* An IPv4 packet to, or from, an address; an IPv6 packet. */
const char *to(const char *destination);
const char *from(const char *source);
const char *ipv6(const char *source, const char *destination);
struct rte_mbuf *ipv6_packet(const char *source, const char *destination, uint8_t hop_limit);

#endif
