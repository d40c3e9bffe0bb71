/* SPDX-License-Identifier: Apache-2.0 */
/* Rules in an array, changed and asked the slow, obvious way: what rule_change.h is compared with.
 */
#ifndef WEIR_TESTING_RULE_MODEL_H
#define WEIR_TESTING_RULE_MODEL_H

#include "toolkit/rule_set.h"

struct weir_model_rule {
	struct weir_written_rule rule;
	bool permits;
};

struct weir_rule_model {
	uint32_t count, room;
	struct weir_model_rule *rules;
	bool default_permits;
};

/* Does what the lines say, all or nothing. False: one of them cannot be done. With 0 rules at first
 * "add RULE" lines make a file's rules. */
bool weir_rule_model_change(struct weir_rule_model *model, const char *text, size_t bytes);
void weir_rule_model_free(struct weir_rule_model *model);

bool weir_rule_model_permits(const struct weir_rule_model *model, const struct weir_tuple *tuple);
bool weir_rule_model_permits_ipv6(const struct weir_rule_model *model,
				  const struct weir_ipv6_tuple *tuple);
bool weir_rule_model_names_ports(const struct weir_rule_model *model);

/* Packets in rules of the model, near them and anywhere. */
struct weir_tuple weir_rule_model_tuple(const struct weir_rule_model *model, uint64_t *random);
struct weir_ipv6_tuple weir_rule_model_ipv6_tuple(const struct weir_rule_model *model,
						  uint64_t *random);

#endif
