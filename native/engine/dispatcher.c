/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include <rte_hash_crc.h>
#include <rte_ip.h>

#include "packet/fragments.h"
#include "hops.h"
#include "packet/icmp_error.h"
#include "stage.h"

#define DATAGRAMS 4096 /* fragmented ones under way at once, on one hop */

struct dispatcher {
	struct weir_hops base;	  /* first */
	const struct weir_nf *nf; /* NULL: none has its own idea of what must meet */
	const void *state;
	struct weir_fragments **fragments; /* by hop */
};

/* One end of a flow. */
struct end {
	uint64_t address[2];
	uint16_t port;
};

static uint32_t
hash_of_end(const struct end *end)
{
	return rte_hash_crc_8byte(end->address[0], rte_hash_crc_8byte(end->address[1], end->port));
}

/* The same for both directions: a sum of what the ends give. */
static uint32_t
hash_of(const struct weir_headers *headers, const struct rte_mbuf *packet)
{
	bool ports = (headers->flags & WEIR_HEADER_FRAGMENT) == 0;
	struct end from = {.address = {headers->tuple.src_ip},
			   .port = ports ? headers->tuple.src_port : 0};
	struct end to = {.address = {headers->tuple.dst_ip},
			 .port = ports ? headers->tuple.dst_port : 0};

	if (headers->network == WEIR_NETWORK_IPV6) {
		const struct rte_ipv6_hdr *ip = rte_pktmbuf_mtod_offset(
			packet, const struct rte_ipv6_hdr *, headers->l3_offset);

		memcpy(from.address, ip->src_addr, sizeof(from.address));
		memcpy(to.address, ip->dst_addr, sizeof(to.address));
	}
	return rte_hash_crc_4byte(headers->tuple.protocol, hash_of_end(&from) + hash_of_end(&to));
}

/* Whether the function says which worker a packet of this kind meets. */
static inline bool
steers(const struct weir_nf *nf, const struct weir_headers *headers)
{
	return headers->network == WEIR_NETWORK_IPV4 || nf->steers_all ||
	       (headers->network == WEIR_NETWORK_IPV6 && nf->steers_ipv6);
}

static inline uint32_t
number_of(const struct dispatcher *dispatcher, const struct weir_headers *headers,
	  const struct rte_mbuf *packet, enum weir_direction direction)
{
	const struct weir_nf *nf = dispatcher->nf;

	if (nf != NULL && steers(nf, headers)) {
		uint32_t number = nf->steer(dispatcher->state, headers, packet, direction);

		if (number != WEIR_STEER_ANY || !nf->steers_all)
			return number;
	}
	return hash_of(headers, packet);
}

/* The packet that an ICMP error is about, on its way back; false: it is no such error. */
static bool
turned_back(const struct rte_mbuf *packet, const struct weir_headers *headers,
	    struct weir_headers *about)
{
	struct weir_icmp_error error;

	if (!weir_icmp_error_parse(packet, headers, &error))
		return false;
	*about = *headers;
	about->flags = 0;
	about->tuple = (struct weir_tuple){
		.src_ip = error.tuple.dst_ip,
		.dst_ip = error.tuple.src_ip,
		.src_port = error.tuple.dst_port,
		.dst_port = error.tuple.src_port,
		.protocol = error.tuple.protocol,
	};
	return true;
}

static uint32_t
number_of_fragment(const struct dispatcher *dispatcher, struct weir_fragments *fragments,
		   const struct rte_mbuf *packet, const struct weir_headers *headers,
		   enum weir_direction direction, uint64_t now_tsc)
{
	struct weir_headers whole = *headers;
	uint64_t number;

	if ((headers->flags & WEIR_HEADER_LATER_FRAGMENT) != 0)
		return weir_fragments_recall(fragments, packet, headers, now_tsc, &number)
			       ? (uint32_t)number
			       : number_of(dispatcher, headers, packet, direction);
	whole.flags &= ~WEIR_HEADER_FRAGMENT;
	number = number_of(dispatcher, &whole, packet, direction);
	weir_fragments_remember(fragments, packet, headers, now_tsc, number);
	return (uint32_t)number;
}

static inline uint32_t
worker_number(const struct dispatcher *dispatcher, struct weir_fragments *fragments,
	      const struct rte_mbuf *packet, const struct weir_headers *headers,
	      enum weir_direction direction, uint64_t now_tsc)
{
	struct weir_headers about;

	if (headers->network == WEIR_NETWORK_IPV4) {
		if (unlikely((headers->flags & WEIR_HEADER_FRAGMENT) != 0))
			return number_of_fragment(dispatcher, fragments, packet, headers, direction,
						  now_tsc);
		if (unlikely(headers->tuple.protocol == IPPROTO_ICMP &&
			     turned_back(packet, headers, &about)))
			return number_of(dispatcher, &about, NULL, direction);
	}
	return number_of(dispatcher, headers, packet, direction);
}

static void
dispatch(const struct dispatcher *dispatcher, struct weir_fragments *fragments,
	 const struct weir_hop *hop, struct weir_batch *batch)
{
	weir_batch_parse(batch);
	for (uint16_t i = 0; i < batch->count; i++)
		batch->egress[i] =
			worker_number(dispatcher, fragments, batch->packet[i], &batch->headers[i],
				      hop->direction, batch->now_tsc) %
			hop->out.count;
}

static uint32_t
poll_hop(const struct dispatcher *dispatcher, unsigned int index, uint64_t now_tsc)
{
	struct weir_hop *hop = &dispatcher->base.hops[index];
	struct weir_batch batch;

	batch.count = weir_queue_receive(&hop->inputs[0], batch.packet, WEIR_BURST);
	if (batch.count == 0)
		return 0;
	batch.parsed = false;
	batch.now_tsc = now_tsc;
	weir_count(&hop->rx_packets, batch.count);
	if (hop->out.count > 1)
		dispatch(dispatcher, dispatcher->fragments[index], hop, &batch);
	else
		memset(batch.egress, 0, sizeof(batch.egress));
	weir_outputs_send(&hop->out, batch.packet, batch.egress, batch.count);
	return batch.count;
}

static uint32_t
poll(struct weir_area *area, uint64_t now_tsc)
{
	const struct dispatcher *dispatcher = (const struct dispatcher *)area;
	uint32_t handled = 0;

	for (unsigned int i = 0; i < dispatcher->base.count; i++)
		handled += poll_hop(dispatcher, i, now_tsc);
	return handled;
}

static void
free_fragments(struct weir_hops *base)
{
	struct dispatcher *dispatcher = (struct dispatcher *)base;

	for (unsigned int i = 0; dispatcher->fragments != NULL && i < base->count; i++)
		weir_fragments_free(dispatcher->fragments[i]);
	free(dispatcher->fragments);
}

static bool
make_fragments(struct dispatcher *dispatcher)
{
	unsigned int count = dispatcher->base.count;

	dispatcher->fragments = calloc(count, sizeof(*dispatcher->fragments));
	if (dispatcher->fragments == NULL)
		return false;
	for (unsigned int i = 0; i < count; i++) {
		dispatcher->fragments[i] = weir_fragments_create(DATAGRAMS, 0, 0);
		if (dispatcher->fragments[i] == NULL)
			return false;
	}
	return true;
}

struct weir_hops *
weir_dispatcher_create(const char *name, unsigned int core, const struct weir_hop *hops,
		       unsigned int count)
{
	struct weir_hops *base =
		weir_hops_create(sizeof(struct dispatcher), name, core, poll, hops, count);

	if (base == NULL)
		return NULL;
	base->free_own = free_fragments;
	if (make_fragments((struct dispatcher *)base))
		return base;
	weir_hops_destroy(base);
	return NULL;
}

void
weir_dispatcher_steer_by(struct weir_hops *base, const struct weir_nf *nf, const void *state)
{
	struct dispatcher *dispatcher = (struct dispatcher *)base;

	dispatcher->nf = nf;
	dispatcher->state = state;
}
