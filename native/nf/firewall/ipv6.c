/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions of IPv6: their keys have numbers in the place of addresses. */
#include "firewall.h"

#include <string.h>

#include <rte_ip.h>

static const struct rte_ipv6_hdr *
ipv6_of(const struct rte_mbuf *packet, const struct weir_headers *headers)
{
	return rte_pktmbuf_mtod_offset(packet, const struct rte_ipv6_hdr *, headers->l3_offset);
}

static struct weir_tuple
numbered(const struct weir_tuple *tuple, uint32_t src, uint32_t dst)
{
	struct weir_tuple found = *tuple;

	found.src_ip = src;
	found.dst_ip = dst;
	found.zero[0] = SESSION_KEY_IPV6;
	return found;
}

struct weir_tuple
firewall_ipv6_tuple(const struct firewall *firewall, const uint8_t src_ip[16],
		    const uint8_t dst_ip[16], const struct weir_tuple *tuple)
{
	return numbered(tuple, weir_ipv6_number_find(firewall->addresses, src_ip),
			weir_ipv6_number_find(firewall->addresses, dst_ip));
}

struct weir_tuple
firewall_tuple(const struct firewall *firewall, const struct rte_mbuf *packet,
	       const struct weir_headers *headers)
{
	const struct rte_ipv6_hdr *ip;

	if (headers->network != WEIR_NETWORK_IPV6)
		return headers->tuple;
	ip = ipv6_of(packet, headers);
	return firewall_ipv6_tuple(firewall, ip->src_addr, ip->dst_addr, &headers->tuple);
}

bool
firewall_hold_addresses(struct firewall *firewall, const struct rte_mbuf *packet,
			const struct weir_headers *headers, struct weir_tuple *tuple)
{
	const struct rte_ipv6_hdr *ip;
	uint32_t src, dst;

	*tuple = headers->tuple;
	if (headers->network != WEIR_NETWORK_IPV6)
		return true;
	ip = ipv6_of(packet, headers);
	src = weir_ipv6_number_hold(firewall->addresses, ip->src_addr);
	if (src == WEIR_IPV6_NUMBER_NONE)
		return false;
	dst = weir_ipv6_number_hold(firewall->addresses, ip->dst_addr);
	if (dst == WEIR_IPV6_NUMBER_NONE) {
		weir_ipv6_number_let_go(firewall->addresses, src);
		return false;
	}
	*tuple = numbered(tuple, src, dst);
	return true;
}

void
firewall_let_addresses_go(struct firewall *firewall, const struct weir_tuple *tuple)
{
	if (tuple->zero[0] != SESSION_KEY_IPV6)
		return;
	weir_ipv6_number_let_go(firewall->addresses, tuple->src_ip);
	weir_ipv6_number_let_go(firewall->addresses, tuple->dst_ip);
}

struct weir_ipv6_tuple
firewall_session_ipv6_tuple(const struct firewall *firewall, const struct session *session)
{
	bool reversed = (session->flags & SESSION_REVERSED) != 0;
	uint32_t src = reversed ? session->key.dst_ip : session->key.src_ip;
	uint32_t dst = reversed ? session->key.src_ip : session->key.dst_ip;
	struct weir_ipv6_tuple tuple = {.rest = firewall_session_tuple(session)};

	memcpy(tuple.src_ip, weir_ipv6_number_address(firewall->addresses, src),
	       sizeof(tuple.src_ip));
	memcpy(tuple.dst_ip, weir_ipv6_number_address(firewall->addresses, dst),
	       sizeof(tuple.dst_ip));
	return tuple;
}

bool
firewall_permits(const struct firewall *firewall, const struct rte_mbuf *packet,
		 const struct weir_headers *headers)
{
	bool permits;

	if (headers->network == WEIR_NETWORK_IPV6) {
		const struct weir_ipv6_tuple tuple = weir_ipv6_packet_tuple(packet, headers);

		permits = weir_rule_set_permits_ipv6(firewall->rules, &tuple);
	} else {
		const struct weir_tuple tuple = weir_classifier_packet_tuple(packet, headers);

		weir_rule_set_permits(firewall->rules, &tuple, &permits, 1);
	}
	return permits;
}
