/* SPDX-License-Identifier: Apache-2.0 */
/*
 * firewall-bench: DPDK's rte_acl and the firewall, side by side on the same rules and packets.
 *
 *   firewall-bench EAL-ARGUMENTS -- KIND RULES ROUNDS
 *
 * KIND is of testing/rules.h; one rule in five denies. Packets lie in random rules. Each round is a
 * line of JSON with nanoseconds a packet, its order changing from round to round:
 *   rte_acl         classifies packets of which each is a new flow (its algorithm is EAL's choice)
 *   classifier      weir_classifier_classify() on the same
 *   new_flows       the whole firewall on the same: every packet permitted begins a session
 *   rte_acl_misses  rte_acl on packets that no rule matches
 *   misses          the classifier on the same
 *   rte_acl_10k     rte_acl on packets of 10,000 flows that rules permit
 *   flows_10k       the whole firewall on the same, its sessions there
 * Before them a line with what was built, in how many packets both disagreed, and the share of
 * packets drawn evenly that no rule matches: if that is 0, there are no misses to measure.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <rte_acl.h>
#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_mbuf.h>

#include "core/stage.h"
#include "nf/firewall/firewall.h"
#include "testing/rules.h"

extern const struct weir_nf weir_nf_firewall;

#define PACKETS (1 << 18)
#define FLOWS 10000
#define L4_AT 34
#define LATER_S 10000 /* more than every timeout */
#define TICKS_OF_A_SWEEP 4096
#define ICMP_ECHO_REQUEST 8

enum { PROTOCOL, SRC_IP, DST_IP, SRC_PORT, DST_PORT, FIELDS };
RTE_ACL_RULE_DEF(acl_rule, FIELDS);

struct bench {
	uint32_t count;
	struct weir_rule *rules;
	struct rte_acl_ctx *acl;
	struct weir_rule_set *set;
	char path[64];
	struct weir_tuple *fresh, *reused; /* PACKETS each */
	struct weir_tuple *missed;	   /* PACKETS, or NULL: the rules match everything */
	double miss_share;		   /* of packets drawn evenly */
	struct weir_headers *fresh_headers, *reused_headers;
	struct rte_mbuf *packets[WEIR_BURST];
	struct weir_stage firewall; /* with the sessions of the reused flows */
	struct weir_stage emptied;  /* without sessions; its memory has been used */
	uint64_t later_tsc;	    /* what is added to the time */
	uint32_t sum;		    /* so that no result is unused */
};

static double
ns_since(uint64_t begin)
{
	return (double)(rte_rdtsc_precise() - begin) * 1e9 / (double)rte_get_tsc_hz() / PACKETS;
}

static void
write_rules(struct bench *bench)
{
	FILE *file;

	snprintf(bench->path, sizeof(bench->path), "/tmp/firewall-bench-%d.rules", getpid());
	file = fopen(bench->path, "w");
	if (file == NULL)
		rte_exit(1, "firewall-bench: cannot write %s\n", bench->path);
	for (uint32_t i = 0; i < bench->count; i++) {
		const struct weir_rule *rule = &bench->rules[i];
		char src[INET_ADDRSTRLEN], dst[INET_ADDRSTRLEN], protocol[8] = "any";

		inet_ntop(AF_INET, &rule->src_ip, src, sizeof(src));
		inet_ntop(AF_INET, &rule->dst_ip, dst, sizeof(dst));
		if (!rule->any_protocol)
			snprintf(protocol, sizeof(protocol), "%u", rule->protocol);
		fprintf(file, "%s %s %s/%d %s/%d %u-%u %u-%u\n", i % 5 == 4 ? "deny" : "permit",
			protocol, src, __builtin_popcount(rule->src_mask), dst,
			__builtin_popcount(rule->dst_mask), rule->src_port_low, rule->src_port_high,
			rule->dst_port_low, rule->dst_port_high);
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
static double
build_acl(struct bench *bench)
{
	const struct rte_acl_param parameters = {
		.name = "bench",
		.socket_id = SOCKET_ID_ANY,
		.rule_size = RTE_ACL_RULE_SZ(FIELDS),
		.max_rule_num = bench->count,
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

	bench->acl = rte_acl_create(&parameters);
	if (bench->acl == NULL)
		rte_exit(1, "firewall-bench: no memory for rte_acl\n");
	for (uint32_t i = 0; i < bench->count; i++) {
		struct acl_rule rule = acl_rule_of(&bench->rules[i], i);

		if (rte_acl_add_rules(bench->acl, (const struct rte_acl_rule *)&rule, 1) != 0)
			rte_exit(1, "firewall-bench: rte_acl refuses rule %u\n", i);
	}
	begin = rte_rdtsc();
	if (rte_acl_build(bench->acl, &config) != 0)
		rte_exit(1, "firewall-bench: rte_acl has no memory to build\n");
	return ns_since(begin) * PACKETS / 1e9;
}

static struct weir_headers
headers_of(const struct weir_tuple *tuple)
{
	struct weir_headers headers = {
		.tuple = *tuple,
		.network = WEIR_NETWORK_IPV4,
		.tcp_flags = tuple->protocol == IPPROTO_TCP ? TCP_SYN : 0,
		.ttl = 64,
		.l3_offset = 14,
		.l4_offset = L4_AT,
		.l3_bytes = 46,
	};

	headers.tuple.zero[0] = 0;
	return headers;
}

static void
make_traffic(struct bench *bench)
{
	uint64_t random = 7;
	uint32_t flows = 0;

	bench->fresh = malloc(PACKETS * sizeof(*bench->fresh));
	bench->reused = malloc(PACKETS * sizeof(*bench->reused));
	bench->fresh_headers = malloc(PACKETS * sizeof(*bench->fresh_headers));
	bench->reused_headers = malloc(PACKETS * sizeof(*bench->reused_headers));
	for (uint32_t i = 0; i < PACKETS; i++) {
		uint32_t rule = (weir_test_random(&random) >> 32) % bench->count;
		bool permits;

		bench->fresh[i] = weir_test_tuple_in(&bench->rules[rule], &random);
		bench->fresh_headers[i] = headers_of(&bench->fresh[i]);
		weir_rule_set_permits(bench->set, &bench->fresh[i], &permits, 1);
		if (permits && flows < FLOWS)
			bench->reused[flows++] = bench->fresh[i];
	}
	for (uint32_t i = 0; i < PACKETS; i++) {
		if (i >= flows)
			bench->reused[i] = bench->reused[(weir_test_random(&random) >> 32) % flows];
		bench->reused_headers[i] = headers_of(&bench->reused[i]);
		if (i >= flows)
			bench->reused_headers[i].tcp_flags = TCP_ACK;
	}
}

/* Evenly drawn packets that no rule matches, again and again if few were found. */
static void
make_misses(struct bench *bench)
{
	static const struct weir_rule tcp = {
		.protocol = IPPROTO_TCP, .src_port_high = UINT16_MAX, .dst_port_high = UINT16_MAX};
	uint64_t random = 11;
	uint32_t found = 0;

	bench->missed = malloc(PACKETS * sizeof(*bench->missed));
	for (uint32_t i = 0; i < PACKETS; i++) {
		const struct weir_tuple drawn = weir_test_tuple_in(&tcp, &random);
		uint32_t rule;

		weir_classifier_classify(bench->set->classifier, &drawn, &rule, 1);
		if (rule == WEIR_RULE_NONE)
			bench->missed[found++] = drawn;
	}
	bench->miss_share = (double)found / PACKETS;
	if (found == 0) {
		free(bench->missed);
		bench->missed = NULL;
	}
	for (uint32_t i = found; found > 0 && i < PACKETS; i++)
		bench->missed[i] = bench->missed[i - found];
}

static struct weir_stage
new_firewall(const struct bench *bench)
{
	const struct weir_option_value values[] = {{"rules", bench->path}, {"sessions", "1000000"}};
	struct weir_error error;
	struct weir_stage stage = {.nf = &weir_nf_firewall};

	stage.state = weir_nf_create(stage.nf, values, RTE_DIM(values), "options", &error);
	if (stage.state == NULL)
		rte_exit(1, "firewall-bench: %s\n", error.message);
	return stage;
}

static double
time_acl(struct bench *bench, const struct weir_tuple *tuples, uint32_t *results)
{
	uint64_t begin = rte_rdtsc_precise();

	for (uint32_t i = 0; i < PACKETS; i += WEIR_BURST) {
		const uint8_t *data[WEIR_BURST];

		for (unsigned int j = 0; j < WEIR_BURST; j++)
			data[j] = (const uint8_t *)&tuples[i + j];
		rte_acl_classify(bench->acl, data, results + i, WEIR_BURST, 1);
	}
	return ns_since(begin);
}

static double
time_classifier(struct bench *bench, const struct weir_tuple *tuples, uint32_t *results)
{
	uint64_t begin = rte_rdtsc_precise();

	for (uint32_t i = 0; i < PACKETS; i += WEIR_BURST)
		weir_classifier_classify(bench->set->classifier, tuples + i, results + i,
					 WEIR_BURST);
	return ns_since(begin);
}

/* Decides; what is decided is counted as when it is applied. */
static double
time_firewall(struct bench *bench, struct weir_stage *firewall, const struct weir_headers *headers)
{
	static struct weir_action actions[WEIR_BURST];
	uint64_t begin = rte_rdtsc_precise();

	for (uint32_t i = 0; i < PACKETS; i += WEIR_BURST) {
		struct weir_batch batch = {
			.count = WEIR_BURST,
			.parsed = true,
			.now_tsc = rte_rdtsc() + bench->later_tsc,
		};

		memcpy(batch.packet, bench->packets, sizeof(batch.packet));
		memcpy(batch.headers, headers + i, sizeof(batch.headers));
		weir_stage_decide(firewall, &batch, actions);
		for (uint16_t j = 0; j < WEIR_BURST; j++) {
			uint8_t reason = 0;

			bench->sum += !weir_stage_apply(&batch, j, &actions[j], &reason);
		}
	}
	return ns_since(begin);
}

/* Ends all sessions by letting time pass, twice: first their packets are noticed. */
static void
empty(struct bench *bench)
{
	const struct firewall *firewall = bench->emptied.state;

	for (unsigned int i = 0; i < 2 * TICKS_OF_A_SWEEP; i++) {
		if (i % TICKS_OF_A_SWEEP == 0)
			bench->later_tsc += LATER_S * rte_get_tsc_hz();
		weir_nf_firewall.tick(bench->emptied.state, rte_rdtsc() + bench->later_tsc, NULL);
	}
	for (uint32_t i = 0; i < firewall->session_high; i++) {
		if (firewall->sessions[i].flags != 0)
			rte_exit(1, "firewall-bench: session %u has not ended\n", i);
	}
}

enum {
	RTE_ACL,
	CLASSIFIER,
	NEW_FLOWS,
	RTE_ACL_MISSES,
	MISSES,
	RTE_ACL_10K,
	FLOWS_10K,
	CONTENDERS,
};
static const char *const names[] = {"rte_acl", "classifier",  "new_flows", "rte_acl_misses",
				    "misses",  "rte_acl_10k", "flows_10k"};

static double
time_one(struct bench *bench, unsigned int which)
{
	static uint32_t results[PACKETS];

	switch (which) {
	case RTE_ACL:
		return time_acl(bench, bench->fresh, results);
	case CLASSIFIER:
		return time_classifier(bench, bench->fresh, results);
	case NEW_FLOWS:
		empty(bench);
		return time_firewall(bench, &bench->emptied, bench->fresh_headers);
	case RTE_ACL_MISSES:
		return bench->missed != NULL ? time_acl(bench, bench->missed, results) : 0;
	case MISSES:
		return bench->missed != NULL ? time_classifier(bench, bench->missed, results) : 0;
	case RTE_ACL_10K:
		return time_acl(bench, bench->reused, results);
	default:
		return time_firewall(bench, &bench->firewall, bench->reused_headers);
	}
}

/* Of the fresh packets: how many rte_acl and the classifier give different rules. */
static uint32_t
disagreements(struct bench *bench)
{
	uint32_t *theirs = malloc(PACKETS * sizeof(*theirs));
	uint32_t *ours = malloc(PACKETS * sizeof(*ours));
	uint32_t count = 0;

	time_acl(bench, bench->fresh, theirs);
	time_classifier(bench, bench->fresh, ours);
	for (uint32_t i = 0; i < PACKETS; i++)
		count += theirs[i] - 1 != ours[i];
	free(theirs);
	free(ours);
	return count;
}

static void
prepare(struct bench *bench, unsigned int kind)
{
	struct rte_mempool *pool = rte_pktmbuf_pool_create(
		"bench", 63, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	struct weir_error error;
	struct weir_classifier_shape shape;
	double acl_s, ours_s;
	uint64_t begin;

	if (pool == NULL || rte_pktmbuf_alloc_bulk(pool, bench->packets, WEIR_BURST) != 0)
		rte_exit(1, "firewall-bench: no memory\n");
	for (unsigned int i = 0; i < WEIR_BURST; i++)
		rte_pktmbuf_append(bench->packets[i], 60)[L4_AT] = ICMP_ECHO_REQUEST;
	bench->rules = malloc(bench->count * sizeof(*bench->rules));
	weir_test_rules_make(kind, 42, bench->rules, bench->count);
	write_rules(bench);
	acl_s = build_acl(bench);
	begin = rte_rdtsc();
	bench->set = weir_rule_set_load(bench->path, false, "rules", &error);
	if (bench->set == NULL)
		rte_exit(1, "firewall-bench: %s\n", error.message);
	ours_s = ns_since(begin) * PACKETS / 1e9;
	make_traffic(bench);
	make_misses(bench);
	bench->firewall = new_firewall(bench);
	time_firewall(bench, &bench->firewall, bench->reused_headers);
	bench->emptied = new_firewall(bench);
	time_firewall(bench, &bench->emptied, bench->fresh_headers);
	shape = weir_classifier_shape(bench->set->classifier);
	printf("{\"load_s\": %.3f, \"rte_acl_build_s\": %.3f, \"bytes\": %zu, \"tables\": %u, "
	       "\"trees\": %u, \"packets\": %d, \"disagreements\": %u, \"miss_share\": %.4f}\n",
	       ours_s, acl_s, shape.bytes, shape.tables, shape.trees, PACKETS, disagreements(bench),
	       bench->miss_share);
}

static void
run_rounds(struct bench *bench, unsigned int rounds)
{
	for (unsigned int round = 0; round < rounds; round++) {
		double ns[CONTENDERS];

		for (unsigned int i = 0; i < CONTENDERS; i++) {
			unsigned int which = round % 2 == 0 ? i : CONTENDERS - 1 - i;

			ns[which] = time_one(bench, which);
		}
		for (unsigned int i = 0; i < CONTENDERS; i++)
			printf("%s\"%s\": %.2f", i == 0 ? "{" : ", ", names[i], ns[i]);
		printf("}\n");
	}
}

int
main(int argc, char **argv)
{
	static struct bench bench;
	unsigned int kind = 0;
	int used = rte_eal_init(argc, argv);

	argc -= used + 1;
	argv += used + 1;
	if (used < 0 || argc != 3)
		rte_exit(2, "usage: firewall-bench EAL-ARGUMENTS -- KIND RULES ROUNDS\n");
	while (kind < WEIR_TEST_RULE_SETS && strcmp(weir_test_rules_names[kind], argv[0]) != 0)
		kind++;
	bench.count = strtoul(argv[1], NULL, 10);
	if (kind == WEIR_TEST_RULE_SETS || bench.count == 0)
		rte_exit(2, "firewall-bench: KIND is acl, fw, ipc or uniform, RULES a number\n");
	prepare(&bench, kind);
	run_rounds(&bench, strtoul(argv[2], NULL, 10));
	unlink(bench.path);
	return bench.sum == UINT32_MAX;
}
