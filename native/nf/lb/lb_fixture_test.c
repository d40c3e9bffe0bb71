/* SPDX-License-Identifier: Apache-2.0 */
#include "lb_fixture_test.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <string.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <rte_cycles.h>

void *lb;
double lb_now_s;

void
lb_start(const char *const (*options)[2])
{
	if (lb != NULL)
		weir_nf_destroy(&weir_nf_lb, lb);
	lb = weir_test_state(&weir_nf_lb, options);
	lb_now_s = 1000;
}

void
lb_start_with_three_backends(void)
{
	static const char *const options[][2] = {
		{"services", SERVICE " 10.0.0.1:8080," SERVICE " 10.0.0.2:8080," SERVICE
				     " 10.0.0.3:8080, " VIP ":53/udp 10.0.0.1:53"},
		{NULL, NULL},
	};

	lb_start(options);
}

struct weir_test_outcome
lb_pass(enum weir_direction direction, const struct weir_test_ipv4 *what)
{
	return weir_test_run(&weir_nf_lb, lb, direction, weir_test_ipv4_packet(what),
			     lb_now_s * rte_get_tsc_hz());
}

/* The address at `offset` in the IP header of a forwarded packet, as text; frees it. */
const char *
lb_address_in(struct weir_test_outcome outcome, size_t offset)
{
	static char text[INET_ADDRSTRLEN];
	uint8_t *frame;

	if (outcome.packet == NULL)
		return outcome.drop_reason;
	frame = rte_pktmbuf_mtod(outcome.packet, uint8_t *);
	assert_true(weir_test_checksums_right(frame, outcome.packet->pkt_len));
	inet_ntop(AF_INET, frame + RTE_ETHER_HDR_LEN + offset, text, sizeof(text));
	rte_pktmbuf_free(outcome.packet);
	return text;
}

/* Where a packet of the client's goes; `port` tells its connections apart. A drop reason if
 * nowhere. */
const char *
lb_backend_of(uint16_t port, uint8_t tcp_flags)
{
	const struct weir_test_ipv4 what = {
		.src = CLIENT,
		.dst = VIP,
		.protocol = IPPROTO_TCP,
		.src_port = port,
		.dst_port = 80,
		.tcp_flags = tcp_flags,
	};

	return lb_address_in(lb_pass(WEIR_OUTBOUND, &what), 16);
}

/* Whom the client sees as the sender of what a back-end sends. */
const char *
lb_seen_from(const char *backend, uint16_t port, uint8_t tcp_flags)
{
	const struct weir_test_ipv4 what = {
		.src = backend,
		.dst = CLIENT,
		.protocol = IPPROTO_TCP,
		.src_port = 8080,
		.dst_port = port,
		.tcp_flags = tcp_flags,
	};

	return lb_address_in(lb_pass(WEIR_INBOUND, &what), 12);
}

void
lb_command(const char *name, const char *backend)
{
	const char *const arguments[][2] = {
		{"service", SERVICE}, {"backend", backend}, {NULL, NULL}};

	assert_null(weir_test_command(&weir_nf_lb, lb, name, arguments));
}

void
lb_sweep(void)
{
	for (unsigned int i = 0; i < 1000; i++)
		weir_nf_lb.tick(lb, lb_now_s * rte_get_tsc_hz(), NULL);
}

void
lb_wait_s(unsigned int seconds)
{
	for (unsigned int i = 0; i < seconds; i++) {
		lb_now_s++;
		lb_sweep();
	}
}

/* A client port whose new connection that back-end gets; ports are tried from `from` up, and each
 * attempt is a connection. */
uint16_t
lb_port_to(const char *backend, uint16_t from)
{
	for (uint16_t port = from; port < from + 100; port++) {
		if (strcmp(lb_backend_of(port, SYN), backend) == 0)
			return port;
	}
	fail_msg("no connection went to %s", backend);
	return 0;
}

int
lb_stop(void **state)
{
	(void)state;
	weir_nf_destroy(&weir_nf_lb, lb);
	return 0;
}
