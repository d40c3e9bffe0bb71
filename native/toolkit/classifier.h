/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which of many ordered five-tuple rules is the first that a packet matches: tuple space search
 * with pruning (Srinivasan, Suri, Varghese: Packet Classification using Tuple Space Search,
 * SIGCOMM 1999) and small decision trees where one tuple has many rules under one key. It is built
 * once and then only read, but for rules that are struck out; native/nf/firewall/firewall.md says
 * why so, with measurements.
 */
#ifndef WEIR_TOOLKIT_CLASSIFIER_H
#define WEIR_TOOLKIT_CLASSIFIER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <netinet/in.h>

#include <rte_byteorder.h>
#include <rte_mbuf.h>

#include "engine/error.h"
#include "packet/headers.h"

#define WEIR_CLASSIFIER_BULK 32
#define WEIR_CLASSIFIER_RULES_MAX (1U << 20)
#define WEIR_RULE_NONE UINT32_MAX

/*
 * A packet matches if all five say so. Addresses and masks in network byte order, masks of
 * contiguous bits, addresses without host bits; ports in host byte order, both ends included. A
 * rule names ports if one of its ranges is not 0 to 65535; one of ICMP or ICMPv6 names types of
 * messages then, as its destination's ports.
 */
struct weir_rule {
	uint32_t src_ip, src_mask;
	uint32_t dst_ip, dst_mask;
	uint16_t src_port_low, src_port_high;
	uint16_t dst_port_low, dst_port_high;
	uint8_t protocol;
	bool any_protocol;
};

static inline bool
weir_rule_names_ports(const struct weir_rule *rule)
{
	return rule->src_port_low != 0 || rule->src_port_high != UINT16_MAX ||
	       rule->dst_port_low != 0 || rule->dst_port_high != UINT16_MAX;
}

static inline bool
weir_protocol_is_icmp(uint8_t protocol)
{
	return protocol == IPPROTO_ICMP || protocol == IPPROTO_ICMPV6;
}

static inline bool
weir_rule_names_types(const struct weir_rule *rule)
{
	return !rule->any_protocol && weir_protocol_is_icmp(rule->protocol) &&
	       weir_rule_names_ports(rule);
}

/*
 * tuple->zero[0] of a packet without ports: neither TCP nor UDP, a later fragment, a cut header.
 * Rules that name ports do not match it; those that name types of ICMP do, by dst_port.
 */
#define WEIR_TUPLE_PORTLESS 1
#define WEIR_TUPLE_NO_TYPE UINT16_MAX /* dst_port of ICMP whose header is not there */

/* A flow's tuple as the classifier wants it; none of its packets is cut, or a later fragment. */
static inline struct weir_tuple
weir_classifier_flow_tuple(const struct weir_tuple *flow)
{
	struct weir_tuple tuple = *flow;

	memset(tuple.zero, 0, sizeof(tuple.zero));
	if (tuple.protocol != IPPROTO_TCP && tuple.protocol != IPPROTO_UDP)
		tuple.zero[0] = WEIR_TUPLE_PORTLESS;
	return tuple;
}

/* A packet's. */
static inline struct weir_tuple
weir_classifier_tuple(const struct weir_headers *headers)
{
	struct weir_tuple tuple = weir_classifier_flow_tuple(&headers->tuple);

	if (headers->l4_offset == 0)
		tuple.zero[0] = WEIR_TUPLE_PORTLESS;
	return tuple;
}

/* The same with its type, if it is ICMP or ICMPv6. */
static inline struct weir_tuple
weir_classifier_packet_tuple(const struct rte_mbuf *packet, const struct weir_headers *headers)
{
	struct weir_tuple tuple = weir_classifier_tuple(headers);

	if (weir_protocol_is_icmp(tuple.protocol)) {
		tuple.src_port = 0;
		tuple.dst_port = WEIR_TUPLE_NO_TYPE;
		if (headers->l4_offset != 0)
			tuple.dst_port = rte_cpu_to_be_16(*rte_pktmbuf_mtod_offset(
				packet, const uint8_t *, headers->l4_offset));
	}
	return tuple;
}

struct weir_classifier;

/* How rules are found. One by one: in their order until one matches, as a list without an index is
 * looked through; for measuring what the index brings. */
enum weir_rule_index { WEIR_RULES_INDEXED, WEIR_RULES_ONE_BY_ONE };

/*
 * Rule n of `rules` goes before rule n + 1. Takes a second for a hundred thousand rules; the rules
 * are copied. NULL with `error` filled: too many rules, or no memory. Ordinary memory, on huge
 * pages where the kernel has them.
 */
struct weir_classifier *weir_classifier_build(const struct weir_rule *rules, uint32_t count,
					      enum weir_rule_index index, const char *where,
					      struct weir_error *error);
void weir_classifier_free(struct weir_classifier *classifier);

/* The index of the first rule that each tuple matches, or WEIR_RULE_NONE; `count` at most
 * WEIR_CLASSIFIER_BULK. Any number of threads at a time. */
void weir_classifier_classify(const struct weir_classifier *classifier,
			      const struct weir_tuple *tuples, uint32_t *rule, unsigned int count);

/*
 * --- rules that are taken out of it --------------------------------------------------------------
 *
 * A rule stands in a classifier once or, where its key has a tree, several times. places() finds
 * where, while others look rules up; strike() makes those places never match, between two look-ups.
 */
struct weir_growing;

/* Adds the places (uint32_t each) of rule `index`, which is `rule`. False: no memory. */
bool weir_classifier_places(const struct weir_classifier *classifier, const struct weir_rule *rule,
			    uint32_t index, struct weir_growing *places);
void weir_classifier_strike(struct weir_classifier *classifier, const uint32_t *places,
			    uint32_t count);
/*
 * A tree leaves out rules behind one that matches all that they could match there. True: rule
 * `index` is such a one, so those that weir_classifier_may_be_hidden() names may be missing once it
 * is struck out.
 */
bool weir_classifier_hides(const struct weir_classifier *classifier, uint32_t index);
/* Whether rule `hider` of `rules`, of which the classifier was built, may hide rule `index`. */
bool weir_classifier_may_be_hidden(const struct weir_classifier *classifier,
				   const struct weir_rule *rules, uint32_t hider, uint32_t index);

/* What was built, for tests and benches. */
struct weir_classifier_shape {
	size_t bytes;
	uint32_t tables;  /* pairs of prefix lengths with a hash table */
	uint32_t keys;	  /* in all tables */
	uint32_t trees;	  /* keys with so many rules that they have a decision tree */
	uint32_t longest; /* rules in the longest list that is looked through one by one */
};
struct weir_classifier_shape weir_classifier_shape(const struct weir_classifier *classifier);

#endif
