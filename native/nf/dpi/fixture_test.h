/* SPDX-License-Identifier: Apache-2.0 */
/* A dpi with rules from a text, packets of its flows, and what it counted. */
#ifndef WEIR_NF_DPI_FIXTURE_TEST_H
#define WEIR_NF_DPI_FIXTURE_TEST_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <string.h>

#include <cmocka.h>
#include <netinet/in.h>
#include <rte_tcp.h>

#include "testing/eal.h"
#include "testing/packet.h"

extern const struct weir_nf weir_nf_dpi;

#define SUBSCRIBER "10.0.0.1"
#define SERVER "198.51.100.1"
#define SYN RTE_TCP_SYN_FLAG
#define ACK RTE_TCP_ACK_FLAG
#define FIN RTE_TCP_FIN_FLAG
#define RST RTE_TCP_RST_FLAG

extern void *dpi;
extern double now_s;

/* A new one: its rules, and up to four options more, {"name", "text"} each. */
#define START(rules, ...)                                                                          \
	dpi_start(rules, (const char *const[][2]){__VA_ARGS__ __VA_OPT__(, ){NULL, NULL}})
void dpi_start(const char *rules, const char *const (*options)[2]);
/* A group tear-down. */
int dpi_stop(void **state);

/* `rules-load` with that text; NULL, or what it refused. */
const char *dpi_load(const char *rules);

/* "forwarded", or why it was dropped. */
#define PASSES(what) assert_string_equal(what, "forwarded")
#define DROPPED(reason, what) assert_string_equal(what, reason)
const char *dpi_pass(enum weir_direction direction, const struct weir_test_ipv4 *what);

/* TCP between the subscriber's port and the server's port 80; `seq` of the first byte. */
const char *dpi_say(uint16_t port, uint32_t seq, const char *text);
const char *dpi_answer(uint16_t port, uint32_t seq, const char *text);
const char *dpi_tcp(enum weir_direction direction, uint16_t port, uint8_t flags);
/* One datagram of the subscriber's to the server's port. */
const char *dpi_datagram(uint16_t port, uint16_t server_port, const void *bytes, size_t size);

/* Everything is swept now. */
void dpi_sweep(void);
/* Time passes, and everything is swept each second. */
void dpi_wait_s(unsigned int seconds);

/* What was counted for a subscriber under a rule ("1001", "0": none) and an application ("HTTP");
 * NULL: any. */
struct weir_counter dpi_charged(const char *subscriber, const char *rule, const char *application);
uint64_t dpi_figure(const char *name);

#endif
