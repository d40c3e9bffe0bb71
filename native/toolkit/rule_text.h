/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Five-tuple rules as people write them: PROTOCOL SOURCE DESTINATION [SOURCE-PORTS
 * DESTINATION-PORTS | TYPES].
 *
 * PROTOCOL: any, tcp, udp, icmp (of IPv4), icmpv6 (of IPv6) or a number. SOURCE, DESTINATION: any,
 * an address of IPv4 or IPv6, or a prefix without host bits. Ports: any, a number, or two with a
 * hyphen; with tcp, udp or any. A rule that names ports matches TCP and UDP packets alone. Types of
 * messages: a number, two with a hyphen, or a name as nftables has it; with icmp and icmpv6. A rule
 * whose addresses are both `any` is for both families.
 */
#ifndef WEIR_TOOLKIT_RULE_TEXT_H
#define WEIR_TOOLKIT_RULE_TEXT_H

#include "ipv6_classifier.h"

/* What is wrong with a rule, and what was expected in its place. */
struct weir_rule_fault {
	char text[128];
	const char *expected;
};

/* A whole number up to `max` that ends at `end`. */
bool weir_rule_read_number(const char *text, const char *end, unsigned long max,
			   unsigned long *number);

/* What was read: a rule of each family that it is for. */
struct weir_written_rule {
	bool is_ipv4, is_ipv6;
	struct weir_rule ipv4;
	struct weir_ipv6_rule ipv6;
};

/* Or types of ICMP. */
static inline bool
weir_written_rule_names_ports(const struct weir_written_rule *rule)
{
	return (rule->is_ipv4 && weir_rule_names_ports(&rule->ipv4)) ||
	       (rule->is_ipv6 && weir_rule_names_ports(&rule->ipv6.rest));
}

/* Reads those words into `rule`, all of whose bytes are written. False: `fault` says why. */
bool weir_rule_read(const char *const words[], unsigned int count, struct weir_written_rule *rule,
		    struct weir_rule_fault *fault);

#endif
