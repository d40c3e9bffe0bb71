/* SPDX-License-Identifier: Apache-2.0 */
#include "fragments.h"

#include <assert.h>
#include <netinet/in.h>
#include <string.h>

#include <rte_common.h>
#include <rte_cycles.h>
#include <rte_hash_crc.h>
#include <rte_ip.h>
#include <rte_malloc.h>

#define WAYS 4
#define EXTENSIONS_MAX 8

/* RFC 791: source, destination, protocol and identification name an IPv4 datagram; RFC 8200,
 * section 4.5: source, destination and identification one of IPv6. */
struct datagram_key {
	uint8_t src[16], dst[16];
	uint32_t identification;
	uint8_t protocol;
	uint8_t network; /* enum weir_network; 0: a free place */
	uint16_t zero;
};
static_assert(sizeof(struct datagram_key) == 40, "a key without holes");

struct datagram {
	struct datagram_key key;
	uint64_t decision;
	uint64_t seen_tsc;
	uint64_t zero;
};
static_assert(sizeof(struct datagram) == 64, "a way is a cache line");

struct waiting {
	struct datagram_key key;
	uint64_t until_tsc;
	struct weir_fragment fragment;
	bool is_known; /* its first fragment was seen */
};

struct weir_fragments {
	uint32_t mask; /* of the places, WAYS datagrams each */
	struct datagram *datagrams;
	struct waiting *waiting; /* in the order in which they came */
	uint32_t waiting_count, waiting_max;
	uint32_t known_count; /* of those that wait */
	uint64_t wait_cycles;
};

struct weir_fragments *
weir_fragments_create(uint32_t datagrams, uint32_t waiting_packets, uint64_t wait_ms)
{
	uint32_t places = rte_align32pow2((datagrams + WAYS - 1) / WAYS);
	struct weir_fragments *fragments = rte_zmalloc("fragments", sizeof(*fragments), 0);

	if (fragments == NULL)
		return NULL;
	fragments->mask = places - 1;
	fragments->waiting_max = waiting_packets;
	fragments->wait_cycles = wait_ms * (rte_get_tsc_hz() / 1000);
	fragments->datagrams = rte_zmalloc(
		"datagrams", (size_t)places * WAYS * sizeof(struct datagram), RTE_CACHE_LINE_SIZE);
	fragments->waiting = rte_zmalloc("waiting fragments",
					 (waiting_packets + 1UL) * sizeof(struct waiting), 0);
	if (fragments->datagrams != NULL && fragments->waiting != NULL)
		return fragments;
	weir_fragments_free(fragments);
	return NULL;
}

void
weir_fragments_free(struct weir_fragments *fragments)
{
	if (fragments == NULL)
		return;
	for (uint32_t i = 0; i < fragments->waiting_count; i++)
		rte_pktmbuf_free(fragments->waiting[i].fragment.packet);
	rte_free(fragments->waiting);
	rte_free(fragments->datagrams);
	rte_free(fragments);
}

/* Of the fragment header, which the parser found: no extension header before it is cut. */
static uint32_t
ipv6_identification(const uint8_t *ip)
{
	const uint8_t *next = ip + offsetof(struct rte_ipv6_hdr, proto);
	const uint8_t *header = ip + sizeof(struct rte_ipv6_hdr);
	uint32_t identification = 0;

	for (unsigned int i = 0; i < EXTENSIONS_MAX && *next != IPPROTO_FRAGMENT; i++) {
		next = header;
		header += 8 * (1 + header[1]);
	}
	if (*next == IPPROTO_FRAGMENT)
		memcpy(&identification, header + 4, sizeof(identification));
	return identification;
}

static struct datagram_key
key_of(const struct rte_mbuf *packet, const struct weir_headers *headers)
{
	const uint8_t *ip = rte_pktmbuf_mtod_offset(packet, const uint8_t *, headers->l3_offset);
	struct datagram_key key = {.network = headers->network};

	if (headers->network == WEIR_NETWORK_IPV6) {
		memcpy(key.src, ip + offsetof(struct rte_ipv6_hdr, src_addr), 16);
		memcpy(key.dst, ip + offsetof(struct rte_ipv6_hdr, dst_addr), 16);
		key.identification = ipv6_identification(ip);
		return key;
	}
	memcpy(key.src, &headers->tuple.src_ip, 4);
	memcpy(key.dst, &headers->tuple.dst_ip, 4);
	key.identification = ((const struct rte_ipv4_hdr *)ip)->packet_id;
	key.protocol = headers->tuple.protocol;
	return key;
}

static struct datagram *
ways_of(const struct weir_fragments *fragments, const struct datagram_key *key)
{
	uint32_t hash = rte_hash_crc(key, sizeof(*key), 0);

	return &fragments->datagrams[(hash & fragments->mask) * WAYS];
}

static inline bool
is_same(const struct datagram_key *left, const struct datagram_key *right)
{
	return memcmp(left, right, sizeof(*left)) == 0;
}

static void
wake(struct weir_fragments *fragments, const struct datagram_key *key)
{
	for (uint32_t i = 0; i < fragments->waiting_count; i++) {
		struct waiting *waiting = &fragments->waiting[i];

		if (!waiting->is_known && is_same(&waiting->key, key)) {
			waiting->is_known = true;
			fragments->known_count++;
		}
	}
}

void
weir_fragments_remember(struct weir_fragments *fragments, const struct rte_mbuf *packet,
			const struct weir_headers *headers, uint64_t now_tsc, uint64_t decision)
{
	const struct datagram_key key = key_of(packet, headers);
	struct datagram *ways = ways_of(fragments, &key);
	struct datagram *place = &ways[0];

	for (unsigned int i = 0; i < WAYS; i++) {
		if (is_same(&ways[i].key, &key)) {
			place = &ways[i];
			break;
		}
		if (ways[i].seen_tsc < place->seen_tsc)
			place = &ways[i];
	}
	*place = (struct datagram){.key = key, .decision = decision, .seen_tsc = now_tsc};
	wake(fragments, &key);
}

bool
weir_fragments_recall(const struct weir_fragments *fragments, const struct rte_mbuf *packet,
		      const struct weir_headers *headers, uint64_t now_tsc, uint64_t *decision)
{
	const struct datagram_key key = key_of(packet, headers);
	const struct datagram *ways = ways_of(fragments, &key);

	for (unsigned int i = 0; i < WAYS; i++) {
		if (is_same(&ways[i].key, &key)) {
			*decision = ways[i].decision;
			return now_tsc - ways[i].seen_tsc <=
			       WEIR_FRAGMENTS_TIMEOUT_S * rte_get_tsc_hz();
		}
	}
	return false;
}

bool
weir_fragments_wait(struct weir_fragments *fragments, const struct weir_fragment *fragment,
		    const struct weir_headers *headers, uint64_t now_tsc)
{
	const struct datagram_key key = key_of(fragment->packet, headers);
	uint64_t decision;
	bool is_known;

	if (fragments->waiting_count == fragments->waiting_max)
		return false;
	/* By now: its first one may have come in the same burst, behind it. */
	is_known = weir_fragments_recall(fragments, fragment->packet, headers, now_tsc, &decision);
	fragments->known_count += is_known;
	fragments->waiting[fragments->waiting_count++] = (struct waiting){
		.key = key,
		.until_tsc = now_tsc + fragments->wait_cycles,
		.fragment = *fragment,
		.is_known = is_known,
	};
	return true;
}

static void
take_out(struct weir_fragments *fragments, uint32_t at)
{
	struct waiting *all = fragments->waiting;

	fragments->known_count -= all[at].is_known;
	fragments->waiting_count--;
	memmove(&all[at], &all[at + 1], (fragments->waiting_count - at) * sizeof(*all));
}

bool
weir_fragments_next(struct weir_fragments *fragments, uint8_t direction, uint64_t now_tsc,
		    struct weir_fragment *fragment, bool *late)
{
	for (uint32_t i = 0; i < fragments->waiting_count; i++) {
		const struct waiting *waiting = &fragments->waiting[i];
		bool waits = !waiting->is_known && now_tsc <= waiting->until_tsc;

		/* All behind it have waited less long. */
		if (waits && fragments->known_count == 0)
			return false;
		if (waits || waiting->fragment.direction != direction)
			continue;
		*late = !waiting->is_known;
		*fragment = waiting->fragment;
		take_out(fragments, i);
		return true;
	}
	return false;
}
