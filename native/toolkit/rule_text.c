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
read_protocol(struct weir_rule_fault *fault, const char *word, struct weir_written_rule *rule)
{
	static const struct {
		const char *name;
		uint8_t number;
	} known[] = {{"tcp", IPPROTO_TCP},
		     {"udp", IPPROTO_UDP},
		     {"icmp", IPPROTO_ICMP},
		     {"icmpv6", IPPROTO_ICMPV6}};
	unsigned long number;

	rule->ipv4.any_protocol = strcmp(word, "any") == 0;
	if (rule->ipv4.any_protocol)
		return true;
	for (unsigned int i = 0; i < RTE_DIM(known); i++) {
		if (strcmp(word, known[i].name) == 0) {
			rule->ipv4.protocol = known[i].number;
			rule->is_ipv4 = known[i].number != IPPROTO_ICMPV6;
			rule->is_ipv6 = known[i].number != IPPROTO_ICMP;
			return true;
		}
	}
	if (!weir_rule_read_number(word, word + strlen(word), UINT8_MAX, &number))
		return refuse_word(fault, "a protocol", word,
				   "any, tcp, udp, icmp, icmpv6 or a number up to 255");
	rule->ipv4.protocol = (uint8_t)number;
	return true;
}

/* An address or a prefix of either family, without host bits. */
struct prefix {
	bool is_ipv6;
	uint8_t address[16];
	unsigned long length;
};

static bool
has_host_bits(const struct prefix *prefix)
{
	unsigned int bytes = prefix->is_ipv6 ? 16 : 4;

	for (unsigned int i = 0; i < bytes; i++) {
		unsigned long kept = prefix->length > 8UL * i ? prefix->length - 8UL * i : 0;

		if (kept < 8 && (prefix->address[i] & (0xff >> kept)) != 0)
			return true;
	}
	return false;
}

static bool
read_prefix(struct weir_rule_fault *fault, const char *word, struct prefix *prefix)
{
	static const char expected[] =
		"any, an address, or a prefix such as 192.0.2.0/24 or 2001:db8::/32";
	const char *slash = strchr(word, '/');
	char address[INET6_ADDRSTRLEN];
	size_t bytes = slash != NULL ? (size_t)(slash - word) : strlen(word);
	unsigned long length_max;

	memset(prefix, 0, sizeof(*prefix));
	if (bytes >= sizeof(address))
		return refuse_word(fault, "an address", word, expected);
	memcpy(address, word, bytes);
	address[bytes] = '\0';
	prefix->is_ipv6 = strchr(address, ':') != NULL;
	length_max = prefix->length = prefix->is_ipv6 ? 128 : 32;
	if ((slash != NULL &&
	     !weir_rule_read_number(slash + 1, word + strlen(word), length_max, &prefix->length)) ||
	    inet_pton(prefix->is_ipv6 ? AF_INET6 : AF_INET, address, prefix->address) != 1)
		return refuse_word(fault, "an address", word, expected);
	if (has_host_bits(prefix))
		return refuse_word(fault, "a prefix: it has host bits", word,
				   "an address whose bits behind the prefix are 0");
	return true;
}

/* One side's. What is not named stays 0: any address. */
static bool
read_side(struct weir_rule_fault *fault, const char *word, struct weir_written_rule *rule,
	  uint32_t *ip, uint32_t *mask, struct weir_ipv6_prefix *ipv6)
{
	struct prefix prefix;

	if (strcmp(word, "any") == 0)
		return true;
	if (!read_prefix(fault, word, &prefix))
		return false;
	if (!(prefix.is_ipv6 ? rule->is_ipv6 : rule->is_ipv4))
		return refuse_word(fault, "of the family of the words before it", word,
				   "both addresses, and icmp or icmpv6, of one family");
	rule->is_ipv4 = !prefix.is_ipv6;
	rule->is_ipv6 = prefix.is_ipv6;
	if (prefix.is_ipv6) {
		memcpy(ipv6->address, prefix.address, sizeof(ipv6->address));
		ipv6->length = (uint8_t)prefix.length;
	} else {
		memcpy(ip, prefix.address, sizeof(*ip));
		*mask = prefix.length == 0 ? 0 : htonl(UINT32_MAX << (32 - prefix.length));
	}
	return true;
}

/* A number, or two with a hyphen. */
static bool
read_range(const char *word, unsigned long max, uint16_t *low, uint16_t *high)
{
	const char *hyphen = strchr(word, '-');
	const char *end = word + strlen(word);
	unsigned long first, last;

	if (!weir_rule_read_number(word, hyphen != NULL ? hyphen : end, max, &first))
		return false;
	last = first;
	if (hyphen != NULL && !weir_rule_read_number(hyphen + 1, end, max, &last))
		return false;
	*low = (uint16_t)first;
	*high = (uint16_t)last;
	return true;
}

static bool
read_ports(struct weir_rule_fault *fault, const char *word, uint16_t *low, uint16_t *high)
{
	static const char expected[] = "any, a port up to 65535, or a range such as 1024-65535";

	*low = 0;
	*high = UINT16_MAX;
	if (strcmp(word, "any") == 0)
		return true;
	if (!read_range(word, UINT16_MAX, low, high))
		return refuse_word(fault, strchr(word, '-') != NULL ? "a range of ports" : "a port",
				   word, expected);
	if (*high < *low)
		return refuse_word(fault, "a range of ports", word, "the lower port first");
	return true;
}

/* As nftables calls them. */
static const struct {
	const char *name;
	uint8_t protocol, type;
} type_names[] = {
	{"echo-reply", IPPROTO_ICMP, 0},
	{"destination-unreachable", IPPROTO_ICMP, 3},
	{"source-quench", IPPROTO_ICMP, 4},
	{"redirect", IPPROTO_ICMP, 5},
	{"echo-request", IPPROTO_ICMP, 8},
	{"router-advertisement", IPPROTO_ICMP, 9},
	{"router-solicitation", IPPROTO_ICMP, 10},
	{"time-exceeded", IPPROTO_ICMP, 11},
	{"parameter-problem", IPPROTO_ICMP, 12},
	{"destination-unreachable", IPPROTO_ICMPV6, 1},
	{"packet-too-big", IPPROTO_ICMPV6, 2},
	{"time-exceeded", IPPROTO_ICMPV6, 3},
	{"parameter-problem", IPPROTO_ICMPV6, 4},
	{"echo-request", IPPROTO_ICMPV6, 128},
	{"echo-reply", IPPROTO_ICMPV6, 129},
	{"nd-router-solicit", IPPROTO_ICMPV6, 133},
	{"nd-router-advert", IPPROTO_ICMPV6, 134},
	{"nd-neighbor-solicit", IPPROTO_ICMPV6, 135},
	{"nd-neighbor-advert", IPPROTO_ICMPV6, 136},
	{"nd-redirect", IPPROTO_ICMPV6, 137},
};

static bool
read_types(struct weir_rule_fault *fault, const char *word, struct weir_written_rule *written)
{
	struct weir_rule *rule = &written->ipv4;
	static const char expected[] =
		"a type of message up to 255, a range such as 133-137, or a name such as "
		"echo-request";

	if (rule->any_protocol || !weir_protocol_is_icmp(rule->protocol))
		return refuse(fault, "icmp or icmpv6, or two words for ports",
			      "only icmp and icmpv6 have types of messages");
	written->is_ipv4 &= rule->protocol == IPPROTO_ICMP;
	written->is_ipv6 &= rule->protocol == IPPROTO_ICMPV6;
	if (!written->is_ipv4 && !written->is_ipv6)
		return refuse(fault, "icmp of IPv4 or icmpv6 of IPv6",
			      "the types are of the other family's ICMP");
	for (unsigned int i = 0; i < RTE_DIM(type_names); i++) {
		if (type_names[i].protocol == rule->protocol &&
		    strcmp(type_names[i].name, word) == 0) {
			rule->dst_port_low = rule->dst_port_high = type_names[i].type;
			return true;
		}
	}
	if (!read_range(word, UINT8_MAX, &rule->dst_port_low, &rule->dst_port_high) ||
	    rule->dst_port_high < rule->dst_port_low)
		return refuse_word(fault, "a type", word, expected);
	return true;
}

/* The last words: none, types, or both sides' ports. */
static bool
read_last(struct weir_rule_fault *fault, const char *const words[], unsigned int count,
	  struct weir_written_rule *written)
{
	struct weir_rule *rule = &written->ipv4;

	if (count == 1)
		return read_types(fault, words[0], written);
	if (count == 2 &&
	    (!read_ports(fault, words[0], &rule->src_port_low, &rule->src_port_high) ||
	     !read_ports(fault, words[1], &rule->dst_port_low, &rule->dst_port_high)))
		return false;
	if (weir_rule_names_ports(rule) && !rule->any_protocol && rule->protocol != IPPROTO_TCP &&
	    rule->protocol != IPPROTO_UDP)
		return refuse(fault, "tcp, udp or any", "only tcp and udp have ports");
	return true;
}

bool
weir_rule_read(const char *const words[], unsigned int count, struct weir_written_rule *rule,
	       struct weir_rule_fault *fault)
{
	struct weir_rule *ipv4 = &rule->ipv4;
	struct weir_ipv6_rule *ipv6 = &rule->ipv6;

	memset(rule, 0, sizeof(*rule));
	rule->is_ipv4 = rule->is_ipv6 = true;
	ipv4->src_port_high = ipv4->dst_port_high = UINT16_MAX;
	if (count < 3 || count > 5)
		return refuse(
			fault,
			"PROTOCOL SOURCE DESTINATION [SOURCE-PORTS DESTINATION-PORTS | TYPES]",
			"a rule has a protocol and two addresses, and perhaps two ports, or "
			"types of ICMP");
	if (!read_protocol(fault, words[0], rule) ||
	    !read_side(fault, words[1], rule, &ipv4->src_ip, &ipv4->src_mask, &ipv6->src) ||
	    !read_side(fault, words[2], rule, &ipv4->dst_ip, &ipv4->dst_mask, &ipv6->dst) ||
	    !read_last(fault, words + 3, count - 3, rule))
		return false;
	ipv6->rest = *ipv4;
	ipv6->rest.src_ip = ipv6->rest.src_mask = ipv6->rest.dst_ip = ipv6->rest.dst_mask = 0;
	return true;
}
