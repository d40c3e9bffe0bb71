/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target of what reads headers: any bytes, cut anywhere. Offsets lie within the frame, one
 * packet is read as many are, a rewritten ICMP error is read again as what it was made, and an echo
 * reply has no extension headers. */
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "icmp_error.h"
#include "icmp_message.h"
#include "ipv6_extensions.h"
#include "testing/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void
check_offsets(const struct rte_mbuf *packet, const struct weir_headers *headers)
{
	if (headers->l3_offset > packet->data_len || headers->l4_offset > packet->data_len ||
	    headers->payload_offset > packet->data_len)
		abort();
	if (headers->l4_offset != 0 && headers->payload_offset < headers->l4_offset)
		abort();
	if (headers->l3_offset == 0 && headers->l4_offset != 0)
		abort();
}

static void
rewrite(struct rte_mbuf *packet, const struct weir_headers *headers)
{
	struct weir_icmp_error error, again;
	struct weir_tuple after;

	if (!weir_icmp_error_parse(packet, headers, &error))
		return;
	after = error.tuple;
	after.src_ip ^= 0x01020304;
	if (after.protocol == IPPROTO_TCP || after.protocol == IPPROTO_UDP ||
	    after.protocol == IPPROTO_ICMP)
		after.src_port ^= 0x0506;
	weir_icmp_error_rewrite(packet, headers, &error, &after);
	if (!weir_icmp_error_parse(packet, headers, &again) || again.ip_offset != error.ip_offset ||
	    again.tuple.src_ip != after.src_ip || again.tuple.src_port != after.src_port)
		abort();
}

/* As who the packet is for. */
static void
read_extensions(const struct rte_mbuf *packet, const struct weir_headers *headers)
{
	uint32_t pointer;

	if (headers->network == WEIR_NETWORK_IPV6 &&
	    weir_ipv6_extensions_read(
		    rte_pktmbuf_mtod_offset(packet, const void *, headers->l3_offset), headers,
		    &pointer) > WEIR_IPV6_EXTENSIONS_DISCARD &&
	    (pointer < sizeof(struct rte_ipv6_hdr) || pointer >= headers->l3_bytes))
		abort();
}

static void
answer(struct rte_mbuf *packet, const struct weir_headers *headers)
{
	struct weir_headers reply;

	if (!weir_icmp_is_echo_request(packet, headers))
		return;
	weir_icmp_echo_reply(packet, headers);
	weir_headers_parse(packet, &reply);
	if (reply.network != headers->network || reply.tuple.src_port != headers->tuple.src_port ||
	    (reply.flags & WEIR_HEADER_BAD_CHECKSUM) != 0)
		abort();
	if (reply.network == WEIR_NETWORK_IPV6 &&
	    ((reply.flags & WEIR_HEADER_OPTIONS) != 0 ||
	     !weir_icmpv6_checksum_right(
		     rte_pktmbuf_mtod_offset(packet, const void *, reply.l3_offset))))
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct weir_headers headers, both[2];
	struct rte_mbuf *packets[2];

	if (size > WEIR_FUZZ_FRAME_BYTES)
		return 0;
	packets[0] = packets[1] = weir_fuzz_packet(bytes, size);
	weir_headers_parse(packets[0], &headers);
	weir_headers_parse_all(packets, both, 2);
	if (memcmp(&headers, &both[0], sizeof(headers)) != 0 ||
	    memcmp(&headers, &both[1], sizeof(headers)) != 0)
		abort();
	check_offsets(packets[0], &headers);
	read_extensions(packets[0], &headers);
	rewrite(packets[0], &headers);
	answer(packets[0], &headers);
	rte_pktmbuf_free(packets[0]);
	return 0;
}
