/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entries of the fast path as rules in a network card, which forwards their packets from one of its
 * ports to another by itself (`transfer` rules of rte_flow). Of each the card's driver says whether
 * it takes it; what it refuses stays in software.
 *
 * No card has ever run this: it was tested with one that is a program, which does what the rules
 * say, and with drivers that take none.
 */
#ifndef WEIR_PORT_CARD_RULES_OFFLOAD_H
#define WEIR_PORT_CARD_RULES_OFFLOAD_H

#include "engine/error.h"
#include "engine/offload.h"

struct weir_card_config {
	uint16_t in;	     /* a port of DPDK */
	const uint16_t *out; /* by output; WEIR_OUTPUTS_MAX at most */
	unsigned int out_count;
	uint32_t flows;	      /* entries at most */
	uint32_t packets_min; /* see struct weir_offload */
	const char *where;    /* of the request, for errors */
};

/* NULL with `error`: a driver without rte_flow, no port that its card's switch obeys, a port out
 * with a smaller MTU than the port in (no rule asks for a length), or no memory. */
struct weir_offload *weir_card_offload_open(const struct weir_card_config *config,
					    struct weir_error *error);

#endif
