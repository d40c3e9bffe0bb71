/* SPDX-License-Identifier: Apache-2.0 */
#include "ipv6_rules.h"

#include "rules.h"

static uint32_t
below(uint64_t *random, uint32_t bound)
{
	return (uint32_t)(weir_test_random(random) >> 33) % bound;
}

static void
random_address(uint8_t address[16], uint64_t *random)
{
	/* Few values a byte, so that prefixes meet. */
	for (unsigned int i = 0; i < 16; i++)
		address[i] = (uint8_t)(below(random, 3) * 0x55);
}

static bool
bit_is_host(const struct weir_ipv6_prefix *prefix, unsigned int bit)
{
	return bit >= prefix->length;
}

static struct weir_ipv6_prefix
random_prefix(uint64_t *random, unsigned int lengths)
{
	struct weir_ipv6_prefix prefix;

	prefix.length = (uint8_t)(below(random, lengths) * (lengths > 1 ? 128 / (lengths - 1) : 0));
	random_address(prefix.address, random);
	for (unsigned int bit = 0; bit < 128; bit++) {
		if (bit_is_host(&prefix, bit))
			prefix.address[bit / 8] &= (uint8_t) ~(0x80 >> bit % 8);
	}
	return prefix;
}

struct weir_ipv6_rule
weir_test_ipv6_rule(uint64_t *random, unsigned int lengths)
{
	static const uint8_t protocols[] = {IPPROTO_TCP, IPPROTO_UDP, IPPROTO_ICMPV6, 47};
	struct weir_ipv6_rule rule = {
		.src = random_prefix(random, lengths),
		.dst = random_prefix(random, lengths),
		.rest = {.src_port_high = UINT16_MAX,
			 .dst_port_high = UINT16_MAX,
			 .protocol = protocols[below(random, 4)],
			 .any_protocol = below(random, 4) == 0},
	};

	if (rule.rest.any_protocol)
		rule.rest.protocol = 0;
	if (rule.rest.protocol != 47 && below(random, 2) == 0) {
		uint16_t types = rule.rest.protocol == IPPROTO_ICMPV6 ? 256 : UINT16_MAX;

		rule.rest.dst_port_low = (uint16_t)below(random, types);
		rule.rest.dst_port_high = (uint16_t)(rule.rest.dst_port_low +
						     below(random, types - rule.rest.dst_port_low));
	}
	return rule;
}

static void
address_in(uint8_t address[16], const struct weir_ipv6_prefix *prefix, uint64_t *random)
{
	random_address(address, random);
	for (unsigned int bit = 0; bit < 128; bit++) {
		uint8_t mask = (uint8_t)(0x80 >> bit % 8);

		if (!bit_is_host(prefix, bit))
			address[bit / 8] =
				(address[bit / 8] & ~mask) | (prefix->address[bit / 8] & mask);
	}
}

struct weir_ipv6_tuple
weir_test_ipv6_tuple_near(const struct weir_ipv6_rule *rules, uint32_t count, uint64_t *random)
{
	static const struct weir_ipv6_rule everything = {.rest = {.src_port_high = UINT16_MAX,
								  .dst_port_high = UINT16_MAX,
								  .protocol = IPPROTO_UDP}};
	const struct weir_ipv6_rule *rule =
		count > 0 && below(random, 8) != 0 ? &rules[below(random, count)] : &everything;
	struct weir_ipv6_tuple tuple = {.rest = weir_test_tuple_in(&rule->rest, random)};

	tuple.rest.src_ip = tuple.rest.dst_ip = 0;
	address_in(tuple.src_ip, &rule->src, random);
	address_in(tuple.dst_ip, &rule->dst, random);
	switch (below(random, 6)) {
	case 0:
		tuple.src_ip[below(random, 16)] ^= (uint8_t)(1 << below(random, 8));
		break;
	case 1:
		tuple.dst_ip[below(random, 16)] ^= (uint8_t)(1 << below(random, 8));
		break;
	default:
		break;
	}
	return tuple;
}

static bool
is_in(const struct weir_ipv6_prefix *prefix, const uint8_t address[16])
{
	for (unsigned int bit = 0; bit < prefix->length; bit++) {
		if (((prefix->address[bit / 8] ^ address[bit / 8]) & 0x80 >> bit % 8) != 0)
			return false;
	}
	return true;
}

uint32_t
weir_test_first_ipv6_rule(const struct weir_ipv6_rule *rules, uint32_t count,
			  const struct weir_ipv6_tuple *tuple)
{
	for (uint32_t i = 0; i < count; i++) {
		if (is_in(&rules[i].src, tuple->src_ip) && is_in(&rules[i].dst, tuple->dst_ip) &&
		    weir_test_first_rule(&rules[i].rest, 1, &tuple->rest) == 0)
			return i;
	}
	return WEIR_RULE_NONE;
}
