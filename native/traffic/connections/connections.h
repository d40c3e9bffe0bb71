/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections: TCP sessions and UDP exchanges, emulated packet by packet between two ports of the
 * tester. Control thread API; plain C, no JSON.
 *
 * Clients open connections to servers at a rate of new connections a second: SYN, SYN-ACK, ACK; a
 * request and its answer in segments of the MSS, as often as the service says, with time to think
 * between them; FIN both ways, or RST (RFC 9293). What is lost is sent again after a time-out that
 * doubles (RFC 6298), or after three duplicate acknowledgements (RFC 5681), from the first byte
 * that is not acknowledged; what comes out of order is not kept. The window is a constant
 * WEIR_CONNECTION_WINDOW segments. Every byte of a payload is checked.
 *
 * Servers are told nothing: a request says how long it and its answer are. So a function between
 * them may translate addresses and ports: clients know their connections by their own address and
 * port, servers by what they see. Clients are of IPv4 or of IPv6; servers answer in the version
 * that arrives.
 *
 * Of the clients, at any time: opened = completed + the sum of failed + open.
 */
#ifndef WEIR_TRAFFIC_CONNECTIONS_CONNECTIONS_H
#define WEIR_TRAFFIC_CONNECTIONS_CONNECTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_ether.h>

#include "engine/area.h"
#include "engine/error.h"
#include "engine/queue.h"
#include "prefixes.h"
#include "traffic/traffic.h"

#define WEIR_SERVICES_MAX 16
#define WEIR_SOURCES_MAX (1u << 24) /* addresses x ports of the clients */
#define WEIR_CONNECTION_WINDOW 10   /* segments: RFC 6928 */
#define WEIR_CONNECTION_MSS_MIN 64
#define WEIR_CONNECTION_MSS_MAX 1460
#define WEIR_CONNECTION_IPV6_MSS_MAX 1440
#define WEIR_REQUEST_BYTES_MIN 16 /* what says the length of the answer */
#define WEIR_MESSAGE_BYTES_MAX (1u << 30)
#define WEIR_DATAGRAM_BYTES_MAX 1472
#define WEIR_DATAGRAM_IPV6_BYTES_MAX 1452
#define WEIR_CONNECTION_RETRIES_MAX 7
#define WEIR_CONNECTION_RATE_MAX 1e8 /* new ones a second */

/* What a connection is for. A datagram that is not answered is sent again, too. */
struct weir_service {
	bool udp;
	bool reset; /* the client closes with RST, not FIN */
	uint16_t port;
	uint16_t transactions; /* of each connection, 1 at least */
	uint32_t weight;       /* 1 at least */
	uint32_t request_bytes, answer_bytes;
	uint64_t think_ns; /* between an answer and the next request */
};

/* One packet of 1,500 bytes. */
static inline uint32_t
weir_datagram_bytes_max(bool ipv6)
{
	return ipv6 ? WEIR_DATAGRAM_IPV6_BYTES_MAX : WEIR_DATAGRAM_BYTES_MAX;
}

struct weir_end {
	uint16_t port_id;
	struct rte_ether_addr src_mac, dst_mac;
	uint16_t vlan; /* 0: none */
};

struct weir_connections_config {
	struct weir_end clients, servers;
	/* First address, host order, and how many there are; of IPv6 its last 32 bits, and what is
	 * in front of them: `peer` the servers', `own` the clients'. */
	bool ipv6;
	struct weir_prefix_pair prefixes;
	uint32_t source, source_count;
	uint16_t source_port_first, source_port_last;
	uint32_t destination, destination_count;
	uint16_t mss;
	uint8_t retries;	    /* of one packet, before the connection has failed */
	uint64_t retransmit_ns;	    /* the first time-out */
	unsigned int service_count; /* 1 at least */
	struct weir_service services[WEIR_SERVICES_MAX];
	uint64_t seed;
};

/* Areas: clients at one port and servers at one other, created by `configure`; each takes packets
 * from its port and gives it some. NULL with `error`. */
struct weir_area *weir_clients_create(const char *name, unsigned int core,
				      const struct weir_queue *queue, uint16_t port_id,
				      struct weir_error *error);
void weir_clients_destroy(struct weir_area *area);
struct weir_area *weir_servers_create(const char *name, unsigned int core,
				      const struct weir_queue *queue, uint16_t port_id,
				      struct weir_error *error);
void weir_servers_destroy(struct weir_area *area);

/* Sets who connects to whom. Not while connections are made. -1 with `error`: nothing has changed.
 */
int weir_connections_configure(const struct weir_connections_config *config,
			       struct weir_error *error);

struct weir_connections_run {
	double rate; /* new connections a second; 0: as fast as the core can */
	bool poisson;
	uint64_t duration_ns;
	uint64_t connections; /* no more than these; 0: the duration decides */
	/* Connections begin transactions until the duration is over, whatever their service says:
	 * so many are open at the same time. Then they close; those that think do in the first half
	 * of drain_ns. */
	bool hold;
	/* With it: so many transactions a second over all connections that are open, begun when
	 * they are due on the one that is idle for longest, from transactions_after_ns to the end
	 * of the duration; one that is due while none is idle is missed. 0: each connection begins
	 * its next as its service says. */
	double transaction_rate;
	uint64_t transactions_after_ns;
	/* After the duration, for what is open; then it stays open, as counted. */
	uint64_t drain_ns;
};

/* -1 with `error`: not configured, or one goes on. */
int weir_connections_start(const struct weir_connections_run *run, struct weir_error *error);
/* Looks at the counters; ends the drain. Call it every few milliseconds while it goes on. */
enum weir_run_state weir_connections_poll(void);
/* The loops have stopped. */
void weir_connections_stop(void);
/* Forgets what was configured; before the areas are destroyed. */
void weir_connections_clear(void);

/* Why a connection failed. */
enum weir_failure {
	WEIR_FAILED_NO_ANSWER,	  /* one packet was sent again as often as allowed */
	WEIR_FAILED_RESET,	  /* RST */
	WEIR_FAILED_CLOSED_EARLY, /* FIN before the last answer */
	WEIR_FAILED_BAD_PAYLOAD,  /* bytes that the server did not send */
	WEIR_FAILED_OUT_OF_PORTS, /* every address and port of the clients had a connection */
	WEIR_FAILURES
};
extern const char *const weir_failure_names[WEIR_FAILURES];

struct weir_side_count {
	uint64_t opened;      /* of servers: SYNs of new connections */
	uint64_t established; /* TCP handshakes */
	uint64_t completed;
	uint64_t failed[WEIR_FAILURES];
	uint64_t open;
	uint64_t transactions;
	uint64_t retransmissions;			     /* packets */
	uint64_t tx_packets, tx_bytes, rx_packets, rx_bytes; /* L2 bytes with FCS */
	uint64_t tx_refused;	/* of tx_packets: not taken by the port, and freed */
	uint64_t payload_bytes; /* received, in order, once */
	uint64_t out_of_order;	/* packets with data that came before or after their turn */
	uint64_t bad_checksum;	/* of IP, TCP or UDP; such packets are not looked at further */
	uint64_t not_ours;	/* neither TCP nor UDP of IP, or no connection's */
	uint64_t no_room; /* servers: SYNs for which there was no place in the table, and packets of
			   * IPv6 between prefixes of which 255 pairs were known before */
};

struct weir_service_count {
	uint64_t opened, completed, failed, transactions;
};

struct weir_connections_count {
	uint64_t intended;    /* once it is done; until then 0 */
	uint64_t duration_ns; /* from the start until the last was opened */
	uint64_t open_most;   /* at the same time */
	/* With a rate of transactions: due in all, once it is done; of those begun or missed. */
	uint64_t transactions_intended, transactions_begun, transactions_missed;
	struct weir_side_count clients, servers;
	unsigned int service_count;
	struct weir_service_count services[WEIR_SERVICES_MAX];
	/* From the first SYN to the SYN-ACK; from the beginning of a request to the first and to
	 * the last byte of its answer, retransmissions in it. */
	struct weir_latency_ns connect, first_byte, transaction;
};

/* Of the last run, or of the one that goes on. */
void weir_connections_counted(struct weir_connections_count *count);

#endif
