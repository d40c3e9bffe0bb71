/* SPDX-License-Identifier: Apache-2.0 */
#include "fragments.h"

#include <assert.h>
#include <string.h>

#include <rte_common.h>
#include <rte_cycles.h>
#include <rte_hash_crc.h>
#include <rte_ip.h>
#include <rte_malloc.h>

#define WAYS 4

/* RFC 791: source, destination, protocol and identification name a datagram. */
struct datagram {
	uint32_t src_ip;
	uint32_t dst_ip;
	uint16_t identification;
	uint8_t protocol;
	uint8_t used;
	uint32_t decision;
	uint64_t seen_tsc;
	uint64_t zero;
};
static_assert(sizeof(struct datagram) == 32, "four ways are two cache lines");

struct weir_fragments {
	uint32_t mask; /* of the places, WAYS datagrams each */
	struct datagram datagrams[] __rte_cache_aligned;
};

struct weir_fragments *
weir_fragments_create(uint32_t datagrams)
{
	uint32_t places = rte_align32pow2((datagrams + WAYS - 1) / WAYS);
	struct weir_fragments *fragments = rte_zmalloc(
		"fragments", sizeof(*fragments) + places * WAYS * sizeof(struct datagram),
		RTE_CACHE_LINE_SIZE);

	if (fragments != NULL)
		fragments->mask = places - 1;
	return fragments;
}

void
weir_fragments_free(struct weir_fragments *fragments)
{
	rte_free(fragments);
}

static struct datagram
datagram_of(const struct rte_mbuf *packet, const struct weir_headers *headers)
{
	const struct rte_ipv4_hdr *ip =
		rte_pktmbuf_mtod_offset(packet, const struct rte_ipv4_hdr *, headers->l3_offset);

	return (struct datagram){
		.src_ip = headers->tuple.src_ip,
		.dst_ip = headers->tuple.dst_ip,
		.identification = ip->packet_id,
		.protocol = headers->tuple.protocol,
		.used = 1,
	};
}

static uint32_t
place_of(const struct weir_fragments *fragments, const struct datagram *datagram)
{
	uint32_t hash = rte_hash_crc(datagram, offsetof(struct datagram, decision), 0);

	return (hash & fragments->mask) * WAYS;
}

static bool
is_same(const struct datagram *left, const struct datagram *right)
{
	return memcmp(left, right, offsetof(struct datagram, decision)) == 0;
}

void
weir_fragments_remember(struct weir_fragments *fragments, const struct rte_mbuf *packet,
			const struct weir_headers *headers, uint64_t now_tsc, uint32_t decision)
{
	struct datagram datagram = datagram_of(packet, headers);
	struct datagram *ways = &fragments->datagrams[place_of(fragments, &datagram)];
	struct datagram *place = &ways[0];

	for (unsigned int i = 0; i < WAYS; i++) {
		if (is_same(&ways[i], &datagram)) {
			place = &ways[i];
			break;
		}
		if (ways[i].seen_tsc < place->seen_tsc)
			place = &ways[i];
	}
	datagram.decision = decision;
	datagram.seen_tsc = now_tsc;
	*place = datagram;
}

bool
weir_fragments_recall(const struct weir_fragments *fragments, const struct rte_mbuf *packet,
		      const struct weir_headers *headers, uint64_t now_tsc, uint32_t *decision)
{
	struct datagram datagram = datagram_of(packet, headers);
	const struct datagram *ways = &fragments->datagrams[place_of(fragments, &datagram)];

	for (unsigned int i = 0; i < WAYS; i++) {
		if (is_same(&ways[i], &datagram)) {
			*decision = ways[i].decision;
			return now_tsc - ways[i].seen_tsc <=
			       WEIR_FRAGMENTS_TIMEOUT_S * rte_get_tsc_hz();
		}
	}
	return false;
}
