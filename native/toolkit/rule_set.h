/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ordered permit and deny rules as people write them, ready to decide. One rule a line, the first
 * that a packet matches decides; what follows # is a comment:
 *
 *   permit|deny PROTOCOL SOURCE DESTINATION [SOURCE-PORTS DESTINATION-PORTS | TYPES] (rule_text.h)
 *
 *   permit tcp 10.0.0.0/8 any 1024-65535 80
 *   permit udp any 192.0.2.53 any 53
 *   permit icmp any 192.0.2.0/24
 *   permit icmpv6 any any packet-too-big
 *   deny any 198.51.100.0/24 any
 *   permit tcp any 2001:db8:1::/48 any 443
 */
#ifndef WEIR_TOOLKIT_RULE_SET_H
#define WEIR_TOOLKIT_RULE_SET_H

#include "ipv6_classifier.h"

struct weir_rule_set {
	uint32_t count; /* of rules as they are written */
	bool default_permits;
	bool names_ports; /* or types of ICMP: a later fragment alone does not decide */
	/* Of each family, in the order in which they are written, and what each says. */
	uint32_t ipv4_count, ipv6_count;
	struct weir_rule *ipv4_rules;
	struct weir_ipv6_rule *ipv6_rules;
	bool *ipv4_permits, *ipv6_permits;
	struct weir_classifier *ipv4;
	struct weir_ipv6_classifier *ipv6;
};

/*
 * The rules of a file, or of `text`, which messages call `name`; packets that match none are
 * permitted or not as `default_permits` says. NULL with `error`: what line it was, and what was
 * expected there.
 */
struct weir_rule_set *weir_rule_set_load(const char *path, bool default_permits, const char *where,
					 struct weir_error *error);
struct weir_rule_set *weir_rule_set_parse(const char *text, size_t bytes, const char *name,
					  bool default_permits, const char *where,
					  struct weir_error *error);
/* That of a function: of its option's file, or without rules if `path` is empty. */
struct weir_rule_set *weir_rule_set_of_option(const char *path, bool default_permits,
					      const char *where, struct weir_error *error);
void weir_rule_set_free(struct weir_rule_set *set);

/* Whether each tuple (see weir_classifier_packet_tuple()) is permitted; `count` at most
 * WEIR_CLASSIFIER_BULK. */
void weir_rule_set_permits(const struct weir_rule_set *set, const struct weir_tuple *tuples,
			   bool *permits, unsigned int count);
bool weir_rule_set_permits_ipv6(const struct weir_rule_set *set,
				const struct weir_ipv6_tuple *tuple);

#endif
