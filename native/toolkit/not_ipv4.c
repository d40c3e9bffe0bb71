/* SPDX-License-Identifier: Apache-2.0 */
#include "not_ipv4.h"

#include <rte_byteorder.h>
#include <rte_ether.h>

const char *const weir_not_ipv4_names[] = {
	[WEIR_NOT_IPV4_DROP] = "drop",
	[WEIR_NOT_IPV4_FORWARD] = "forward",
	NULL,
};

const char *const weir_not_ipv4_kind_names[] = {
	[WEIR_KIND_AS_NOT_IPV4] = "not_ipv4",
	[WEIR_KIND_DROP] = "drop",
	[WEIR_KIND_FORWARD] = "forward",
	NULL,
};

static unsigned int
said_of(const struct weir_not_ipv4_options *options, const struct rte_mbuf *packet,
	const struct weir_headers *headers)
{
	const uint8_t *frame = rte_pktmbuf_mtod(packet, const uint8_t *);
	uint32_t offset;
	uint16_t vlan;

	if (headers->network == WEIR_NETWORK_IPV6)
		return options->ipv6;
	offset = weir_l3_offset(frame, packet->data_len, &vlan);
	if (offset != 0 && weir_ethertype_before(frame, offset) == RTE_ETHER_TYPE_ARP)
		return options->arp;
	return options->other;
}

bool
weir_not_ipv4_forwards(const struct weir_not_ipv4_options *options, const struct rte_mbuf *packet,
		       const struct weir_headers *headers)
{
	unsigned int said = said_of(options, packet, headers);

	if (said == WEIR_KIND_AS_NOT_IPV4)
		return options->all == WEIR_NOT_IPV4_FORWARD;
	return said == WEIR_KIND_FORWARD;
}
