/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The external ports of one protocol: which are free, and which one an inside endpoint gets.
 *
 * Ports are divided into lanes: the lane of a port is (port / 2 + the number of its address) modulo
 * the number of lanes, so each lane has as many even ports as odd ones. An inside endpoint belongs
 * to the lane of its own port at its home address, and only gets ports of that; so the lane of a
 * packet is known on either side without a look-up, and workers that own different lanes never
 * meet.
 *
 * The rule, which depends on nothing but what is free:
 *  1. the endpoint's own port at its home address;
 *  2. the first free port of its lane and parity at its home address, from its start on, around;
 *  3. the same at the other addresses, in their order from the next one on, around;
 *  4. 2 and 3 with the other parity.
 * All within the endpoint's range (RFC 4787, REQ-3a): ports below 1024 for one that is below 1024,
 * and then, if there is none, 1024 and above; only 1024 and above for the others.
 *
 * Free ports are bits, under a tree of words of which each bit says whether a word below has one:
 * finding the next is at most nine words read, however full the pool is.
 */
#ifndef WEIR_NF_NAT_PORT_POOL_H
#define WEIR_NF_NAT_PORT_POOL_H

#include <stdbool.h>
#include <stdint.h>

#define NAT_LANES_MAX 64
#define NAT_LEVELS 5
#define NAT_LOW_PORTS 1024

struct nat_free_bits {
	uint64_t *level[NAT_LEVELS]; /* [0]: the bits themselves */
	unsigned int levels;
};

struct nat_ports {
	uint32_t addresses;
	uint32_t lane_bits; /* lanes = 1 << lane_bits */
	uint16_t port_min, port_max;
	struct nat_free_bits range[2]; /* below 1024; 1024 and above */
};

/* What the rule asks of an inside endpoint. */
struct nat_port_wish {
	uint32_t home;	/* an address, by its number */
	uint32_t start; /* any number */
	uint16_t port;	/* host byte order */
};

/* Of a port, in host byte order, of the external address of that number. */
static inline uint32_t
nat_port_lane(uint32_t address, uint16_t port, uint32_t lane_bits)
{
	return ((port >> 1) + address) & ((1U << lane_bits) - 1);
}

/* All ports from `port_min` to `port_max` free. -1: no memory, and nothing is kept. */
int nat_ports_init(struct nat_ports *ports, uint32_t addresses, uint32_t lane_bits,
		   uint16_t port_min, uint16_t port_max);
void nat_ports_fini(struct nat_ports *ports);

/* Takes a port by the rule. False: the lane has none left in the endpoint's range. */
bool nat_ports_take(struct nat_ports *ports, const struct nat_port_wish *wish, uint32_t *address,
		    uint16_t *port);
/* Takes that port, free or not: for one that an operator gives away. */
void nat_ports_reserve(struct nat_ports *ports, uint32_t address, uint16_t port);
/* Gives a port back; one outside [port_min, port_max] does not become free. */
void nat_ports_give(struct nat_ports *ports, uint32_t address, uint16_t port);

#endif
