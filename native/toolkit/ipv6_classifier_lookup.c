/* SPDX-License-Identifier: Apache-2.0 */
#include "ipv6_classifier_parts.h"

#include <rte_ip.h>

struct weir_ipv6_tuple
weir_ipv6_packet_tuple(const struct rte_mbuf *packet, const struct weir_headers *headers)
{
	const struct rte_ipv6_hdr *ip =
		rte_pktmbuf_mtod_offset(packet, const struct rte_ipv6_hdr *, headers->l3_offset);
	struct weir_ipv6_tuple tuple;

	memcpy(tuple.src_ip, ip->src_addr, sizeof(tuple.src_ip));
	memcpy(tuple.dst_ip, ip->dst_addr, sizeof(tuple.dst_ip));
	tuple.rest = weir_classifier_packet_tuple(packet, headers);
	return tuple;
}

static inline bool
has(const struct weir_ipv6_prefix *prefix, ipv6_number address)
{
	return ((ipv6_number_of(prefix->address) ^ address) & ~ipv6_host_bits(prefix->length)) == 0;
}

static const struct ipv6_slot *
find_slot(const struct weir_ipv6_classifier *classifier, uint32_t table, ipv6_number src,
	  ipv6_number dst)
{
	uint32_t at = ipv6_place_of(classifier, table, src, dst);

	for (;; at = (at + 1) & classifier->slot_mask) {
		const struct ipv6_slot *slot = &classifier->slots[at];

		if (slot->reference == REFERENCE_NONE)
			return NULL;
		if (slot->table == table && slot->src == src && slot->dst == dst)
			return slot;
	}
}

static uint32_t
find_in_tables(const struct weir_ipv6_classifier *classifier, ipv6_number src, ipv6_number dst,
	       const struct rule_fields *fields)
{
	const struct table_set *src_set = ipv6_bounds_find(&classifier->src, src);
	const struct table_set *dst_set = ipv6_bounds_find(&classifier->dst, dst);
	uint32_t best = WEIR_RULE_NONE;

	for (unsigned int i = 0; i < SET_WORDS; i++) {
		for (uint64_t word = src_set->words[i] & dst_set->words[i]; word != 0;
		     word &= word - 1) {
			uint32_t number = i * 64 + __builtin_ctzll(word);
			const struct ipv6_table *table = &classifier->tables[number];
			const struct ipv6_slot *slot;

			/* Tables are in the order of their first rules. */
			if (table->first_index >= best)
				return best;
			slot = find_slot(classifier, number, src & table->src_mask,
					 dst & table->dst_mask);
			if (slot != NULL && slot->first_index < best)
				best = rule_lists_search(classifier->lists.nodes.items,
							 classifier->lists.records.items,
							 slot->reference, fields, best);
		}
	}
	return best;
}

static uint32_t
find_in_others(const struct weir_ipv6_classifier *classifier, ipv6_number src, ipv6_number dst,
	       const struct rule_fields *fields, uint32_t best)
{
	for (uint32_t i = 0; i < classifier->other_count; i++) {
		const struct weir_ipv6_rule *rule = &classifier->others[i];
		struct rule_record record;

		if (classifier->other_indexes[i] >= best)
			return best;
		record = rule_record_of(&rule->rest, 0);
		if (has(&rule->src, src) && has(&rule->dst, dst) &&
		    rule_record_matches(&record, fields))
			return classifier->other_indexes[i];
	}
	return best;
}

void
weir_ipv6_classifier_classify(const struct weir_ipv6_classifier *classifier,
			      const struct weir_ipv6_tuple *tuples, uint32_t *rule,
			      unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		const struct rule_fields fields = rule_fields_of(&tuples[i].rest);
		ipv6_number src = ipv6_number_of(tuples[i].src_ip);
		ipv6_number dst = ipv6_number_of(tuples[i].dst_ip);

		rule[i] = find_in_tables(classifier, src, dst, &fields);
		rule[i] = find_in_others(classifier, src, dst, &fields, rule[i]);
	}
}
