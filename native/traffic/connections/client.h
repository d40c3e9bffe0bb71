/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The clients' connections, between the clients' own files. A connection is the number of its
 * source: address and port, so that one packet back is one look into the table. Sources are used in
 * turn, which leaves functions between the ends the longest time to forget the last connection of
 * each.
 */
#pragma once

#include "side.h"
#include "traffic/histogram.h"
#include "traffic/pacing.h"

enum weir_client_state {
	WEIR_CLIENT_FREE,
	WEIR_CLIENT_SYN_SENT,
	WEIR_CLIENT_WAITING, /* for an answer */
	WEIR_CLIENT_THINKING,
	WEIR_CLIENT_FIN_SENT,
	WEIR_CLIENT_FIN_ACKNOWLEDGED,
	WEIR_CLIENT_DATAGRAM_SENT,
	WEIR_CLIENT_DATAGRAM_THINKING
};

struct weir_connection {
	uint64_t since_tsc; /* the first SYN, then the beginning of the request */
	struct weir_tcp tcp;
	struct weir_link link;
	uint16_t left; /* transactions */
	uint8_t service;
	bool idle;	      /* in the list of those that wait for a transaction that is due */
	uint32_t destination; /* from the configuration's first */
};
static_assert(sizeof(struct weir_connection) == 64, "one cache line");

struct weir_clients {
	struct weir_side side; /* first */
	struct weir_connections_config config;
	uint8_t prefixes;      /* their number: 1 with IPv6, else 0 */
	uint32_t weights;      /* the sum */
	uint32_t source_count; /* addresses x ports */
	uint16_t source_ports;
	size_t memory_bytes;
	struct weir_connection *connections; /* NULL: not configured */
	/* Sources: those from fresh_at on, round and round, were not used in this run; those freed
	 * are a list, oldest first. */
	uint32_t fresh_at, fresh_left;
	uint32_t freed_first, freed_last;
	/* Open, and without a transaction: a list by link, which no timer has meanwhile; the one
	 * that waits for longest first. */
	uint32_t idle_first, idle_last;
	bool paced; /* transactions begin when they are due, not when a connection has time */
	struct weir_pacing transactions;
	uint64_t transactions_begun, transactions_missed;
	struct weir_pacing arrivals;
	uint64_t start_tsc, deadline_tsc, last_opened_tsc;
	bool hold;	 /* the duration is not over, and connections wait for that */
	bool all_opened; /* no more will be */
	uint64_t open_most;
	uint64_t hold_until_tsc;
	uint64_t closing_cycles; /* after it: until then those that think close */
	uint32_t turn;		 /* of destinations */
	struct weir_service_count services[WEIR_SERVICES_MAX];
	struct weir_histogram connect, first_byte, transaction;
};

static inline uint32_t
weir_client_number(const struct weir_clients *clients, const struct weir_connection *connection)
{
	return (uint32_t)(connection - clients->connections);
}

static inline struct weir_tuple
weir_client_tuple(const struct weir_clients *clients, const struct weir_connection *connection)
{
	const struct weir_connections_config *config = &clients->config;
	const struct weir_service *service = &config->services[connection->service];
	uint32_t number = weir_client_number(clients, connection);

	return (struct weir_tuple){
		.src_ip = rte_cpu_to_be_32(config->source + number % config->source_count),
		.dst_ip = rte_cpu_to_be_32(config->destination + connection->destination),
		.src_port = rte_cpu_to_be_16(
			(uint16_t)(config->source_port_first + number / config->source_count)),
		.dst_port = rte_cpu_to_be_16(service->port),
		.protocol = service->udp ? IPPROTO_UDP : IPPROTO_TCP,
		.zero = {clients->prefixes},
	};
}

/* Ended as it was meant to: counted, and its source is free. */
void weir_client_complete(struct weir_clients *clients, struct weir_connection *connection);

/* Ended otherwise: the server is told by a reset where it may still know of it. */
void weir_client_fail(struct weir_clients *clients, struct weir_connection *connection,
		      enum weir_failure why);

void weir_client_wait_for(struct weir_clients *clients, struct weir_connection *connection,
			  uint64_t at_tsc);

/* For what was sent last, as long as its tries so far make it. */
void weir_client_wait_again(struct weir_clients *clients, struct weir_connection *connection,
			    uint64_t now_tsc);

/* Sends what the window of the request lets it send. */
void weir_client_push(struct weir_clients *clients, struct weir_connection *connection);

void weir_client_begin_transaction(struct weir_clients *clients, struct weir_connection *connection,
				   uint64_t now_tsc);

/* It is open: its first transaction begins, or it is idle until one is due. */
void weir_client_opened(struct weir_clients *clients, struct weir_connection *connection,
			uint64_t now_tsc);

/* To the end of the idle ones, without a timer. */
void weir_client_add_idle(struct weir_clients *clients, struct weir_connection *connection);

/* Of any connection: it is not among the idle ones. */
void weir_client_remove_idle(struct weir_clients *clients, struct weir_connection *connection);

/* Of paced transactions those that are due begin, on the connections that are idle for longest;
 * once no more will be due, idle connections close. How much was done. */
uint32_t weir_clients_begin_due(struct weir_clients *clients, uint64_t now_tsc);

/* Whether open connections need no longer wait. Paced transactions that are due with the end still
 * begin, until they are too late to count. */
bool weir_clients_hold_is_over(const struct weir_clients *clients, uint64_t now_tsc);

/* The answer is whole. */
void weir_client_end_transaction(struct weir_clients *clients, struct weir_connection *connection,
				 uint64_t now_tsc);

/* Takes a source and sends the first packet; counted as failed where no source is free. */
void weir_client_open(struct weir_clients *clients, uint64_t now_tsc);

/* What it waited for did not come in time. */
void weir_client_expire(struct weir_clients *clients, struct weir_connection *connection,
			uint64_t now_tsc);

/* A burst of what arrived; how many. */
uint32_t weir_clients_receive(struct weir_clients *clients, uint64_t now_tsc);
