/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target of the fast path: the same frames both ways, and the same time, through a firewall
 * and a NAT with it and without it. What leaves must be the same, byte for byte. The first byte of
 * an input chooses rules and filtering. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>

#include "engine/chain.h"
#include "testing/fuzz.h"

#define FLOWS 64
#define START_S 1000

extern const struct weir_nf weir_nf_firewall, weir_nf_nat;

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { PLAIN, FAST, CHAINS };

static void *
state_of(const struct weir_nf *nf, const struct weir_option_value *options, unsigned int count)
{
	struct weir_error error;
	void *state = weir_nf_create(nf, options, count, "options", &error);

	if (state == NULL) {
		fprintf(stderr, "%s: %s\n", error.where, error.message);
		abort();
	}
	return state;
}

static void
add_path(struct weir_chain *chain, enum weir_direction direction, void *firewall, void *nat)
{
	struct weir_path *path = &chain->paths[chain->path_count++];
	const unsigned int outer = direction == WEIR_OUTBOUND;

	path->direction = direction;
	path->stage_count = 2;
	path->stages[!outer] = (struct weir_stage){
		.nf = &weir_nf_firewall, .state = firewall, .shares_state = !outer};
	path->stages[outer] =
		(struct weir_stage){.nf = &weir_nf_nat, .state = nat, .shares_state = !outer};
}

static struct weir_chain *
chain_of(uint8_t choice, uint32_t flows)
{
	static const char rules[] = "permit udp any any any 1-1024\npermit tcp 10.0.0.0/8 any\n"
				    "permit icmp any any\n";
	const struct weir_option_value firewall[] = {
		{"rules", weir_fuzz_file(rules, sizeof(rules) - 1)},
		{"default", (choice & 1) != 0 ? "deny" : "permit"},
		{"sessions", "8"},
		{"fragments", "4"},
	};
	const struct weir_option_value nat[] = {
		{"external", "203.0.113.0/31"},
		{"port_min", "3000"},
		{"port_max", "3007"},
		{"sessions", "8"},
		{"remotes", "8"},
		{"fragments", "4"},
		{"filtering", (choice & 2) != 0 ? "address-dependent" : "endpoint-independent"},
		{"lanes", "1"},
	};
	struct weir_chain *chain = weir_chain_create("fuzz", 0, true);
	struct weir_error error;
	void *states[2];

	if (chain == NULL)
		abort();
	states[0] = state_of(&weir_nf_firewall, firewall, RTE_DIM(firewall));
	states[1] = state_of(&weir_nf_nat, nat, RTE_DIM(nat));
	add_path(chain, WEIR_OUTBOUND, states[0], states[1]);
	add_path(chain, WEIR_INBOUND, states[0], states[1]);
	if (weir_chain_complete(chain, flows, &error) < 0) {
		fprintf(stderr, "%s: %s\n", error.where, error.message);
		abort();
	}
	return chain;
}

static void
run_frame(struct weir_chain *const chains[CHAINS], unsigned int path,
	  const struct weir_fuzz_record *record, uint64_t now_tsc)
{
	struct weir_batch batches[CHAINS] = {0};
	struct rte_mbuf **packets[CHAINS];

	for (unsigned int i = 0; i < CHAINS; i++) {
		batches[i].count = 1;
		batches[i].direction = chains[i]->paths[path].direction;
		batches[i].now_tsc = now_tsc;
		batches[i].packet[0] = weir_fuzz_packet(record->bytes, record->size);
		packets[i] = batches[i].packet;
		weir_path_run(&chains[i]->paths[path], &batches[i]);
	}
	if (batches[PLAIN].count != batches[FAST].count)
		abort();
	if (batches[PLAIN].count == 0)
		return;
	if (batches[PLAIN].egress[0] != batches[FAST].egress[0] ||
	    memcmp(rte_pktmbuf_mtod(packets[PLAIN][0], const void *),
		   rte_pktmbuf_mtod(packets[FAST][0], const void *), record->size) != 0)
		abort();
	for (unsigned int i = 0; i < CHAINS; i++)
		rte_pktmbuf_free(packets[i][0]);
}

static void
compare_ledgers(struct weir_chain *const chains[CHAINS])
{
	for (unsigned int i = 0; i < chains[PLAIN]->path_count; i++) {
		for (unsigned int j = 0; j < chains[PLAIN]->paths[i].stage_count; j++) {
			const struct weir_stage *plain = &chains[PLAIN]->paths[i].stages[j];
			const struct weir_stage *fast = &chains[FAST]->paths[i].stages[j];

			if (memcmp(plain->ledger.drops, fast->ledger.drops,
				   sizeof(plain->ledger.drops)) != 0)
				abort();
		}
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	const uint64_t second = rte_get_tsc_hz();
	struct weir_chain *chains[CHAINS];
	struct weir_fuzz_record record;
	uint64_t now_s = START_S;

	if (size == 0)
		return 0;
	for (unsigned int i = 0; i < CHAINS; i++)
		chains[i] = chain_of(bytes[0], i == FAST ? FLOWS : 0);
	bytes++;
	size--;
	while (weir_fuzz_record(&bytes, &size, &record)) {
		if (record.kind == WEIR_FUZZ_TIME) {
			now_s += record.size > 0 ? record.bytes[0] : 1;
			for (unsigned int i = 0; i < CHAINS; i++)
				weir_chain_tick(chains[i], now_s * second);
		} else if (record.kind != WEIR_FUZZ_COMMAND) {
			run_frame(chains, weir_fuzz_outbound(record.kind) ? 0 : 1, &record,
				  now_s * second);
		}
	}
	weir_flow_cache_flush(chains[FAST]->flows);
	compare_ledgers(chains);
	for (unsigned int i = 0; i < CHAINS; i++)
		weir_chain_destroy(chains[i]);
	return 0;
}
