/* SPDX-License-Identifier: Apache-2.0 */
#include "fastpath.h"

#include <netinet/in.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_tcp.h>
#include <rte_udp.h>

#include "slow_path.h"

static inline uint16_t
word_at(const uint8_t *at)
{
	uint16_t word;

	memcpy(&word, at, sizeof(word));
	return word;
}

/* The entry's new tuple, with checksum changes that were worked out once. */
static inline void
rewrite(const struct weir_flow_entry *entry, uint8_t *frame, struct weir_headers *headers)
{
	uint8_t *ip = frame + headers->l3_offset;
	uint8_t *l4 = frame + headers->l4_offset;
	bool udp = headers->tuple.protocol == IPPROTO_UDP;
	size_t checksum_offset = udp ? offsetof(struct rte_udp_hdr, dgram_cksum)
				     : offsetof(struct rte_tcp_hdr, cksum);
	uint16_t ip_checksum, l4_checksum = word_at(l4 + checksum_offset);

	memcpy(ip + 12, &entry->src_ip, 8);
	memcpy(l4, &entry->src_port, 4);
	ip_checksum = weir_checksum_changed(word_at(ip + 10), entry->ip_change);
	memcpy(ip + 10, &ip_checksum, 2);
	if (!udp || l4_checksum != 0) {
		l4_checksum = weir_checksum_changed(l4_checksum, entry->l4_change);
		if (udp && l4_checksum == 0)
			l4_checksum = 0xffff;
		memcpy(l4 + checksum_offset, &l4_checksum, 2);
	}
	memcpy(&headers->tuple.src_ip, &entry->src_ip, 12);
}

/* Each operation for this packet. False: dropped, for reason `*reason` of stage `*stage`. */
static bool
operate(const struct weir_flow_entry *entry, const struct rte_mbuf *packet, uint64_t now_tsc,
	uint8_t *stage, uint8_t *reason)
{
	for (unsigned int i = 0; i < entry->operation_count; i++) {
		const struct weir_flow_operation *operation = &entry->operations[i];

		if (operation->counter != NULL) {
			weir_count(&operation->counter->packets, 1);
			weir_count(&operation->counter->bytes, packet->pkt_len);
		} else if (!operation->effect->run(operation->effect, packet, now_tsc)) {
			*stage = entry->stage_of[i];
			*reason = operation->effect->drop_reason;
			return false;
		}
	}
	return true;
}

/* A state core's batch: a rewrite worker writes. */
static void
hand_over(const struct weir_flow_entry *entry, struct weir_batch *batch, uint16_t index)
{
	const struct weir_action action = {
		.set = entry->set,
		.ttl_decrement = entry->ttl_decrement,
		.has_egress = entry->egress != WEIR_FLOW_NO_EGRESS,
		.egress = entry->egress,
		.dst_mac = entry->dst_mac,
		.src_mac = entry->src_mac,
		.src_ip = entry->src_ip,
		.dst_ip = entry->dst_ip,
		.src_port = entry->src_port,
		.dst_port = entry->dst_port,
	};

	weir_batch_rewrite(batch, index, &action);
}

static inline void
apply(const struct weir_flow_entry *entry, struct weir_batch *batch, uint16_t index)
{
	uint8_t *frame = rte_pktmbuf_mtod(batch->packet[index], uint8_t *);
	struct weir_headers *headers = &batch->headers[index];

	if (unlikely(batch->hands_over)) {
		hand_over(entry, batch, index);
		return;
	}
	if ((entry->set & WEIR_SET_TUPLE) != 0)
		rewrite(entry, frame, headers);
	if (entry->ttl_decrement != 0)
		weir_ttl_decrement(frame, headers, entry->ttl_decrement);
	if ((entry->set & WEIR_SET_MAC) != 0)
		memcpy(frame, &entry->dst_mac, 2 * RTE_ETHER_ADDR_LEN);
	if (entry->egress != WEIR_FLOW_NO_EGRESS)
		batch->egress[index] = entry->egress;
}

static void
find(struct weir_fastpath *fastpath, const struct weir_batch *batch, uint16_t first,
     struct weir_flow_entry **entries)
{
	struct weir_tuple keys[WEIR_BURST];
	const struct weir_tuple *asked[WEIR_BURST];
	struct weir_flow_entry *found[WEIR_BURST];
	uint16_t place[WEIR_BURST];
	unsigned int count = 0;

	for (uint16_t i = first; i < batch->count; i++) {
		entries[i] = NULL;
		if (!weir_flow_may_be_known(&batch->headers[i]))
			continue;
		keys[count] = weir_flow_key(fastpath, &batch->headers[i]);
		asked[count] = &keys[count];
		place[count++] = i;
	}
	if (count == 0)
		return;
	weir_flow_cache_find(fastpath->cache, asked, found, count);
	for (unsigned int i = 0; i < count; i++) {
		/* A packet whose TTL would expire takes the slow path, where a function drops and
		 * counts it. */
		if (found[i] != NULL && batch->headers[place[i]].ttl > found[i]->ttl_decrement)
			entries[place[i]] = found[i];
	}
}

/* Does what the entry says. False: it is to be dropped. */
static inline bool
obey(struct weir_flow_entry *entry, struct weir_batch *batch, uint16_t index, uint8_t *stage,
     uint8_t *reason)
{
	*stage = entry->drop_stage;
	*reason = entry->drop_reason;
	if (!entry->used)
		entry->used = true;
	if (unlikely(entry->has_effects)) {
		if (!operate(entry, batch->packet[index], batch->now_tsc, stage, reason))
			return false;
	} else {
		entry->packets++;
		entry->bytes += batch->packet[index]->pkt_len;
	}
	if (unlikely(entry->verdict == WEIR_DROP))
		return false;
	apply(entry, batch, index);
	return true;
}

/* A dropped packet becomes NULL. */
static inline void
follow(struct weir_stage *stages, struct weir_flow_entry *entry, struct weir_batch *batch,
       uint16_t index)
{
	uint8_t stage, reason;

	if (likely(obey(entry, batch, index, &stage, &reason)))
		return;
	weir_count(&stages[stage].ledger.packets_in, 1);
	weir_count(&stages[stage].ledger.drops[reason], 1);
	rte_pktmbuf_free(batch->packet[index]);
	batch->packet[index] = NULL;
}

static void
compact(struct weir_batch *batch)
{
	uint16_t kept = 0;

	for (uint16_t i = 0; i < batch->count; i++) {
		if (batch->packet[i] == NULL)
			continue;
		if (kept != i)
			weir_batch_move(batch, kept, batch, i);
		kept++;
	}
	batch->count = kept;
}

void
weir_fastpath_run(struct weir_fastpath *fastpath, struct weir_stage *stages,
		  unsigned int stage_count, struct weir_batch *batch, bool ledger)
{
	struct weir_flow_entry *entries[WEIR_BURST];
	uint64_t changes, start = ledger ? rte_rdtsc() : 0, slow_cycles = 0;
	bool dropped = false;
	uint16_t i = 0;

	weir_batch_parse(batch);
	find(fastpath, batch, 0, entries);
	changes = weir_flow_cache_changes(fastpath->cache);
	while (i < batch->count) {
		uint16_t end = i;

		if (entries[i] != NULL) {
			follow(stages, entries[i], batch, i);
			weir_count(&fastpath->ledger.hits, 1);
			dropped |= batch->packet[i] == NULL;
			i++;
			continue;
		}
		while (end < batch->count && entries[end] == NULL)
			end++;
		uint64_t before = ledger ? rte_rdtsc() : 0;

		weir_slow_path_run(fastpath, stages, stage_count, batch, i, end, ledger);
		if (ledger)
			slow_cycles += rte_rdtsc() - before;
		dropped = true;
		i = end;
		/* What was found may have been forgotten meanwhile. */
		if (i < batch->count && weir_flow_cache_changes(fastpath->cache) != changes) {
			find(fastpath, batch, i, entries);
			changes = weir_flow_cache_changes(fastpath->cache);
		}
	}
	if (dropped)
		compact(batch);
	if (ledger)
		weir_count(&fastpath->ledger.cycles, rte_rdtsc() - start - slow_cycles);
}
