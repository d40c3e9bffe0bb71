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

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_mbuf.h>

#include "firewall_inputs_bench.h"

extern const struct weir_nf weir_nf_firewall;

#define LATER_S 10000 /* more than every timeout */
#define TICKS_OF_A_SWEEP 4096
#define ICMP_ECHO_REQUEST 8

struct bench {
	struct inputs inputs;
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

static struct weir_stage
new_firewall(const struct bench *bench)
{
	const struct weir_option_value values[] = {{"rules", bench->inputs.path},
						   {"sessions", "1000000"}};
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
		rte_acl_classify(bench->inputs.acl, data, results + i, WEIR_BURST, 1);
	}
	return ns_since(begin);
}

static double
time_classifier(struct bench *bench, const struct weir_tuple *tuples, uint32_t *results)
{
	uint64_t begin = rte_rdtsc_precise();

	for (uint32_t i = 0; i < PACKETS; i += WEIR_BURST)
		weir_classifier_classify(bench->inputs.set->ipv4, tuples + i, results + i,
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
	const struct inputs *inputs = &bench->inputs;

	switch (which) {
	case RTE_ACL:
		return time_acl(bench, inputs->fresh, results);
	case CLASSIFIER:
		return time_classifier(bench, inputs->fresh, results);
	case NEW_FLOWS:
		empty(bench);
		return time_firewall(bench, &bench->emptied, inputs->fresh_headers);
	case RTE_ACL_MISSES:
		return inputs->missed != NULL ? time_acl(bench, inputs->missed, results) : 0;
	case MISSES:
		return inputs->missed != NULL ? time_classifier(bench, inputs->missed, results) : 0;
	case RTE_ACL_10K:
		return time_acl(bench, inputs->reused, results);
	default:
		return time_firewall(bench, &bench->firewall, inputs->reused_headers);
	}
}

/* Of the fresh packets: how many rte_acl and the classifier give different rules. */
static uint32_t
disagreements(struct bench *bench)
{
	uint32_t *theirs = malloc(PACKETS * sizeof(*theirs));
	uint32_t *ours = malloc(PACKETS * sizeof(*ours));
	uint32_t count = 0;

	time_acl(bench, bench->inputs.fresh, theirs);
	time_classifier(bench, bench->inputs.fresh, ours);
	for (uint32_t i = 0; i < PACKETS; i++)
		count += theirs[i] - 1 != ours[i];
	free(theirs);
	free(ours);
	return count;
}

static void
prepare(struct bench *bench)
{
	const struct inputs *inputs = &bench->inputs;
	const struct weir_classifier_shape shape = weir_classifier_shape(inputs->set->ipv4);
	struct rte_mempool *pool = rte_pktmbuf_pool_create(
		"bench", 63, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);

	if (pool == NULL || rte_pktmbuf_alloc_bulk(pool, bench->packets, WEIR_BURST) != 0)
		rte_exit(1, "firewall-bench: no memory\n");
	for (unsigned int i = 0; i < WEIR_BURST; i++)
		rte_pktmbuf_append(bench->packets[i], 60)[L4_AT] = ICMP_ECHO_REQUEST;
	bench->firewall = new_firewall(bench);
	time_firewall(bench, &bench->firewall, inputs->reused_headers);
	bench->emptied = new_firewall(bench);
	time_firewall(bench, &bench->emptied, inputs->fresh_headers);
	printf("{\"load_s\": %.3f, \"rte_acl_build_s\": %.3f, \"bytes\": %zu, \"tables\": %u, "
	       "\"trees\": %u, \"packets\": %d, \"disagreements\": %u, \"miss_share\": %.4f}\n",
	       inputs->load_s, inputs->acl_build_s, shape.bytes, shape.tables, shape.trees, PACKETS,
	       disagreements(bench), inputs->miss_share);
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
	uint32_t rules;
	int used = rte_eal_init(argc, argv);

	argc -= used + 1;
	argv += used + 1;
	if (used < 0 || argc != 3)
		rte_exit(2, "usage: firewall-bench EAL-ARGUMENTS -- KIND RULES ROUNDS\n");
	while (kind < WEIR_TEST_RULE_SETS && strcmp(weir_test_rules_names[kind], argv[0]) != 0)
		kind++;
	rules = strtoul(argv[1], NULL, 10);
	if (kind == WEIR_TEST_RULE_SETS || rules == 0)
		rte_exit(2, "firewall-bench: KIND is acl, fw, ipc or uniform, RULES a number\n");
	inputs_make(&bench.inputs, kind, rules);
	prepare(&bench);
	run_rounds(&bench, strtoul(argv[2], NULL, 10));
	unlink(bench.inputs.path);
	return bench.sum == UINT32_MAX;
}
