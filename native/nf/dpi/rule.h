/* SPDX-License-Identifier: Apache-2.0 */
/* One rule of dpi, read from its line. */
#ifndef WEIR_NF_DPI_RULE_H
#define WEIR_NF_DPI_RULE_H

#include <stdbool.h>
#include <stdint.h>

#include "toolkit/rule_text.h"

enum dpi_action { DPI_PERMIT, DPI_DROP, DPI_LABEL };
enum dpi_kind { DPI_KIND_FLOW, DPI_KIND_CONTENT, DPI_KIND_APPLICATION };

/* `print` is a hash of the kind, the action and all that it asks for: it tells a rule of the same
 * number that says something else. */
struct dpi_rule {
	uint32_t id;
	uint32_t print;
	uint32_t line;
	uint8_t action; /* enum dpi_action */
	uint8_t kind;	/* enum dpi_kind */
};

/* A rule with what it asks for; pointers into its line. */
struct dpi_rule_text {
	struct dpi_rule rule;
	struct weir_rule flow;	 /* DPI_KIND_FLOW */
	const char *expression;	 /* DPI_KIND_CONTENT */
	unsigned int flags;	 /* its HS_FLAG_… */
	const char *application; /* DPI_KIND_APPLICATION: a name of nDPI's */
};

/*
 * Reads one line, changing it:
 *   ID ACTION /EXPRESSION/FLAGS
 *   ID ACTION application NAME
 *   ID ACTION flow PROTOCOL SOURCE DESTINATION [SOURCE-PORTS DESTINATION-PORTS]
 * ACTION is permit, drop or label; FLAGS any of i, s, m. False: `fault` says why.
 */
bool dpi_rule_read(char *line, struct dpi_rule_text *text, struct weir_rule_fault *fault);

#endif
