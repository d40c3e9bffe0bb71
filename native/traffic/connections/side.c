/* SPDX-License-Identifier: Apache-2.0 */
#include "side.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include <rte_cycles.h>
#include <rte_errno.h>

#include "engine/handover.h"

#define POOL_MBUFS 16383
#define POOL_CACHE 256
#define ROOM_BYTES 1536 /* of a frame of 1,518 bytes, or with a tag 1,522 */
#define FCS_BYTES 4

/* Of IPv6 the tuple gets the number of its prefixes. False: counted, and to be freed. */
static inline bool
knows_prefixes(struct weir_side *side, struct weir_segment *segment)
{
	struct weir_prefix_pair pair;

	if (segment->addresses == NULL)
		return true;
	pair = weir_prefix_pair(segment->addresses, segment->addresses + 16);
	segment->tuple.zero[0] = weir_prefix_pair_number(&side->prefixes, &pair, side->learns);
	if (segment->tuple.zero[0] != 0)
		return true;
	weir_count(side->learns ? &side->count.no_room : &side->count.not_ours, 1);
	return false;
}

uint16_t
weir_side_receive(struct weir_side *side, struct rte_mbuf **packets, struct weir_segment *segments)
{
	uint16_t count = weir_queue_receive(&side->queue, packets, WEIR_SIDE_BURST), kept = 0;

	if (count == 0)
		return 0;
	if (!side->running) {
		rte_pktmbuf_free_bulk(packets, count);
		return 0;
	}
	for (uint16_t i = 0; i < count; i++)
		rte_prefetch0(rte_pktmbuf_mtod(packets[i], void *));
	for (uint16_t i = 0; i < count; i++) {
		weir_count(&side->count.rx_bytes, packets[i]->pkt_len + FCS_BYTES);
		switch (weir_segment_read(packets[i], &segments[kept])) {
		case WEIR_SEGMENT_READ:
			if (!knows_prefixes(side, &segments[kept]))
				break;
			packets[kept++] = packets[i];
			continue;
		case WEIR_SEGMENT_NOT_OURS:
			weir_count(&side->count.not_ours, 1);
			break;
		case WEIR_SEGMENT_BAD_CHECKSUM:
			weir_count(&side->count.bad_checksum, 1);
			break;
		}
		rte_pktmbuf_free(packets[i]);
	}
	weir_count(&side->count.rx_packets, count);
	return kept;
}

void
weir_side_flush(struct weir_side *side)
{
	unsigned int sent = 0;

	while (sent < side->out_count) {
		uint16_t took = weir_queue_transmit(&side->queue, &side->out[sent],
						    (uint16_t)(side->out_count - sent));

		if (took == 0)
			break;
		sent += took;
	}
	if (sent < side->out_count) {
		weir_count(&side->count.tx_refused, side->out_count - sent);
		rte_pktmbuf_free_bulk(&side->out[sent], side->out_count - sent);
	}
	side->out_count = 0;
}

void
weir_side_send(struct weir_side *side, const struct weir_segment *segment, const uint8_t *head,
	       uint16_t head_bytes, uint16_t mss)
{
	struct rte_mbuf *packet = rte_pktmbuf_alloc(side->pool);

	weir_count(&side->count.tx_packets, 1);
	if (unlikely(packet == NULL)) {
		weir_count(&side->count.tx_refused, 1);
		return;
	}
	weir_segment_write(packet, &side->link, segment,
			   weir_prefix_pair_numbered(&side->prefixes, segment->tuple.zero[0]), head,
			   head_bytes, mss);
	weir_count(&side->count.tx_bytes, packet->pkt_len + FCS_BYTES);
	side->out[side->out_count++] = packet;
	if (side->out_count == WEIR_SIDE_OUT)
		weir_side_flush(side);
}

void
weir_tcp_control(struct weir_side *side, struct weir_tcp *tcp, const struct weir_tuple *to,
		 uint8_t flags, uint32_t sequence)
{
	const struct weir_segment segment = {
		.tuple = *to,
		.flags = flags,
		.sequence = sequence,
		.acknowledged = (flags & RTE_TCP_ACK_FLAG) != 0 ? tcp->expected : 0,
	};

	tcp->owed = 0;
	weir_side_send(side, &segment, NULL, 0,
		       (flags & RTE_TCP_SYN_FLAG) != 0 ? weir_side_mss(side, to) : 0);
}

void
weir_tcp_push(struct weir_side *side, struct weir_tcp *tcp, const struct weir_tuple *to,
	      const uint8_t *head)
{
	uint32_t mss = weir_side_mss(side, to), window = WEIR_CONNECTION_WINDOW * mss;

	while (tcp->next - tcp->message < tcp->message_bytes) {
		uint32_t offset = tcp->next - tcp->message, left = tcp->message_bytes - offset;
		uint32_t in_flight = tcp->next - tcp->unacknowledged;
		uint16_t bytes = (uint16_t)RTE_MIN(left, mss);
		/* Acknowledgements may be of parts of a segment when it was sent again. */
		uint16_t head_bytes = head != NULL && offset < WEIR_REQUEST_BYTES_MIN
					      ? (uint16_t)RTE_MIN(WEIR_REQUEST_BYTES_MIN - offset,
								  (uint32_t)bytes)
					      : 0;
		bool is_last;

		if (in_flight + bytes > window)
			break;
		is_last = left == bytes || in_flight + 2u * bytes > window;
		const struct weir_segment segment = {
			.tuple = *to,
			.flags = RTE_TCP_ACK_FLAG | (is_last ? RTE_TCP_PSH_FLAG : 0),
			.sequence = tcp->next,
			.acknowledged = tcp->expected,
			.payload_bytes = bytes,
			.payload = weir_pattern_at(offset + head_bytes, tcp->salt),
		};

		if ((int32_t)(tcp->next - tcp->highest) < 0)
			weir_count(&side->count.retransmissions, 1);
		weir_side_send(side, &segment,
			       head != NULL ? head + offset * (head_bytes > 0) : NULL, head_bytes,
			       0);
		tcp->owed = 0;
		tcp->next += bytes;
		if ((int32_t)(tcp->next - tcp->highest) > 0)
			tcp->highest = tcp->next;
	}
}

bool
weir_tcp_acknowledged(struct weir_tcp *tcp, const struct weir_segment *segment)
{
	uint32_t acknowledged = segment->acknowledged;

	if ((segment->flags & RTE_TCP_ACK_FLAG) == 0)
		return false;
	if ((int32_t)(acknowledged - tcp->unacknowledged) > 0 &&
	    (int32_t)(acknowledged - tcp->highest) <= 0) {
		tcp->unacknowledged = acknowledged;
		if ((int32_t)(tcp->next - acknowledged) < 0)
			tcp->next = acknowledged;
		tcp->retries = 0;
		tcp->duplicates = 0;
		return true;
	}
	if (acknowledged == tcp->unacknowledged && weir_tcp_is_outstanding(tcp) &&
	    segment->payload_bytes == 0 &&
	    (segment->flags & (RTE_TCP_FIN_FLAG | RTE_TCP_SYN_FLAG)) == 0 &&
	    tcp->duplicates < WEIR_DUPLICATES)
		tcp->duplicates++;
	return false;
}

int
weir_side_prepare(struct weir_side *side, const struct weir_end *end,
		  const struct weir_connections_config *config, struct weir_error *error)
{
	char name[RTE_MEMPOOL_NAMESIZE];

	/* As the streams' pools, it outlives a configuration. */
	snprintf(name, sizeof(name), "weir-connections-%u", end->port_id);
	side->pool = rte_mempool_lookup(name);
	if (side->pool == NULL)
		side->pool =
			rte_pktmbuf_pool_create(name, POOL_MBUFS, POOL_CACHE, WEIR_PRIVATE_BYTES,
						RTE_PKTMBUF_HEADROOM + ROOM_BYTES, SOCKET_ID_ANY);
	if (side->pool == NULL)
		return weir_fail(error, "no_memory", NULL, NULL, "give weir-dp more --memory",
				 "no packet buffers for connections: %s", rte_strerror(rte_errno));
	side->link = weir_link_header(&end->src_mac, &end->dst_mac, end->vlan);
	side->mss = config->mss;
	side->retries = config->retries;
	side->retransmit_cycles =
		(uint64_t)((double)config->retransmit_ns * 1e-9 * (double)rte_get_tsc_hz());
	return 0;
}

void *
weir_side_memory(size_t bytes)
{
	void *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return NULL;
	/* Now, not with the first packet that needs a page. */
	madvise(memory, bytes, MADV_HUGEPAGE);
	memset(memory, 0, bytes);
	return memory;
}

void
weir_side_memory_free(void *memory, size_t bytes)
{
	if (memory != NULL)
		munmap(memory, bytes);
}
