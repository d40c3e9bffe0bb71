/* SPDX-License-Identifier: Apache-2.0 */
#include "rule_text.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

static bool
refuse(struct weir_rule_fault *fault, const char *expected, const char *text)
{
	snprintf(fault->text, sizeof(fault->text), "%s", text);
	fault->expected = expected;
	return false;
}

static bool
refuse_word(struct weir_rule_fault *fault, const char *what, const char *word, const char *expected)
{
	snprintf(fault->text, sizeof(fault->text), "'%s' is not %s", word, what);
	fault->expected = expected;
	return false;
}

bool
weir_rule_read_number(const char *text, const char *end, unsigned long max, unsigned long *number)
{
	char *stop;

	if (text[0] < '0' || text[0] > '9')
		return false;
	errno = 0;
	*number = strtoul(text, &stop, 10);
	return errno == 0 && stop == end && *number <= max;
}

static bool
read_protocol(struct weir_rule_fault *fault, const char *word, struct weir_rule *rule)
{
	static const struct {
		const char *name;
		uint8_t number;
	} known[] = {{"tcp", IPPROTO_TCP}, {"udp", IPPROTO_UDP}, {"icmp", IPPROTO_ICMP}};
	unsigned long number;

	rule->any_protocol = strcmp(word, "any") == 0;
	if (rule->any_protocol)
		return true;
	for (unsigned int i = 0; i < RTE_DIM(known); i++) {
		if (strcmp(word, known[i].name) == 0) {
			rule->protocol = known[i].number;
			return true;
		}
	}
	if (!weir_rule_read_number(word, word + strlen(word), UINT8_MAX, &number))
		return refuse_word(fault, "a protocol", word,
				   "any, tcp, udp, icmp or a number up to 255");
	rule->protocol = (uint8_t)number;
	return true;
}

static bool
read_prefix(struct weir_rule_fault *fault, const char *word, uint32_t *ip, uint32_t *mask)
{
	static const char expected[] = "any, an address, or a prefix such as 192.0.2.0/24";
	const char *slash = strchr(word, '/');
	char address[INET_ADDRSTRLEN];
	unsigned long length = 32;
	size_t bytes = slash != NULL ? (size_t)(slash - word) : strlen(word);

	*ip = *mask = 0;
	if (strcmp(word, "any") == 0)
		return true;
	if (bytes >= sizeof(address) ||
	    (slash != NULL && !weir_rule_read_number(slash + 1, word + strlen(word), 32, &length)))
		return refuse_word(fault, "an address", word, expected);
	memcpy(address, word, bytes);
	address[bytes] = '\0';
	if (inet_pton(AF_INET, address, ip) != 1)
		return refuse_word(fault, "an address", word, expected);
	*mask = length == 0 ? 0 : htonl(UINT32_MAX << (32 - length));
	if ((*ip & ~*mask) != 0)
		return refuse_word(fault, "a prefix: it has host bits", word,
				   "an address whose bits behind the prefix are 0");
	return true;
}

static bool
read_ports(struct weir_rule_fault *fault, const char *word, uint16_t *low, uint16_t *high)
{
	static const char expected[] = "any, a port up to 65535, or a range such as 1024-65535";
	const char *hyphen = strchr(word, '-');
	const char *end = word + strlen(word);
	unsigned long first = 0, last = UINT16_MAX;

	if (strcmp(word, "any") != 0) {
		if (!weir_rule_read_number(word, hyphen != NULL ? hyphen : end, UINT16_MAX, &first))
			return refuse_word(fault, "a port", word, expected);
		last = first;
		if (hyphen != NULL && !weir_rule_read_number(hyphen + 1, end, UINT16_MAX, &last))
			return refuse_word(fault, "a range of ports", word, expected);
		if (last < first)
			return refuse_word(fault, "a range of ports", word, "the lower port first");
	}
	*low = (uint16_t)first;
	*high = (uint16_t)last;
	return true;
}

bool
weir_rule_read(const char *const words[], unsigned int count, struct weir_rule *rule,
	       struct weir_rule_fault *fault)
{
	memset(rule, 0, sizeof(*rule));
	rule->src_port_high = rule->dst_port_high = UINT16_MAX;
	if (count != 3 && count != 5)
		return refuse(fault, "PROTOCOL SOURCE DESTINATION [SOURCE-PORTS DESTINATION-PORTS]",
			      "a rule has a protocol and two addresses, or two ports as well");
	if (!read_protocol(fault, words[0], rule) ||
	    !read_prefix(fault, words[1], &rule->src_ip, &rule->src_mask) ||
	    !read_prefix(fault, words[2], &rule->dst_ip, &rule->dst_mask))
		return false;
	if (count == 5 &&
	    (!read_ports(fault, words[3], &rule->src_port_low, &rule->src_port_high) ||
	     !read_ports(fault, words[4], &rule->dst_port_low, &rule->dst_port_high)))
		return false;
	if (weir_rule_names_ports(rule) && !rule->any_protocol && rule->protocol != IPPROTO_TCP &&
	    rule->protocol != IPPROTO_UDP)
		return refuse(fault, "tcp, udp or any", "only tcp and udp have ports");
	return true;
}
