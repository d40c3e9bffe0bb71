/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prefix-table-bench: this project's table of IPv4 routes and DPDK's rte_fib (DIR-24-8, entries of
 * four bytes), each with the same routes, in turn.
 *
 *   prefix-table-bench EAL-ARGUMENTS -- ROUTES ROUNDS
 *
 * Routes are drawn at random, with lengths as in a full Internet table; destinations at random
 * among them, looked up 32 at a time. First a line of JSON of what was built: {"NAME_add_us": a
 * route, "NAME_mib"}; then one a round: {"NAME": cycles a look-up}.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_fib.h>
#include <rte_malloc.h>

#include "packet/mix.h"
#include "prefix_table.h"

#define LOOKUPS_A_ROUND (1 << 20)
#define GROUPS 32768
#define NEXT_HOPS 1024

struct bench {
	uint32_t routes;
	struct weir_ip_prefix *prefixes;
	uint32_t *destinations; /* host byte order, LOOKUPS_A_ROUND */
	struct weir_prefix_table table;
	struct rte_fib *fib;
	uint64_t seen; /* so that looking up is not left out */
};

static uint32_t
address_of(const struct weir_ip_prefix *prefix)
{
	uint32_t address;

	memcpy(&address, prefix->address, sizeof(address));
	return ntohl(address);
}

static uint8_t
draw_length(uint64_t random)
{
	static const struct {
		uint8_t below_percent, length;
	} shares[] = {{60, 24}, {70, 22}, {78, 23}, {84, 20},
		      {89, 21}, {93, 19}, {96, 18}, {98, 16}};

	for (unsigned int i = 0; i < RTE_DIM(shares); i++) {
		if (random % 100 < shares[i].below_percent)
			return shares[i].length;
	}
	return 25 + random / 100 % 8;
}

static void
draw(struct bench *bench)
{
	uint64_t seed = 1;

	for (uint32_t i = 0; i < bench->routes; i++) {
		uint8_t length = draw_length(weir_mix(seed++));
		uint32_t address = 0x01000000 + weir_mix(seed++) % 0xde000000;

		bench->prefixes[i].length = length;
		address = htonl(address & UINT32_MAX << (32 - length));
		memcpy(bench->prefixes[i].address, &address, sizeof(address));
	}
	for (uint32_t i = 0; i < LOOKUPS_A_ROUND; i++) {
		const struct weir_ip_prefix *prefix =
			&bench->prefixes[weir_mix(seed++) % bench->routes];
		uint64_t host = weir_mix(seed++) & ((UINT64_C(1) << (32 - prefix->length)) - 1);

		bench->destinations[i] = address_of(prefix) | host;
	}
}

/* Of the process, and of DPDK's heap in hugepages, which was taken before it was needed. */
static double
used_mib(void)
{
	struct rte_malloc_socket_stats heap = {0};
	FILE *file = fopen("/proc/self/statm", "r");
	unsigned long pages = 0;

	if (file == NULL || fscanf(file, "%*u %lu", &pages) != 1)
		rte_exit(1, "prefix-table-bench: /proc/self/statm cannot be read\n");
	fclose(file);
	rte_malloc_get_socket_stats(0, &heap);
	return (pages * sysconf(_SC_PAGESIZE) + heap.heap_allocsz_bytes) / (double)(1 << 20);
}

static void
fill_table(struct bench *bench)
{
	if (weir_prefix_table_init(&bench->table, bench->routes, GROUPS) < 0)
		rte_exit(1, "prefix-table-bench: no memory\n");
	for (uint32_t i = 0; i < bench->routes; i++) {
		if (weir_prefix_table_room(&bench->table, &bench->prefixes[i]) != WEIR_PREFIX_ROOM)
			rte_exit(1, "prefix-table-bench: no room for route %u\n", i);
		weir_prefix_table_add(&bench->table, &bench->prefixes[i], i % NEXT_HOPS);
	}
}

static void
fill_fib(struct bench *bench)
{
	struct rte_fib_conf conf = {
		.type = RTE_FIB_DIR24_8,
		.max_routes = bench->routes,
		.dir24_8 = {.nh_sz = RTE_FIB_DIR24_8_4B, .num_tbl8 = GROUPS},
	};

	bench->fib = rte_fib_create("peer", 0, &conf);
	if (bench->fib == NULL)
		rte_exit(1, "prefix-table-bench: no memory for rte_fib\n");
	for (uint32_t i = 0; i < bench->routes; i++) {
		if (rte_fib_add(bench->fib, address_of(&bench->prefixes[i]),
				bench->prefixes[i].length, i % NEXT_HOPS) != 0)
			rte_exit(1, "prefix-table-bench: rte_fib has no room for route %u\n", i);
	}
}

static void
build(struct bench *bench, void (*fill)(struct bench *bench), double *add_us, double *mib)
{
	double before_mib = used_mib();
	uint64_t begin = rte_rdtsc();

	fill(bench);
	*add_us = (rte_rdtsc() - begin) * 1e6 / rte_get_tsc_hz() / bench->routes;
	*mib = used_mib() - before_mib;
}

static double
time_table(struct bench *bench)
{
	uint64_t begin = rte_rdtsc_precise();

	for (uint32_t i = 0; i < LOOKUPS_A_ROUND; i += WEIR_PREFIX_LOOKUPS_MAX) {
		weir_prefix_found found[WEIR_PREFIX_LOOKUPS_MAX];

		for (uint32_t j = 0; j < WEIR_PREFIX_LOOKUPS_MAX; j++)
			weir_prefix_prefetch_ipv4(&bench->table, bench->destinations[i + j]);
		weir_prefix_lookup_ipv4(&bench->table, &bench->destinations[i], found,
					WEIR_PREFIX_LOOKUPS_MAX);
		for (uint32_t j = 0; j < WEIR_PREFIX_LOOKUPS_MAX; j++)
			bench->seen += weir_prefix_next_hop(found[j]);
	}
	return (double)(rte_rdtsc_precise() - begin) / LOOKUPS_A_ROUND;
}

static double
time_fib(struct bench *bench)
{
	uint64_t begin = rte_rdtsc_precise();

	for (uint32_t i = 0; i < LOOKUPS_A_ROUND; i += WEIR_PREFIX_LOOKUPS_MAX) {
		uint64_t found[WEIR_PREFIX_LOOKUPS_MAX];

		rte_fib_lookup_bulk(bench->fib, &bench->destinations[i], found,
				    WEIR_PREFIX_LOOKUPS_MAX);
		for (uint32_t j = 0; j < WEIR_PREFIX_LOOKUPS_MAX; j++)
			bench->seen += found[j];
	}
	return (double)(rte_rdtsc_precise() - begin) / LOOKUPS_A_ROUND;
}

int
main(int argc, char **argv)
{
	static struct bench bench;
	int used = rte_eal_init(argc, argv);
	double table_us, table_mib, fib_us, fib_mib;

	if (used < 0 || argc - used != 3)
		rte_exit(2, "use: prefix-table-bench EAL-ARGUMENTS -- ROUTES ROUNDS\n");
	bench.routes = strtoul(argv[used + 1], NULL, 10);
	bench.prefixes = calloc(bench.routes, sizeof(*bench.prefixes));
	bench.destinations = calloc(LOOKUPS_A_ROUND, sizeof(*bench.destinations));
	if (bench.routes == 0 || bench.prefixes == NULL || bench.destinations == NULL)
		rte_exit(1, "prefix-table-bench: no routes, or no memory\n");
	draw(&bench);
	build(&bench, fill_table, &table_us, &table_mib);
	build(&bench, fill_fib, &fib_us, &fib_mib);
	printf("{\"prefix_table_add_us\": %.2f, \"prefix_table_mib\": %.0f, "
	       "\"rte_fib_add_us\": %.2f, \"rte_fib_mib\": %.0f}\n",
	       table_us, table_mib, fib_us, fib_mib);
	for (unsigned int round = 0; round < strtoul(argv[used + 2], NULL, 10); round++) {
		double table = round % 2 == 0 ? time_table(&bench) : 0, fib = time_fib(&bench);

		if (round % 2 != 0)
			table = time_table(&bench);
		printf("{\"prefix_table\": %.2f, \"rte_fib\": %.2f}\n", table, fib);
	}
	rte_eal_cleanup();
	return 0;
}
