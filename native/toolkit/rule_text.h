/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Five-tuple rules as people write them: PROTOCOL SOURCE DESTINATION [SOURCE-PORTS
 * DESTINATION-PORTS].
 *
 * PROTOCOL: any, tcp, udp, icmp or a number. SOURCE, DESTINATION: any, an address, or a prefix
 * without host bits. Ports: any, a number, or two with a hyphen; with tcp, udp or any. A rule that
 * names ports matches TCP and UDP packets alone.
 */
#ifndef WEIR_TOOLKIT_RULE_TEXT_H
#define WEIR_TOOLKIT_RULE_TEXT_H

#include "classifier.h"

/* What is wrong with a rule, and what was expected in its place. */
struct weir_rule_fault {
	char text[128];
	const char *expected;
};

/* A whole number up to `max` that ends at `end`. */
bool weir_rule_read_number(const char *text, const char *end, unsigned long max,
			   unsigned long *number);

/* Reads those words into `rule`, all of whose bytes are written. False: `fault` says why. */
bool weir_rule_read(const char *const words[], unsigned int count, struct weir_rule *rule,
		    struct weir_rule_fault *fault);

#endif
