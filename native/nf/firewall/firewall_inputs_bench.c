/* SPDX-License-Identifier: Apache-2.0 */
#include "firewall_inputs_bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <rte_cycles.h>
#include <rte_eal.h>

#define FLOWS 10000

enum { PROTOCOL, SRC_IP, DST_IP, SRC_PORT, DST_PORT, FIELDS };
RTE_ACL_RULE_DEF(acl_rule, FIELDS);

static double
seconds_since(uint64_t begin)
{
	return (double)(rte_rdtsc() - begin) / (double)rte_get_tsc_hz();
}

static void
write_rules(struct inputs *inputs)
{
	FILE *file;

	snprintf(inputs->path, sizeof(inputs->path), "/tmp/firewall-bench-%d.rules", getpid());
	file = fopen(inputs->path, "w");
	if (file == NULL)
		rte_exit(1, "firewall-bench: cannot write %s\n", inputs->path);
	for (uint32_t i = 0; i < inputs->count; i++) {
		fputs(i % 5 == 4 ? "deny " : "permit ", file);
		weir_test_rule_write(file, &inputs->rules[i]);
	}
	fclose(file);
}

static struct acl_rule
acl_rule_of(const struct weir_rule *rule, uint32_t index)
{
	struct acl_rule made = {
		.data = {.category_mask = 1,
			 .priority = (int32_t)(RTE_ACL_MAX_PRIORITY - index),
			 .userdata = index + 1},
	};

	made.field[PROTOCOL].value.u8 = rule->protocol;
	made.field[PROTOCOL].mask_range.u8 = rule->any_protocol ? 0 : 0xff;
	made.field[SRC_IP].value.u32 = ntohl(rule->src_ip);
	made.field[SRC_IP].mask_range.u32 = __builtin_popcount(rule->src_mask);
	made.field[DST_IP].value.u32 = ntohl(rule->dst_ip);
	made.field[DST_IP].mask_range.u32 = __builtin_popcount(rule->dst_mask);
	made.field[SRC_PORT].value.u16 = rule->src_port_low;
	made.field[SRC_PORT].mask_range.u16 = rule->src_port_high;
	made.field[DST_PORT].value.u16 = rule->dst_port_low;
	made.field[DST_PORT].mask_range.u16 = rule->dst_port_high;
	return made;
}

/* As DPDK's l3fwd and test-acl do: protocol, addresses, ports. */
static void
build_acl(struct inputs *inputs)
{
	const struct rte_acl_param parameters = {
		.name = "bench",
		.socket_id = SOCKET_ID_ANY,
		.rule_size = RTE_ACL_RULE_SZ(FIELDS),
		.max_rule_num = inputs->count,
	};
	const struct rte_acl_config config = {
		.num_categories = 1,
		.num_fields = FIELDS,
		.defs = {{RTE_ACL_FIELD_TYPE_BITMASK, 1, PROTOCOL, 0,
			  offsetof(struct weir_tuple, protocol)},
			 {RTE_ACL_FIELD_TYPE_MASK, 4, SRC_IP, 1,
			  offsetof(struct weir_tuple, src_ip)},
			 {RTE_ACL_FIELD_TYPE_MASK, 4, DST_IP, 2,
			  offsetof(struct weir_tuple, dst_ip)},
			 {RTE_ACL_FIELD_TYPE_RANGE, 2, SRC_PORT, 3,
			  offsetof(struct weir_tuple, src_port)},
			 {RTE_ACL_FIELD_TYPE_RANGE, 2, DST_PORT, 3,
			  offsetof(struct weir_tuple, dst_port)}},
	};
	uint64_t begin;

	inputs->acl = rte_acl_create(&parameters);
	if (inputs->acl == NULL)
		rte_exit(1, "firewall-bench: no memory for rte_acl\n");
	for (uint32_t i = 0; i < inputs->count; i++) {
		struct acl_rule rule = acl_rule_of(&inputs->rules[i], i);

		if (rte_acl_add_rules(inputs->acl, (const struct rte_acl_rule *)&rule, 1) != 0)
			rte_exit(1, "firewall-bench: rte_acl refuses rule %u\n", i);
	}
	begin = rte_rdtsc();
	if (rte_acl_build(inputs->acl, &config) != 0)
		rte_exit(1, "firewall-bench: rte_acl has no memory to build\n");
	inputs->acl_build_s = seconds_since(begin);
}

static struct weir_headers
headers_of(const struct weir_tuple *tuple)
{
	struct weir_headers headers = {
		.tuple = *tuple,
		.network = WEIR_NETWORK_IPV4,
		.tcp_flags = tuple->protocol == IPPROTO_TCP ? RTE_TCP_SYN_FLAG : 0,
		.ttl = 64,
		.l3_offset = 14,
		.l4_offset = L4_AT,
		.l3_bytes = 46,
	};

	headers.tuple.zero[0] = 0;
	return headers;
}

static void
make_traffic(struct inputs *inputs)
{
	uint64_t random = 7;
	uint32_t flows = 0;

	inputs->fresh = malloc(PACKETS * sizeof(*inputs->fresh));
	inputs->reused = malloc(PACKETS * sizeof(*inputs->reused));
	inputs->fresh_headers = malloc(PACKETS * sizeof(*inputs->fresh_headers));
	inputs->reused_headers = malloc(PACKETS * sizeof(*inputs->reused_headers));
	for (uint32_t i = 0; i < PACKETS; i++) {
		uint32_t rule = (weir_test_random(&random) >> 32) % inputs->count;
		bool permits;

		inputs->fresh[i] = weir_test_tuple_in(&inputs->rules[rule], &random);
		inputs->fresh_headers[i] = headers_of(&inputs->fresh[i]);
		weir_rule_set_permits(inputs->set, &inputs->fresh[i], &permits, 1);
		if (permits && flows < FLOWS)
			inputs->reused[flows++] = inputs->fresh[i];
	}
	for (uint32_t i = 0; i < PACKETS; i++) {
		if (i >= flows)
			inputs->reused[i] =
				inputs->reused[(weir_test_random(&random) >> 32) % flows];
		inputs->reused_headers[i] = headers_of(&inputs->reused[i]);
		if (i >= flows)
			inputs->reused_headers[i].tcp_flags = RTE_TCP_ACK_FLAG;
	}
}

/* Evenly drawn packets that no rule matches, again and again if few were found. */
static void
make_misses(struct inputs *inputs)
{
	static const struct weir_rule tcp = {
		.protocol = IPPROTO_TCP, .src_port_high = UINT16_MAX, .dst_port_high = UINT16_MAX};
	uint64_t random = 11;
	uint32_t found = 0;

	inputs->missed = malloc(PACKETS * sizeof(*inputs->missed));
	for (uint32_t i = 0; i < PACKETS; i++) {
		const struct weir_tuple drawn = weir_test_tuple_in(&tcp, &random);
		uint32_t rule;

		weir_classifier_classify(inputs->set->ipv4, &drawn, &rule, 1);
		if (rule == WEIR_RULE_NONE)
			inputs->missed[found++] = drawn;
	}
	inputs->miss_share = (double)found / PACKETS;
	if (found == 0) {
		free(inputs->missed);
		inputs->missed = NULL;
	}
	for (uint32_t i = found; found > 0 && i < PACKETS; i++)
		inputs->missed[i] = inputs->missed[i - found];
}

void
inputs_make(struct inputs *inputs, enum weir_test_rules kind, uint32_t count)
{
	struct weir_error error;
	uint64_t begin;

	inputs->count = count;
	inputs->rules = malloc(count * sizeof(*inputs->rules));
	if (inputs->rules == NULL)
		rte_exit(1, "firewall-bench: no memory for the rules\n");
	weir_test_rules_make(kind, 42, inputs->rules, count);
	write_rules(inputs);
	build_acl(inputs);
	begin = rte_rdtsc();
	inputs->set = weir_rule_set_load(inputs->path, false, "rules", &error);
	if (inputs->set == NULL)
		rte_exit(1, "firewall-bench: %s\n", error.message);
	inputs->load_s = seconds_since(begin);
	make_traffic(inputs);
	make_misses(inputs);
}
