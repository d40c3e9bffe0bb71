/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The servers' connections, between the servers' own files: found by the five-tuple that arrives. A
 * datagram's answer needs no state.
 */
#pragma once

#include "packet/flow_table.h"
#include "side.h"

enum weir_served_state {
	WEIR_SERVED_FREE,
	WEIR_SERVED_SYN_RECEIVED,
	WEIR_SERVED_ESTABLISHED,
	WEIR_SERVED_LAST_ACK
};

struct weir_served {
	struct weir_tuple key; /* first: as it arrives */
	struct weir_tcp tcp;
	struct weir_link link;
};
static_assert(sizeof(struct weir_served) == 64, "one cache line");

struct weir_servers {
	struct weir_side side; /* first */
	uint32_t capacity;
	struct weir_served *served; /* NULL: not configured */
	struct weir_flow_table *table;
	uint32_t fresh;			  /* numbers from here on were not used in this run */
	uint32_t freed_first, freed_last; /* oldest first */
	bool has_changed;		  /* the table, since the burst was looked up */
};

static inline uint32_t
weir_served_number(const struct weir_servers *servers, const struct weir_served *one)
{
	return (uint32_t)(one - servers->served);
}

static inline struct weir_tuple
weir_served_back(const struct weir_tuple *tuple)
{
	return (struct weir_tuple){
		.src_ip = tuple->dst_ip,
		.dst_ip = tuple->src_ip,
		.src_port = tuple->dst_port,
		.dst_port = tuple->src_port,
		.protocol = tuple->protocol,
		.zero = {tuple->zero[0]},
	};
}

/* A connection with that key; NULL: no room. */
struct weir_served *weir_served_place(struct weir_servers *servers, const struct weir_tuple *key);

void weir_served_release(struct weir_servers *servers, struct weir_served *one);

/* Ended otherwise than it was meant to: the client is told by a reset. */
void weir_served_fail(struct weir_servers *servers, struct weir_served *one, enum weir_failure why);

/* For what was sent last, as long as its tries so far make it. */
void weir_served_wait_again(struct weir_servers *servers, struct weir_served *one,
			    uint64_t now_tsc);

/* Sends what the window of the answer lets it send. */
void weir_served_push(struct weir_servers *servers, struct weir_served *one);

/* What it waited for did not come in time. */
void weir_served_expire(struct weir_servers *servers, struct weir_served *one, uint64_t now_tsc);

/* A burst of what arrived; how many. */
uint32_t weir_servers_receive(struct weir_servers *servers, uint64_t now_tsc);
