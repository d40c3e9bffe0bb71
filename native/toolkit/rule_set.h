/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ordered permit and deny rules as people write them, ready to decide. One rule a line, the first
 * that a packet matches decides; what follows # is a comment:
 *
 *   permit|deny PROTOCOL SOURCE DESTINATION [SOURCE-PORTS DESTINATION-PORTS]   (rule_text.h)
 *
 *   permit tcp 10.0.0.0/8 any 1024-65535 80
 *   permit udp any 192.0.2.53 any 53
 *   permit icmp any 192.0.2.0/24
 *   deny any 198.51.100.0/24 any
 */
#ifndef WEIR_TOOLKIT_RULE_SET_H
#define WEIR_TOOLKIT_RULE_SET_H

#include "classifier.h"

struct weir_rule_set {
	uint32_t count;
	struct weir_rule *rules;
	bool *permits; /* of each rule */
	bool default_permits;
	struct weir_classifier *classifier;
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

/* Whether each tuple (see weir_classifier_tuple()) is permitted; `count` at most
 * WEIR_CLASSIFIER_BULK. */
void weir_rule_set_permits(const struct weir_rule_set *set, const struct weir_tuple *tuples,
			   bool *permits, unsigned int count);

#endif
