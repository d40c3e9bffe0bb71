/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target of what reads headers: any bytes, cut anywhere. Offsets lie within the frame, one
 * packet is read as many are, and a rewritten ICMP error is read again as what it was made. */
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "icmp_error.h"
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
	rewrite(packets[0], &headers);
	rte_pktmbuf_free(packets[0]);
	return 0;
}
