/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The classifier for IPv6: which of many ordered rules is the first that a packet matches. Tuple
 * space and pruning as for IPv4 (classifier.h); a binary search among the bounds of all prefixes
 * says which tables can have a rule for an address, and what is left to ask (ports, protocol,
 * types) are the lists and trees of IPv4. Built once and then only read.
 */
#ifndef WEIR_TOOLKIT_IPV6_CLASSIFIER_H
#define WEIR_TOOLKIT_IPV6_CLASSIFIER_H

#include "classifier.h"

/* Without host bits. */
struct weir_ipv6_prefix {
	uint8_t address[16];
	uint8_t length;
};

/* Addresses of `rest` are 0, and its masks. */
struct weir_ipv6_rule {
	struct weir_ipv6_prefix src, dst;
	struct weir_rule rest;
};

/* As the classifier wants it: addresses of `rest` are 0. */
struct weir_ipv6_tuple {
	uint8_t src_ip[16], dst_ip[16];
	struct weir_tuple rest;
};

/* A packet's, as weir_classifier_packet_tuple() makes it of IPv4. */
struct weir_ipv6_tuple weir_ipv6_packet_tuple(const struct rte_mbuf *packet,
					      const struct weir_headers *headers);

struct weir_ipv6_classifier;

/*
 * Rule n of `rules` goes before rule n + 1. NULL with `error` filled: too many rules, or no memory.
 * With more than 255 pairs of prefix lengths, the rules of rare ones are looked through one by one.
 */
struct weir_ipv6_classifier *weir_ipv6_classifier_build(const struct weir_ipv6_rule *rules,
							uint32_t count, const char *where,
							struct weir_error *error);
void weir_ipv6_classifier_free(struct weir_ipv6_classifier *classifier);

/* The index of the first rule that each tuple matches, or WEIR_RULE_NONE. Any number of threads at
 * a time. */
void weir_ipv6_classifier_classify(const struct weir_ipv6_classifier *classifier,
				   const struct weir_ipv6_tuple *tuples, uint32_t *rule,
				   unsigned int count);

#endif
