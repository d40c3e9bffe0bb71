/* SPDX-License-Identifier: Apache-2.0 */
#include "port_pool.h"

#include <rte_common.h>
#include <rte_malloc.h>

#define PORTS 65536
#define NOWHERE UINT32_MAX

static int
bits_init(struct nat_free_bits *bits, uint32_t count)
{
	do {
		uint32_t words = (count + 63) / 64;

		bits->level[bits->levels] = rte_zmalloc("nat_ports", words * sizeof(uint64_t), 0);
		if (bits->level[bits->levels] == NULL)
			return -1;
		bits->levels++;
		count = words;
	} while (count > 1);
	return 0;
}

static bool
is_free(const struct nat_free_bits *bits, uint32_t index)
{
	return (bits->level[0][index / 64] >> (index % 64) & 1) != 0;
}

static void
set_free(struct nat_free_bits *bits, uint32_t index)
{
	for (unsigned int i = 0; i < bits->levels; i++, index /= 64)
		bits->level[i][index / 64] |= 1ULL << (index % 64);
}

static void
set_taken(struct nat_free_bits *bits, uint32_t index)
{
	for (unsigned int i = 0; i < bits->levels; i++, index /= 64) {
		uint64_t *word = &bits->level[i][index / 64];

		*word &= ~(1ULL << (index % 64));
		if (*word != 0)
			return;
	}
}

/* The first free bit in [from, end), or NOWHERE: up until a word has one, then down to it. */
static uint32_t
next_free(const struct nat_free_bits *bits, uint32_t from, uint32_t end)
{
	uint32_t index = from;

	if (from >= end)
		return NOWHERE;
	for (unsigned int i = 0; i < bits->levels; i++) {
		uint64_t word;

		if (index > (end - 1) >> (6 * i))
			return NOWHERE;
		word = bits->level[i][index / 64] & (UINT64_MAX << (index % 64));
		if (word == 0) {
			index = index / 64 + 1;
			continue;
		}
		index = index / 64 * 64 + (uint32_t)__builtin_ctzll(word);
		while (i-- > 0)
			index = index * 64 + (uint32_t)__builtin_ctzll(bits->level[i][index]);
		return index < end ? index : NOWHERE;
	}
	return NOWHERE;
}

/* Ports of one lane, parity and address in a range: neighbours among the bits. */
static uint32_t
run_length(const struct nat_ports *ports, bool high)
{
	return (high ? PORTS - NAT_LOW_PORTS : NAT_LOW_PORTS) >> (ports->lane_bits + 1);
}

static uint32_t
index_of(const struct nat_ports *ports, uint32_t address, uint16_t port)
{
	bool high = port >= NAT_LOW_PORTS;
	uint32_t lane = nat_port_lane(address, port, ports->lane_bits);
	uint32_t within = (port - (high ? NAT_LOW_PORTS : 0U)) >> (ports->lane_bits + 1);

	return ((lane * 2 + port % 2) * ports->addresses + address) * run_length(ports, high) +
	       within;
}

static void
port_at(const struct nat_ports *ports, bool high, uint32_t index, uint32_t *address, uint16_t *port)
{
	uint32_t length = run_length(ports, high);
	uint32_t group = index / length / ports->addresses;
	uint32_t half_port;

	*address = index / length % ports->addresses;
	half_port = (group / 2 - *address) & ((1U << ports->lane_bits) - 1);
	*port = (high ? NAT_LOW_PORTS : 0) + (index % length << (ports->lane_bits + 1)) +
		2 * half_port + group % 2;
}

int
nat_ports_init(struct nat_ports *ports, uint32_t addresses, uint32_t lane_bits, uint16_t port_min,
	       uint16_t port_max)
{
	*ports = (struct nat_ports){
		.addresses = addresses,
		.lane_bits = lane_bits,
		.port_min = port_min,
		.port_max = port_max,
	};
	if (bits_init(&ports->range[0], addresses * NAT_LOW_PORTS) < 0 ||
	    bits_init(&ports->range[1], addresses * (PORTS - NAT_LOW_PORTS)) < 0) {
		nat_ports_fini(ports);
		return -1;
	}
	for (uint32_t address = 0; address < addresses; address++) {
		for (uint32_t port = port_min; port <= port_max; port++)
			nat_ports_give(ports, address, port);
	}
	return 0;
}

void
nat_ports_fini(struct nat_ports *ports)
{
	for (unsigned int range = 0; range < RTE_DIM(ports->range); range++) {
		for (unsigned int i = 0; i < NAT_LEVELS; i++)
			rte_free(ports->range[range].level[i]);
		ports->range[range] = (struct nat_free_bits){0};
	}
}

/* Steps 2 and 3 of the rule. */
static uint32_t
first_free(const struct nat_ports *ports, bool high, bool odd, const struct nat_port_wish *wish)
{
	const struct nat_free_bits *bits = &ports->range[high];
	uint32_t length = run_length(ports, high);
	uint32_t lane = nat_port_lane(wish->home, wish->port, ports->lane_bits);
	uint32_t begin = (lane * 2 + odd) * ports->addresses * length;
	uint32_t end = begin + ports->addresses * length;
	uint32_t home = begin + wish->home * length;
	uint32_t start = home + wish->start % length;
	uint32_t found = next_free(bits, start, home + length);

	if (found == NOWHERE)
		found = next_free(bits, home, start);
	if (found == NOWHERE)
		found = next_free(bits, home + length, end);
	if (found == NOWHERE)
		found = next_free(bits, begin, home);
	return found;
}

bool
nat_ports_take(struct nat_ports *ports, const struct nat_port_wish *wish, uint32_t *address,
	       uint16_t *port)
{
	bool own_range = wish->port >= NAT_LOW_PORTS;
	uint32_t same = index_of(ports, wish->home, wish->port);

	if (is_free(&ports->range[own_range], same)) {
		set_taken(&ports->range[own_range], same);
		*address = wish->home;
		*port = wish->port;
		return true;
	}
	for (unsigned int high = own_range; high <= 1; high++) {
		for (unsigned int other = 0; other <= 1; other++) {
			bool odd = (wish->port + other) % 2 != 0;
			uint32_t index = first_free(ports, high, odd, wish);

			if (index == NOWHERE)
				continue;
			set_taken(&ports->range[high], index);
			port_at(ports, high, index, address, port);
			return true;
		}
	}
	return false;
}

void
nat_ports_reserve(struct nat_ports *ports, uint32_t address, uint16_t port)
{
	set_taken(&ports->range[port >= NAT_LOW_PORTS], index_of(ports, address, port));
}

void
nat_ports_give(struct nat_ports *ports, uint32_t address, uint16_t port)
{
	if (port >= ports->port_min && port <= ports->port_max)
		set_free(&ports->range[port >= NAT_LOW_PORTS], index_of(ports, address, port));
}
