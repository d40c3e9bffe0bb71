/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target of the fast path and of separated data: the same frames both ways, and the same time,
 * through a firewall and a NAT with and without them. What leaves must be the same, byte for byte.
 * The first byte of an input chooses rules and filtering. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>

#include "engine/chain.h"
#include "engine/handover.h"
#include "testing/fuzz.h"

#define FLOWS 64
#define START_S 1000

extern const struct weir_nf weir_nf_firewall, weir_nf_nat;

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { PLAIN, FAST, SEPARATED, SEPARATED_FAST, CHAINS };

static bool
is_fast(unsigned int chain)
{
	return chain == FAST || chain == SEPARATED_FAST;
}

static bool
is_separated(unsigned int chain)
{
	return chain == SEPARATED || chain == SEPARATED_FAST;
}

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
chain_of(uint8_t choice, uint32_t flows, bool separated)
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
	struct weir_chain *chain = separated ? weir_state_core_create("fuzz", 0, true)
					     : weir_chain_create("fuzz", 0, true);
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

/* As a state core does, and behind it a rewrite worker. */
static void
run_separated(struct weir_path *path, struct weir_batch *batch)
{
	struct weir_handover *handover = weir_handover_of(batch->packet[0]);

	weir_batch_parse(batch);
	weir_handover_begin(batch->packet[0], &batch->headers[0]);
	batch->hands_over = true;
	weir_path_run(path, batch);
	if (batch->count == 0)
		return;
	weir_action_set_tuple(&handover->action, &batch->headers[0].tuple);
	weir_action_apply(&handover->action, batch->packet[0], &handover->headers);
}

static void
require_same(const struct weir_batch *one, const struct weir_batch *other, uint32_t size)
{
	if (one->count != other->count)
		abort();
	if (one->count == 0)
		return;
	if (one->egress[0] != other->egress[0] ||
	    memcmp(rte_pktmbuf_mtod(one->packet[0], const void *),
		   rte_pktmbuf_mtod(other->packet[0], const void *), size) != 0)
		abort();
}

static void
run_frame(struct weir_chain *const chains[CHAINS], unsigned int path,
	  const struct weir_fuzz_record *record, uint64_t now_tsc)
{
	struct weir_batch batches[CHAINS] = {0};

	for (unsigned int i = 0; i < CHAINS; i++) {
		struct weir_path *taken = &chains[i]->paths[path];

		batches[i].count = 1;
		batches[i].direction = taken->direction;
		batches[i].now_tsc = now_tsc;
		batches[i].packet[0] = weir_fuzz_packet(record->bytes, record->size);
		if (is_separated(i))
			run_separated(taken, &batches[i]);
		else
			weir_path_run(taken, &batches[i]);
		require_same(&batches[PLAIN], &batches[i], record->size);
	}
	for (unsigned int i = 0; i < CHAINS; i++)
		rte_pktmbuf_free_bulk(batches[i].packet, batches[i].count);
}

static void
compare_ledgers(const struct weir_chain *plain, const struct weir_chain *other)
{
	for (unsigned int i = 0; i < plain->path_count; i++) {
		for (unsigned int j = 0; j < plain->paths[i].stage_count; j++) {
			const struct weir_stage *one = &plain->paths[i].stages[j];
			const struct weir_stage *another = &other->paths[i].stages[j];

			if (memcmp(one->ledger.drops, another->ledger.drops,
				   sizeof(one->ledger.drops)) != 0)
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
		chains[i] = chain_of(bytes[0], is_fast(i) ? FLOWS : 0, is_separated(i));
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
	for (unsigned int i = 0; i < CHAINS; i++) {
		if (is_fast(i))
			weir_flow_cache_flush(chains[i]->flows);
		compare_ledgers(chains[PLAIN], chains[i]);
	}
	for (unsigned int i = 0; i < CHAINS; i++)
		weir_chain_destroy(chains[i]);
	return 0;
}
