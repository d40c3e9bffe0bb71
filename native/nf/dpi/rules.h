/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of dpi, compiled: made once from a file and then only read, by any number of workers.
 */
#ifndef WEIR_NF_DPI_RULES_H
#define WEIR_NF_DPI_RULES_H

#include <hs.h>
#include <ndpi_api.h>

#include "rule.h"

#define DPI_RULE_NONE UINT32_MAX

/* A rule's index is its place in the file: of two that match, the earlier one takes precedence. */
struct dpi_rules {
	uint32_t count;
	struct dpi_rule *rules;
	uint32_t *by_id; /* indices, by ascending id */
	/* NULL without rules of that kind. */
	struct weir_classifier *classifier;
	uint32_t *flow_rules;	/* of the classifier → index */
	hs_database_t *content; /* streaming; its identifiers are indices */
	/* Application of nDPI → index of the first rule that names it, or DPI_RULE_NONE. */
	uint32_t applications[NDPI_MAX_SUPPORTED_PROTOCOLS];
	/* Those in use, for others that have the same text. */
	struct dpi_rules *next;
	unsigned int users;
	char *text;
};

/*
 * Rules from the file, compiled, or those compiled before from the same text. Takes seconds for
 * tens of thousands of expressions. `ndpi` knows the names of applications. An empty `path` is no
 * rules. NULL with `error`. Control thread only.
 */
struct dpi_rules *dpi_rules_load(const char *path, struct ndpi_detection_module_struct *ndpi,
				 const char *where, struct weir_error *error);
void dpi_rules_release(struct dpi_rules *rules);

/* The rule of that number if it still says the same; else DPI_RULE_NONE. */
uint32_t dpi_rules_find(const struct dpi_rules *rules, uint32_t id, uint32_t print);

/* The first L3/L4 rule that each flow, seen from the inside, matches, or DPI_RULE_NONE. */
void dpi_rules_classify(const struct dpi_rules *rules, const struct weir_tuple *tuples,
			uint32_t *found, unsigned int count);

#endif
