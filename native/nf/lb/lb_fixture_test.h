/* SPDX-License-Identifier: Apache-2.0 */
/* A balancer with a clock of the test's own, its clients and its back-ends. */
#ifndef WEIR_NF_LB_LB_FIXTURE_TEST_H
#define WEIR_NF_LB_LB_FIXTURE_TEST_H

#include <rte_tcp.h>

#include "testing/eal.h"
#include "testing/packet.h"

extern const struct weir_nf weir_nf_lb;

#define VIP "203.0.113.10"
#define CLIENT "198.51.100.1"
#define SERVICE VIP ":80/tcp"
#define SYN RTE_TCP_SYN_FLAG
#define ACK RTE_TCP_ACK_FLAG
#define FIN RTE_TCP_FIN_FLAG
#define RST RTE_TCP_RST_FLAG

extern void *lb; /* the state */
extern double lb_now_s;

/* A new balancer in place of the last one. */
void lb_start(const char *const (*options)[2]);
/* SERVICE with 10.0.0.1 to 10.0.0.3, port 8080; and port 53 over UDP with 10.0.0.1. */
void lb_start_with_three_backends(void);
/* Ends the last one: a group's tear-down. */
int lb_stop(void **state);

struct weir_test_outcome lb_pass(enum weir_direction direction, const struct weir_test_ipv4 *what);

/* The address at `offset` in the IP header of a forwarded packet, as text, or why it was dropped;
 * checks its checksums and frees it. */
const char *lb_address_in(struct weir_test_outcome outcome, size_t offset);

/* Where a TCP packet of the client's goes; `port` tells its connections apart. A drop reason if
 * nowhere. */
const char *lb_backend_of(uint16_t port, uint8_t tcp_flags);
/* Whom the client sees as the sender of what a back-end sends. */
const char *lb_seen_from(const char *backend, uint16_t port, uint8_t tcp_flags);
/* A client port whose new connection that back-end gets; ports are tried from `from` up, and each
 * attempt is a connection. */
uint16_t lb_port_to(const char *backend, uint16_t from);

/* "backend-add", "backend-drain", "backend-remove" in SERVICE. */
void lb_command(const char *name, const char *backend);
/* The whole table is swept now. */
void lb_sweep(void);
/* Time passes, and the whole table is swept each second. */
void lb_wait_s(unsigned int seconds);

#endif
