/* SPDX-License-Identifier: Apache-2.0 */
#include "rules.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_common.h>

const char *const weir_test_rules_names[] = {"acl", "fw", "ipc", "uniform"};

/* Of a hundred: how many rules have a prefix of `low` to `high` bits. */
struct share {
	unsigned int percent;
	unsigned int low, high;
};
#define SHARES_MAX 7

enum ports { PORTS_ANY, PORTS_HIGH, PORTS_LOW, PORTS_ONE, PORTS_RANGE, PORT_KINDS };

struct make_up {
	struct share src[SHARES_MAX], dst[SHARES_MAX];
	unsigned int src_ports[PORT_KINDS], dst_ports[PORT_KINDS]; /* percent each */
	unsigned int tcp, udp, icmp, any;			   /* percent */
};

static const struct make_up make_ups[] =
	{
		[WEIR_TEST_ACL] =
			{
				.src = {{5, 0, 0},
					{10, 8, 16},
					{20, 17, 23},
					{25, 24, 24},
					{10, 25, 31},
					{30, 32, 32}},
				.dst = {{2, 0, 0},
					{3, 16, 20},
					{5, 21, 23},
					{20, 24, 24},
					{20, 25, 31},
					{50, 32, 32}},
				.src_ports = {99, 1, 0, 0, 0},
				.dst_ports = {25, 6, 1, 58, 10},
				.tcp = 75,
				.udp = 12,
				.icmp = 3,
				.any = 10,
			},
		[WEIR_TEST_FW] =
			{
				.src = {{35, 0, 0},
					{5, 8, 15},
					{10, 16, 23},
					{15, 24, 24},
					{10, 25, 31},
					{25, 32, 32}},
				.dst = {{15, 0, 0},
					{5, 8, 15},
					{10, 16, 23},
					{15, 24, 24},
					{10, 25, 31},
					{45, 32, 32}},
				.src_ports = {70, 18, 2, 8, 2},
				.dst_ports = {25, 14, 3, 45, 13},
				.tcp = 60,
				.udp = 25,
				.icmp = 5,
				.any = 10,
			},
		[WEIR_TEST_IPC] =
			{
				.src = {{8, 0, 0},
					{7, 8, 16},
					{15, 17, 23},
					{15, 24, 24},
					{5, 25, 31},
					{50, 32, 32}},
				.dst = {{7, 0, 0},
					{8, 8, 16},
					{15, 17, 23},
					{15, 24, 24},
					{5, 25, 31},
					{50, 32, 32}},
				.src_ports = {62, 8, 2, 23, 5},
				.dst_ports = {45, 8, 2, 37, 8},
				.tcp = 55,
				.udp = 30,
				.icmp = 5,
				.any = 10,
			},
		[WEIR_TEST_UNIFORM] =
			{
				.src = {{100, 8, 32}},
				.dst = {{100, 8, 32}},
				.src_ports = {20, 20, 20, 20, 20},
				.dst_ports = {20, 20, 20, 20, 20},
				.tcp = 40,
				.udp = 40,
				.icmp = 10,
				.any = 10,
			},
};

static uint32_t
below(uint64_t *random, uint32_t bound)
{
	return (uint32_t)((weir_test_random(random) >> 32) * bound >> 32);
}

/* Small numbers are frequent: the square of an even draw. */
static uint32_t
skewed_below(uint64_t *random, uint32_t bound)
{
	uint64_t draw = below(random, 65536);

	return (uint32_t)((draw * draw >> 16) * bound >> 16);
}

static unsigned int
draw_length(const struct share *shares, uint64_t *random)
{
	unsigned int left = below(random, 100);

	while (left >= shares->percent) {
		left -= shares->percent;
		shares++;
	}
	return shares->low + below(random, shares->high - shares->low + 1);
}

/* Addresses crowd: 64 networks of 16 bits, in each 64 subnets, hosts evenly. */
static void
draw_prefix(const struct share *shares, bool evenly, uint64_t *random, uint32_t *ip, uint32_t *mask)
{
	unsigned int length = draw_length(shares, random);
	uint32_t network = skewed_below(random, 64);
	uint32_t address = (10 + network / 8 * 24) << 24 | network % 8 * 29 << 16 |
			   skewed_below(random, 64) * 4 << 8 | below(random, 256);

	if (evenly)
		address = (uint32_t)weir_test_random(random);
	*mask = length == 0 ? 0 : rte_cpu_to_be_32(UINT32_MAX << (32 - length));
	*ip = rte_cpu_to_be_32(address) & *mask;
}

static void
draw_ports(const unsigned int *percent, bool evenly, uint64_t *random, uint16_t *low,
	   uint16_t *high)
{
	static const uint16_t services[] = {80,	  443,	53,   25,   22,	  21,	23,
					    110,  143,	389,  445,  1433, 1521, 3306,
					    3389, 5060, 5432, 6000, 8080, 161};
	unsigned int left = below(random, 100);
	unsigned int kind = 0;

	while (left >= percent[kind])
		left -= percent[kind++];
	*low = 0;
	*high = UINT16_MAX;
	switch (kind) {
	case PORTS_HIGH:
		*low = 1024;
		break;
	case PORTS_LOW:
		*high = 1023;
		break;
	case PORTS_ONE:
		*low = evenly || below(random, 10) == 0
			       ? (uint16_t)below(random, 65536)
			       : services[skewed_below(random, RTE_DIM(services))];
		*high = *low;
		break;
	case PORTS_RANGE:
		*low = evenly ? (uint16_t)below(random, 65536)
			      : (uint16_t)(1024 + skewed_below(random, 100) * 256);
		*high = (uint16_t)RTE_MIN(*low + 1 + below(random, evenly ? 20000 : 4) * 64,
					  65535U);
		break;
	default:
		break;
	}
}

static struct weir_rule
draw_rule(enum weir_test_rules kind, uint64_t *random)
{
	const struct make_up *make_up = &make_ups[kind];
	bool evenly = kind == WEIR_TEST_UNIFORM;
	unsigned int protocol = below(random, 100);
	struct weir_rule rule;

	memset(&rule, 0, sizeof(rule)); /* holes too: rules are compared as bytes */
	draw_prefix(make_up->src, evenly, random, &rule.src_ip, &rule.src_mask);
	draw_prefix(make_up->dst, evenly, random, &rule.dst_ip, &rule.dst_mask);
	rule.src_port_high = rule.dst_port_high = UINT16_MAX;
	if (protocol < make_up->tcp + make_up->udp) {
		rule.protocol = protocol < make_up->tcp ? IPPROTO_TCP : IPPROTO_UDP;
		draw_ports(make_up->src_ports, evenly, random, &rule.src_port_low,
			   &rule.src_port_high);
		draw_ports(make_up->dst_ports, evenly, random, &rule.dst_port_low,
			   &rule.dst_port_high);
	} else if (protocol < make_up->tcp + make_up->udp + make_up->icmp) {
		rule.protocol = IPPROTO_ICMP;
	} else {
		rule.any_protocol = true;
	}
	return rule;
}

/* A rule with what it is sorted by: first by the bits that it fixes, give or take a few; then by
 * its content, so that the same ones lie side by side. */
struct ranked {
	unsigned int rank;
	struct weir_rule rule;
};

static int
by_content(const void *left, const void *right)
{
	return memcmp(&((const struct ranked *)left)->rule, &((const struct ranked *)right)->rule,
		      sizeof(struct weir_rule));
}

static int
by_rank(const void *left, const void *right)
{
	const struct ranked *a = left;
	const struct ranked *b = right;

	if (a->rank != b->rank)
		return a->rank > b->rank ? -1 : 1;
	return by_content(left, right);
}

static uint32_t
without_doubles(struct ranked *rules, uint32_t count)
{
	uint32_t kept = 0;

	qsort(rules, count, sizeof(*rules), by_content);
	for (uint32_t i = 0; i < count; i++) {
		if (i == 0 || by_content(&rules[i], &rules[kept - 1]) != 0)
			rules[kept++] = rules[i];
	}
	return kept;
}

void
weir_test_rules_make(enum weir_test_rules kind, uint64_t seed, struct weir_rule *rules,
		     uint32_t count)
{
	struct ranked *ranked = calloc(count, sizeof(*ranked));
	uint64_t random = seed * 2 + 1;

	if (ranked == NULL)
		abort();
	for (uint32_t made = 0; made < count; made = without_doubles(ranked, count)) {
		for (; made < count; made++) {
			ranked[made].rule = draw_rule(kind, &random);
			ranked[made].rank = __builtin_popcount(ranked[made].rule.src_mask) +
					    __builtin_popcount(ranked[made].rule.dst_mask) +
					    below(&random, 24);
		}
	}
	qsort(ranked, count, sizeof(*ranked), by_rank);
	for (uint32_t i = 0; i < count; i++)
		rules[i] = ranked[i].rule;
	free(ranked);
}

void
weir_test_rule_write(FILE *file, const struct weir_rule *rule)
{
	char src[INET_ADDRSTRLEN], dst[INET_ADDRSTRLEN], protocol[8] = "any";

	inet_ntop(AF_INET, &rule->src_ip, src, sizeof(src));
	inet_ntop(AF_INET, &rule->dst_ip, dst, sizeof(dst));
	if (!rule->any_protocol)
		snprintf(protocol, sizeof(protocol), "%u", rule->protocol);
	fprintf(file, "%s %s/%d %s/%d %u-%u %u-%u\n", protocol, src,
		__builtin_popcount(rule->src_mask), dst, __builtin_popcount(rule->dst_mask),
		rule->src_port_low, rule->src_port_high, rule->dst_port_low, rule->dst_port_high);
}

struct weir_tuple
weir_test_tuple_in(const struct weir_rule *rule, uint64_t *random)
{
	uint32_t src_ports = rule->src_port_high - rule->src_port_low + 1U;
	uint32_t dst_ports = rule->dst_port_high - rule->dst_port_low + 1U;
	struct weir_tuple tuple = {
		.src_ip = rule->src_ip | ((uint32_t)weir_test_random(random) & ~rule->src_mask),
		.dst_ip = rule->dst_ip | ((uint32_t)weir_test_random(random) & ~rule->dst_mask),
		.src_port = rte_cpu_to_be_16(rule->src_port_low + below(random, src_ports)),
		.dst_port = rte_cpu_to_be_16(rule->dst_port_low + below(random, dst_ports)),
		.protocol = rule->protocol,
	};

	if (rule->any_protocol)
		tuple.protocol = below(random, 2) == 0 ? IPPROTO_TCP : IPPROTO_UDP;
	if (tuple.protocol != IPPROTO_TCP && tuple.protocol != IPPROTO_UDP) {
		tuple.src_port = 0;
		if (!weir_rule_names_types(rule))
			tuple.dst_port = 0;
		tuple.zero[0] = WEIR_TUPLE_PORTLESS;
	}
	return tuple;
}

static bool
in_range(uint16_t port, uint16_t low, uint16_t high)
{
	return rte_be_to_cpu_16(port) >= low && rte_be_to_cpu_16(port) <= high;
}

struct weir_tuple
weir_test_tuple_near(const struct weir_rule *rule, uint64_t *random)
{
	static const struct weir_rule everything = {
		.src_port_high = UINT16_MAX, .dst_port_high = UINT16_MAX, .protocol = IPPROTO_UDP};
	struct weir_tuple tuple = weir_test_tuple_in(rule != NULL ? rule : &everything, random);

	switch (below(random, 8)) {
	case 0:
		tuple.src_ip ^= 1U << below(random, 32);
		break;
	case 1:
		tuple.dst_ip ^= 1U << below(random, 32);
		break;
	case 2:
		tuple.dst_port = (uint16_t)weir_test_random(random);
		break;
	case 3:
		tuple.protocol = (uint8_t)weir_test_random(random);
		if (tuple.protocol != IPPROTO_TCP && tuple.protocol != IPPROTO_UDP)
			tuple.zero[0] = WEIR_TUPLE_PORTLESS; /* as all packets of it */
		break;
	case 4:
		tuple.src_port = tuple.dst_port = 0;
		tuple.zero[0] = WEIR_TUPLE_PORTLESS;
		break;
	default:
		break;
	}
	return tuple;
}

uint32_t
weir_test_first_rule(const struct weir_rule *rules, uint32_t count, const struct weir_tuple *tuple)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct weir_rule *rule = &rules[i];

		if ((tuple->src_ip & rule->src_mask) == rule->src_ip &&
		    (tuple->dst_ip & rule->dst_mask) == rule->dst_ip &&
		    (rule->any_protocol || tuple->protocol == rule->protocol) &&
		    (!weir_rule_names_ports(rule) ||
		     ((tuple->zero[0] != WEIR_TUPLE_PORTLESS || weir_rule_names_types(rule)) &&
		      in_range(tuple->src_port, rule->src_port_low, rule->src_port_high) &&
		      in_range(tuple->dst_port, rule->dst_port_low, rule->dst_port_high))))
			return i;
	}
	return WEIR_RULE_NONE;
}
