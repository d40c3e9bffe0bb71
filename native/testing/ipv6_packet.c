/* SPDX-License-Identifier: Apache-2.0 */
#include "ipv6_packet.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <rte_tcp.h>

#define ETHERNET_BYTES 14
#define IPV6_BYTES 40
#define ECHO_REQUEST 128

static void
put(uint8_t *at, uint16_t value)
{
	at[0] = value >> 8;
	at[1] = value & 0xff;
}

static void
put_address(uint8_t *at, const char *given, const char *otherwise)
{
	assert_int_equal(inet_pton(AF_INET6, given != NULL ? given : otherwise, at), 1);
}

/* Extension headers, each naming the next; returns where the last one does. */
static uint8_t *
put_extensions(const struct weir_test_ipv6 *what, uint8_t *next, uint8_t **at)
{
	if (what->options_bytes > 0) {
		*next = IPPROTO_DSTOPTS;
		next = *at;
		(*at)[1] = what->options_bytes / 8 - 1;
		(*at)[2] = 1; /* PadN */
		(*at)[3] = what->options_bytes - 4;
		*at += what->options_bytes;
	}
	if (what->more_fragments || what->fragment_offset_bytes != 0) {
		*next = IPPROTO_FRAGMENT;
		next = *at;
		put(*at + 2, what->fragment_offset_bytes | what->more_fragments);
		put(*at + 4, what->identification >> 16);
		put(*at + 6, what->identification & 0xffff);
		*at += 8;
	}
	return next;
}

static size_t
put_l4(const struct weir_test_ipv6 *what, uint8_t protocol, uint8_t *l4)
{
	if (what->fragment_offset_bytes != 0)
		return 0;
	if (protocol == IPPROTO_ICMPV6) {
		l4[0] = what->icmp_type != 0 ? what->icmp_type : ECHO_REQUEST;
		put(l4 + 4, what->src_port);
		return 8;
	}
	if (protocol != IPPROTO_TCP && protocol != IPPROTO_UDP)
		return 0;
	put(l4, what->src_port != 0 ? what->src_port : 1024);
	put(l4 + 2, what->dst_port != 0 ? what->dst_port : 80);
	if (protocol == IPPROTO_UDP) {
		put(l4 + 4, 8 + what->payload_bytes);
		return 8;
	}
	l4[12] = 5 << 4;
	l4[13] = what->tcp_flags != 0 ? what->tcp_flags : RTE_TCP_ACK_FLAG;
	return 20;
}

size_t
weir_test_ipv6_frame(const struct weir_test_ipv6 *what, uint8_t *frame)
{
	static const uint8_t ethernet[ETHERNET_BYTES] = {2, 0, 0, 0, 0,	   2,	 0x02,
							 0, 0, 0, 0, 0x01, 0x86, 0xdd};
	uint8_t protocol = what->protocol != 0 ? what->protocol : IPPROTO_UDP;
	uint8_t *ip = frame + ETHERNET_BYTES, *at = ip + IPV6_BYTES;

	memset(frame, 0, WEIR_TEST_FRAME_BYTES);
	memcpy(frame, ethernet, sizeof(ethernet));
	ip[0] = 6 << 4;
	ip[7] = what->hop_limit != 0 ? what->hop_limit : 64;
	put_address(ip + 8, what->src, "2001:db8::1");
	put_address(ip + 24, what->dst, "2001:db8:1::1");
	*put_extensions(what, ip + 6, &at) = protocol;
	at += put_l4(what, protocol, at);
	if (what->payload_bytes > 0 && what->payload != NULL)
		memcpy(at, what->payload, what->payload_bytes);
	at += what->payload_bytes;
	put(ip + 4, at - ip - IPV6_BYTES);
	return at - frame;
}

struct rte_mbuf *
weir_test_ipv6_packet(const struct weir_test_ipv6 *what)
{
	uint8_t frame[WEIR_TEST_FRAME_BYTES];

	return weir_test_packet(frame, weir_test_ipv6_frame(what, frame));
}
