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

#include "rule_set_parts.h"

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

/* Rule by rule: a set without rules, with room for so many; a rule behind all others; and, before
 * it is asked, all built. NULL: no memory. -1 with `error`: too many rules, or no memory. */
struct weir_rule_set *weir_rule_set_create(size_t room, bool default_permits);
void weir_rule_set_add(struct weir_rule_set *set, const struct weir_written_rule *rule,
		       bool permits);
int weir_rule_set_build(struct weir_rule_set *set, const char *where, struct weir_error *error);

/* Of a set that is built and of which nothing was changed yet: looks the rules of IPv4 through one
 * by one from now on (classifier.h); rules that are added later have an index of their own. -1 with
 * `error`: no memory. */
int weir_rule_set_one_by_one(struct weir_rule_set *set, const char *where,
			     struct weir_error *error);

/* The same of IPv6 alone. */
int weir_ipv6_part_create(struct weir_ipv6_part *part, size_t room);
void weir_ipv6_part_add(struct weir_ipv6_part *part, const struct weir_ipv6_rule *rule,
			bool permits);
int weir_ipv6_part_build(struct weir_ipv6_part *part, const char *where, struct weir_error *error);
void weir_ipv6_part_free(struct weir_ipv6_part *part);

/* Whether each tuple (see weir_classifier_packet_tuple()) is permitted; `count` at most
 * WEIR_CLASSIFIER_BULK. */
void weir_rule_set_permits(const struct weir_rule_set *set, const struct weir_tuple *tuples,
			   bool *permits, unsigned int count);
bool weir_rule_set_permits_ipv6(const struct weir_rule_set *set,
				const struct weir_ipv6_tuple *tuple);

#endif
