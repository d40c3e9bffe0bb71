/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow-table-bench: cycles to look a flow up in this project's index and in rte_hash, in turn.
 *
 *   flow-table-bench EAL-ARGUMENTS -- FLOWS ROUNDS
 *
 * Both hold the same FLOWS five-tuples, of random addresses and ports, and are asked for 32 of them
 * at a time, drawn at random: the index with weir_flow_table_find(), rte_hash (CRC32, as it is made
 * for one thread) with rte_hash_lookup_bulk(). Then once more with eight bytes read of each flow's
 * entry, which is what somebody looks a flow up for: the index keeps keys in the entries, rte_hash
 * in memory of its own. A round is a line of JSON, each figure cycles a flow: {"flow_table",
 * "rte_hash", "flow_table_read", "rte_hash_read"}.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_hash.h>
#include <rte_hash_crc.h>
#include <rte_malloc.h>

#include "flow_table.h"
#include "headers.h"
#include "mix.h"

#define LOOKUPS_A_ROUND (1 << 20)
#define BATCHES (LOOKUPS_A_ROUND / WEIR_FLOW_BULK)

struct entry {
	struct weir_tuple key;
	uint64_t packets;
} __rte_cache_aligned;

struct bench {
	uint32_t flows;
	struct entry *entries;
	struct weir_flow_table *table;
	struct rte_hash *hash;
	uint64_t seed;
	uint64_t read; /* so that reading is not left out */
};

typedef void (*find_fn)(const struct bench *bench, const void **keys, uint32_t *numbers);

static void
find_in_table(const struct bench *bench, const void **keys, uint32_t *numbers)
{
	weir_flow_table_find(bench->table, keys, numbers, WEIR_FLOW_BULK);
}

static void
find_in_hash(const struct bench *bench, const void **keys, uint32_t *numbers)
{
	rte_hash_lookup_bulk(bench->hash, keys, WEIR_FLOW_BULK, (int32_t *)numbers);
}

static void
draw(struct bench *bench, struct weir_tuple *keys)
{
	for (unsigned int i = 0; i < WEIR_FLOW_BULK; i++)
		keys[i] = bench->entries[weir_mix(bench->seed++) % bench->flows].key;
}

static double
cycles_a_flow(struct bench *bench, find_fn find, bool read)
{
	uint64_t cycles = 0;

	for (unsigned int i = 0; i < BATCHES; i++) {
		struct weir_tuple drawn[WEIR_FLOW_BULK];
		const void *keys[WEIR_FLOW_BULK];
		uint32_t numbers[WEIR_FLOW_BULK];
		uint64_t begin;

		draw(bench, drawn);
		for (unsigned int j = 0; j < WEIR_FLOW_BULK; j++)
			keys[j] = &drawn[j];
		begin = rte_rdtsc_precise();
		find(bench, keys, numbers);
		for (unsigned int j = 0; read && j < WEIR_FLOW_BULK; j++)
			bench->read += bench->entries[numbers[j]].packets;
		cycles += rte_rdtsc_precise() - begin;
		for (unsigned int j = 0; j < WEIR_FLOW_BULK; j++) {
			if (numbers[j] >= bench->flows)
				rte_exit(1, "flow-table-bench: a flow is not found\n");
		}
	}
	return (double)cycles / LOOKUPS_A_ROUND;
}

/* rte_hash gives its own numbers: entries are written where it says, and the index follows. */
static void
fill(struct bench *bench)
{
	for (uint32_t i = 0; i < bench->flows; i++) {
		uint64_t one = weir_mix(2 * i + 1), other = weir_mix(2 * i + 2);
		struct weir_tuple key = {
			.src_ip = one,
			.dst_ip = one >> 32,
			.src_port = other,
			.dst_port = other >> 16,
			.protocol = 17,
		};
		int32_t number = rte_hash_add_key(bench->hash, &key);

		if (number < 0 || (uint32_t)number >= bench->flows)
			rte_exit(1, "flow-table-bench: rte_hash has no room for flow %u\n", i);
		bench->entries[number].key = key;
		if (!weir_flow_table_put(bench->table, number))
			rte_exit(1, "flow-table-bench: the index has no room for flow %u\n", i);
	}
}

static void
make(struct bench *bench)
{
	const struct rte_hash_parameters parameters = {
		.name = "peer",
		.entries = bench->flows,
		.key_len = sizeof(struct weir_tuple),
		.hash_func = rte_hash_crc,
		.socket_id = SOCKET_ID_ANY,
		.extra_flag = RTE_HASH_EXTRA_FLAGS_EXT_TABLE, /* takes all that it has room for */
	};

	bench->entries =
		rte_zmalloc("entries", bench->flows * sizeof(struct entry), RTE_CACHE_LINE_SIZE);
	bench->hash = rte_hash_create(&parameters);
	if (bench->entries != NULL)
		bench->table =
			weir_flow_table_create(bench->flows, bench->entries, sizeof(struct entry));
	if (bench->hash == NULL || bench->table == NULL)
		rte_exit(1, "flow-table-bench: no memory for %u flows\n", bench->flows);
	fill(bench);
}

int
main(int argc, char **argv)
{
	static const find_fn finds[] = {find_in_table, find_in_hash};
	static struct bench bench;
	int used = rte_eal_init(argc, argv);

	if (used < 0 || argc - used != 3)
		rte_exit(2, "use: flow-table-bench EAL-ARGUMENTS -- FLOWS ROUNDS\n");
	bench.flows = strtoul(argv[used + 1], NULL, 10);
	make(&bench);
	for (unsigned int round = 0; round < strtoul(argv[used + 2], NULL, 10); round++) {
		double cycles[2][2];

		for (unsigned int i = 0; i < 4; i++) {
			unsigned int which = (i + round) % 2;

			cycles[i / 2][which] = cycles_a_flow(&bench, finds[which], i / 2);
		}
		printf("{\"flow_table\": %.2f, \"rte_hash\": %.2f, \"flow_table_read\": %.2f, "
		       "\"rte_hash_read\": %.2f}\n",
		       cycles[0][0], cycles[0][1], cycles[1][0], cycles[1][1]);
	}
	rte_eal_cleanup();
	return 0;
}
