/* SPDX-License-Identifier: Apache-2.0 */
#include "fastpath.h"

#include <netinet/in.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_tcp.h>
#include <rte_udp.h>

#define TCP_FLAGS_OF_STATE (RTE_TCP_SYN_FLAG | RTE_TCP_FIN_FLAG | RTE_TCP_RST_FLAG)
#define FLAGS_THAT_WALK                                                                            \
	(WEIR_HEADER_FRAGMENT | WEIR_HEADER_LATER_FRAGMENT | WEIR_HEADER_L4_CUT |                  \
	 WEIR_HEADER_OPTIONS | WEIR_HEADER_GROUP | WEIR_HEADER_BAD_CHECKSUM)
/* Whether the tuple alone says what flow the packet belongs to, and its flags change no state. */
static inline bool
may_be_known(const struct weir_headers *headers)
{
	if (headers->network != WEIR_NETWORK_IPV4 || headers->l4_offset == 0 ||
	    (headers->flags & FLAGS_THAT_WALK) != 0)
		return false;
	return headers->tuple.protocol == IPPROTO_UDP ||
	       (headers->tuple.protocol == IPPROTO_TCP &&
		(headers->tcp_flags & TCP_FLAGS_OF_STATE) == 0);
}

static inline struct weir_tuple
key_of(const struct weir_fastpath *fastpath, const struct weir_headers *headers)
{
	struct weir_tuple key = headers->tuple;

	key.zero[0] = fastpath->path + 1;
	memcpy(&key.zero[1], &headers->vlan, sizeof(headers->vlan));
	return key;
}

/* --- a packet whose flow is known ------------------------------------------------------------- */

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

/* An owner's batch: somebody else writes. */
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

/* --- a packet that walks -----------------------------------------------------------------------
 */

/* The packets of one walk, and what is learnt about each. */
struct walking {
	uint16_t count;
	uint16_t place[WEIR_BURST]; /* in the batch that they came in */
	bool known[WEIR_BURST];	    /* could be: its decision is worth remembering */
	struct weir_flow_decision decision[WEIR_BURST];
	struct weir_flow_walk walk[WEIR_BURST];
};

static void
add_operation(struct weir_flow_decision *decision, bool *known, unsigned int stage,
	      struct weir_counter *counter, struct weir_effect *effect)
{
	if (counter == NULL && effect == NULL)
		return;
	if (decision->operation_count == WEIR_FLOW_OPERATIONS_MAX) {
		*known = false;
		return;
	}
	decision->stage_of[decision->operation_count] = stage;
	decision->operations[decision->operation_count++] =
		(struct weir_flow_operation){.counter = counter, .effect = effect};
	decision->has_effects |= effect != NULL;
}

/* Adds what one stage decided to what the stages before it did. `seen`: the tuple that it saw. */
static void
compose(struct weir_flow_decision *decision, struct weir_flow_walk *walk, bool *known,
	unsigned int stage, const struct weir_action *action, const struct weir_tuple *seen)
{
	walk->seen[stage] = *seen;
	walk->dependents[stage] = action->dependents;
	walk->stage_count = stage + 1;
	if (action->once)
		*known = false;
	for (unsigned int i = 0; i < RTE_DIM(action->counters); i++)
		add_operation(decision, known, stage, action->counters[i], NULL);
	weir_action_compose(&decision->action, action);
	if (action->verdict == WEIR_DROP)
		decision->drop_stage = stage;
	else
		add_operation(decision, known, stage, NULL, action->effect);
}

/* The whole rewrite: from the tuple that came to the one that leaves. */
static void
finish(struct weir_flow_decision *decision, const struct weir_tuple *leaves)
{
	const struct weir_tuple *came = &decision->key;

	weir_action_set_tuple(&decision->action, leaves);
	decision->ip_change = weir_checksum_change32(came->src_ip, leaves->src_ip) +
			      weir_checksum_change32(came->dst_ip, leaves->dst_ip);
	decision->l4_change = decision->ip_change +
			      weir_checksum_change16(came->src_port, leaves->src_port) +
			      weir_checksum_change16(came->dst_port, leaves->dst_port);
}

/* The packets are moved: their headers and egress with them. */
static void
move(struct walking *walking, struct weir_batch *batch, uint16_t from, uint16_t to)
{
	if (from == to)
		return;
	batch->packet[to] = batch->packet[from];
	batch->egress[to] = batch->egress[from];
	batch->headers[to] = batch->headers[from];
	walking->place[to] = walking->place[from];
	walking->known[to] = walking->known[from];
	walking->decision[to] = walking->decision[from];
	walking->walk[to] = walking->walk[from];
}

static void
remember(struct weir_flow_cache *cache, struct walking *walking, uint16_t index,
	 const struct weir_tuple *leaves)
{
	if (!walking->known[index])
		return;
	finish(&walking->decision[index], leaves);
	weir_flow_cache_remember(cache, &walking->decision[index], &walking->walk[index]);
}

/* Runs one stage on the packets that are still there. */
static void
walk_stage(struct weir_fastpath *fastpath, struct weir_stage *stage, unsigned int number,
	   struct walking *walking, struct weir_batch *batch)
{
	struct weir_action actions[WEIR_BURST];
	uint16_t kept = 0;

	weir_stage_decide(stage, batch, actions);
	for (uint16_t i = 0; i < batch->count; i++) {
		struct weir_tuple seen = batch->headers[i].tuple;
		uint8_t reason;

		compose(&walking->decision[i], &walking->walk[i], &walking->known[i], number,
			&actions[i], &seen);
		if (weir_stage_apply(batch, i, &actions[i], &reason)) {
			move(walking, batch, i, kept++);
			continue;
		}
		weir_count(&stage->ledger.drops[reason], 1);
		if (actions[i].verdict == WEIR_DROP)
			remember(fastpath->cache, walking, i, &seen);
		rte_pktmbuf_free(batch->packet[i]);
	}
	batch->count = kept;
}

/* --- a batch ------------------------------------------------------------------------------------
 */

/* Lets packets [first, end) of the batch walk; those dropped become NULL. */
static void
walk(struct weir_fastpath *fastpath, struct weir_stage *stages, unsigned int stage_count,
     struct weir_batch *batch, uint16_t first, uint16_t end, const bool ledger)
{
	struct weir_batch part = {
		.direction = batch->direction,
		.parsed = true,
		.hands_over = batch->hands_over,
		.now_tsc = batch->now_tsc,
		.cache = fastpath->cache,
	};
	struct walking walking;

	for (uint16_t i = first; i < end; i++) {
		uint16_t to = part.count++;

		part.packet[to] = batch->packet[i];
		part.headers[to] = batch->headers[i];
		part.egress[to] = batch->egress[i];
		batch->packet[i] = NULL;
		walking.place[to] = i;
		walking.known[to] = may_be_known(&part.headers[to]);
		memset(&walking.decision[to], 0, sizeof(walking.decision[to]));
		walking.decision[to].key = key_of(fastpath, &part.headers[to]);
		walking.walk[to].stage_count = 0;
	}
	weir_flow_cache_begin_walk(fastpath->cache);
	weir_count(&fastpath->ledger.walks, part.count);
	for (unsigned int i = 0; i < stage_count && part.count > 0; i++) {
		uint64_t start = ledger ? rte_rdtsc() : 0;

		weir_count(&stages[i].ledger.packets_in, part.count);
		walk_stage(fastpath, &stages[i], i, &walking, &part);
		weir_count(&stages[i].ledger.packets_out, part.count);
		if (ledger)
			weir_count(&stages[i].ledger.cycles, rte_rdtsc() - start);
	}
	for (uint16_t i = 0; i < part.count; i++) {
		uint16_t place = walking.place[i];

		remember(fastpath->cache, &walking, i, &part.headers[i].tuple);
		batch->packet[place] = part.packet[i];
		batch->headers[place] = part.headers[i];
		batch->egress[place] = part.egress[i];
	}
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
		if (!may_be_known(&batch->headers[i]))
			continue;
		keys[count] = key_of(fastpath, &batch->headers[i]);
		asked[count] = &keys[count];
		place[count++] = i;
	}
	if (count == 0)
		return;
	weir_flow_cache_find(fastpath->cache, asked, found, count);
	for (unsigned int i = 0; i < count; i++) {
		/* A packet whose time is up walks, to be dropped by whom it concerns. */
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
		if (kept != i) {
			batch->packet[kept] = batch->packet[i];
			batch->egress[kept] = batch->egress[i];
			batch->headers[kept] = batch->headers[i];
		}
		kept++;
	}
	batch->count = kept;
}

void
weir_fastpath_run(struct weir_fastpath *fastpath, struct weir_stage *stages,
		  unsigned int stage_count, struct weir_batch *batch, bool ledger)
{
	struct weir_flow_entry *entries[WEIR_BURST];
	uint64_t changes, start = ledger ? rte_rdtsc() : 0, walked = 0;
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

		walk(fastpath, stages, stage_count, batch, i, end, ledger);
		if (ledger)
			walked += rte_rdtsc() - before;
		dropped = true;
		i = end;
		/* What was found may have been forgotten by this walk. */
		if (i < batch->count && weir_flow_cache_changes(fastpath->cache) != changes) {
			find(fastpath, batch, i, entries);
			changes = weir_flow_cache_changes(fastpath->cache);
		}
	}
	if (dropped)
		compact(batch);
	if (ledger)
		weir_count(&fastpath->ledger.cycles, rte_rdtsc() - start - walked);
}
