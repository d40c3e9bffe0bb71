/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fragments: the first one has ports and is translated by them; later ones follow it by addresses,
 * identification and protocol (RFC 791, section 3.2). Memory is sets of four, of which the one that
 * times out soonest gives way; so a flood of first fragments costs others theirs, and nothing else
 * (RFC 4787, REQ-14a).
 */
#include <rte_ip.h>
#include <rte_malloc.h>

#include "nat.h"

#define SET_SIZE 4

int
nat_fragments_init(struct nat *nat)
{
	uint32_t count = rte_align32pow2(RTE_MAX(nat->fragment_count, (uint64_t)SET_SIZE));

	nat->fragment_mask = count / SET_SIZE - 1;
	nat->fragments =
		rte_zmalloc("nat_fragments", count * sizeof(*nat->fragments), RTE_CACHE_LINE_SIZE);
	return nat->fragments == NULL ? -1 : 0;
}

void
nat_fragments_fini(struct nat *nat)
{
	rte_free(nat->fragments);
}

static uint16_t
identification_of(const struct rte_mbuf *packet, const struct weir_headers *headers)
{
	return rte_pktmbuf_mtod_offset(packet, const struct rte_ipv4_hdr *, headers->l3_offset)
		->packet_id;
}

static struct nat_fragment *
set_of(const struct nat *nat, const struct weir_tuple *tuple, uint16_t identification)
{
	uint64_t addresses = tuple->src_ip | (uint64_t)tuple->dst_ip << 32;
	uint64_t hash =
		weir_mix(addresses ^ nat->seed) ^ identification ^ (uint64_t)tuple->protocol << 16;

	return &nat->fragments[(weir_mix(hash) & nat->fragment_mask) * SET_SIZE];
}

static struct nat_fragment *
find(const struct nat *nat, const struct weir_tuple *tuple, uint16_t identification)
{
	struct nat_fragment *set = set_of(nat, tuple, identification);

	for (unsigned int i = 0; i < SET_SIZE; i++) {
		if (set[i].src_ip == tuple->src_ip && set[i].dst_ip == tuple->dst_ip &&
		    set[i].identification == identification && set[i].protocol == tuple->protocol)
			return &set[i];
	}
	return NULL;
}

static struct nat_fragment *
replaceable(const struct nat *nat, const struct weir_tuple *tuple, uint16_t identification)
{
	struct nat_fragment *set = set_of(nat, tuple, identification);
	struct nat_fragment *soonest = set;

	for (unsigned int i = 1; i < SET_SIZE; i++) {
		if (set[i].expires_tsc < soonest->expires_tsc)
			soonest = &set[i];
	}
	return soonest;
}

void
nat_fragment_remember(struct nat *nat, const struct rte_mbuf *packet,
		      const struct weir_headers *headers, const struct weir_action *action,
		      uint64_t now_tsc)
{
	const struct weir_tuple *tuple = &headers->tuple;
	uint16_t identification = identification_of(packet, headers);
	struct nat_fragment *fragment = find(nat, tuple, identification);

	if (fragment == NULL)
		fragment = replaceable(nat, tuple, identification);
	*fragment = (struct nat_fragment){
		.src_ip = tuple->src_ip,
		.dst_ip = tuple->dst_ip,
		.new_src_ip = (action->set & WEIR_SET_SRC_IP) != 0 ? action->src_ip : tuple->src_ip,
		.new_dst_ip = (action->set & WEIR_SET_DST_IP) != 0 ? action->dst_ip : tuple->dst_ip,
		.expires_tsc = now_tsc + nat->fragment_timeout_tsc,
		.identification = identification,
		.protocol = tuple->protocol,
		.hairpinned = action->has_egress,
	};
}

void
nat_fragment_follow(struct nat *nat, const struct rte_mbuf *packet,
		    const struct weir_headers *headers, struct weir_action *action,
		    uint64_t now_tsc)
{
	const struct nat_fragment *fragment =
		find(nat, &headers->tuple, identification_of(packet, headers));

	if (fragment == NULL || fragment->expires_tsc < now_tsc) {
		nat_drop(action, NAT_DROP_FRAGMENT_UNKNOWN);
		return;
	}
	action->once = true;
	action->set = WEIR_SET_SRC_IP | WEIR_SET_DST_IP;
	action->src_ip = fragment->new_src_ip;
	action->dst_ip = fragment->new_dst_ip;
	action->has_egress = fragment->hairpinned;
	action->egress = nat->hairpin_output;
}
