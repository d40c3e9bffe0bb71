/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How stations of one link find each other: ARP (RFC 826, as of IPv4 over Ethernet) and the
 * solicitations and advertisements of Neighbor Discovery (RFC 4861), read and written as one kind
 * of message.
 */
#ifndef WEIR_PACKET_NEIGHBOUR_MESSAGE_H
#define WEIR_PACKET_NEIGHBOUR_MESSAGE_H

#include <rte_ether.h>
#include <rte_mbuf.h>

#include "headers.h"
#include "ip_address.h"

enum weir_neighbour_kind {
	WEIR_NEIGHBOUR_NONE,	      /* another frame */
	WEIR_NEIGHBOUR_INVALID,	      /* ARP or ND, but not as it must be: to be dropped */
	WEIR_NEIGHBOUR_UNKNOWN,	      /* of ND, none of these two: routers, redirects */
	WEIR_NEIGHBOUR_SOLICITATION,  /* ARP request */
	WEIR_NEIGHBOUR_ADVERTISEMENT, /* ARP reply */
};

struct weir_neighbour_message {
	/* Who sent it; of a solicitation from :: or 0.0.0.0 (duplicate address detection, RFC 4862;
	 * probes, RFC 5227) none. Of an advertisement of ND: `target`. */
	struct weir_ip_address sender;
	/* Whose link-layer address it is about; of an ARP reply whom that is for. */
	struct weir_ip_address target;
	struct rte_ether_addr mac; /* of the sender, or advertised; zero: not said */
	bool solicited, override;  /* flags of an advertisement (RFC 4861, 4.4); of ARP: set */
	uint16_t l3_offset;	   /* behind the VLAN tags */
};

/*
 * Reads it. Invalid is what RFC 4861, 7.1, says: a hop limit other than 255, a wrong checksum, an
 * option of length 0 or cut, a target that is a group; and ARP of other lengths or kinds, or with
 * the address of a group as a sender's.
 */
enum weir_neighbour_kind weir_neighbour_message_parse(const struct rte_mbuf *packet,
						      const struct weir_headers *headers,
						      struct weir_neighbour_message *message);

/*
 * Makes the packet the answer of `mac` to the solicitation that it was: an ARP reply, or an
 * advertisement with R and O, and S where it was from an address (RFC 4861, 7.2.4), with the tags
 * that it had. False: the buffer has no room.
 */
bool weir_neighbour_answer(struct rte_mbuf *packet, const struct weir_neighbour_message *message,
			   const struct rte_ether_addr *mac);

/*
 * Makes a fresh packet ask for `target`, from `source` at `mac`: all (ARP broadcast, solicited-node
 * group), or with `at` that station alone, whether it is still there. False: no room.
 */
bool weir_neighbour_solicit(struct rte_mbuf *packet, const struct weir_ip_address *target,
			    const struct weir_ip_address *source, const struct rte_ether_addr *mac,
			    const struct rte_ether_addr *at);

#endif
