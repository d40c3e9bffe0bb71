/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the balancer share: its state, its connections, its drop reasons. */
#ifndef WEIR_NF_LB_LB_H
#define WEIR_NF_LB_LB_H

#include "engine/flow_cache.h"
#include "packet/flow_table.h"
#include "engine/nf.h"
#include "toolkit/held_fragments.h"
#include "toolkit/session_timeouts.h"
#include "services.h"

enum lb_drop {
	LB_DROP_MALFORMED,
	LB_DROP_NOT_FOR_SERVICE,
	LB_DROP_NO_BACKEND,
	LB_DROP_OTHER_BACKEND,
	LB_DROP_TABLE_FULL,
	LB_DROP_IPV6,
	LB_DROP_FRAGMENT_TIMEOUT,
	LB_DROP_FRAGMENTS_FULL,
};

enum lb_connection_flag {
	LB_CLIENT_SPOKE = 1 << 0, /* behind its SYN: the connection is open */
	LB_FIN_OUTBOUND = 1 << 1,
	LB_FIN_INBOUND = 1 << 2,
	LB_RESET = 1 << 3,
};

struct lb_connection {
	struct weir_tuple key; /* of the client's packets; protocol 0: free */
	struct weir_counter counter;
	struct weir_invalidation_list invalidation;
	uint16_t backend;
	uint16_t generation;	/* of the back-end: another one means that it was removed */
	uint32_t active_at;	/* in weir_session_time(): when a sweep last saw a packet */
	uint32_t next_free;	/* of the free ones */
	uint64_t swept_packets; /* the counter at the last sweep */
	uint8_t flags;		/* enum lb_connection_flag */
	uint8_t zero[7];
};
static_assert(sizeof(struct lb_connection) == 64, "one cache line");

enum lb_other { LB_OTHER_FORWARD, LB_OTHER_DROP };
enum lb_when_full { LB_FULL_STATELESS, LB_FULL_DROP };

struct lb {
	/* What every batch reads. */
	struct lb_set *set;
	struct weir_flow_table *index; /* of connections, by key */
	struct lb_connection *connections;
	struct weir_fragments *fragments;
	uint64_t connection_count;
	uint32_t first_free;
	uint32_t sweep_at;
	uint64_t flush_left;	/* places that the sweep is to empty where no packet comes */
	unsigned int other;	/* enum lb_other */
	unsigned int ipv6;	/* enum weir_unknown_ipv6 */
	unsigned int when_full; /* enum lb_when_full */
	struct {
		uint32_t tcp, syn, fin, udp; /* in weir_session_time() */
	} timeouts;
	/* Options. */
	uint64_t table_size;
	uint64_t connections_max;
	uint64_t tcp_timeout_s;
	uint64_t syn_timeout_s;
	uint64_t fin_timeout_s;
	uint64_t udp_timeout_s;
	struct weir_fragment_options fragment_options;
	struct weir_counter sent[LB_BACKENDS_MAX]; /* to and from each back-end */
	char services[WEIR_OPTION_TEXT_BYTES];
	char services_file[WEIR_OPTION_TEXT_BYTES];
};

/* connections.c */

/* Makes the empty table. -1 with `error`. */
int lb_connections_init(struct lb *lb, const char *where, struct weir_error *error);
void lb_connections_fini(struct lb *lb);
/* The connection under `key`, or NULL. */
struct lb_connection *lb_connection_find(struct lb *lb, const struct weir_tuple *key);
/* A new connection, not yet with any back-end; NULL: the table is full. */
struct lb_connection *lb_connection_create(struct lb *lb, const struct weir_tuple *key,
					   uint64_t now_tsc);
/* Ends those that were idle too long; a part of the table a call, all of it in 1,000. */
void lb_connections_sweep(struct lb *lb, uint64_t now_tsc, struct weir_flow_cache *cache);

/* decide.c */

void lb_decide(void *state, const struct weir_batch *batch, struct weir_action *actions);

/* rare.c: fragments without ports, ICMP errors, whatever is for no service. */

void lb_decide_rare(struct lb *lb, const struct weir_batch *batch, uint16_t index,
		    struct weir_action *action);
/* For the later fragments of this first one: the address that `action` writes, or why it drops. */
void lb_remember_fragment(struct lb *lb, const struct weir_batch *batch, uint16_t index,
			  struct weir_action *action);
void lb_decide_other(const struct lb *lb, struct weir_action *action);

/* report.c */

void lb_report(const void *state, struct weir_report *report);

/* commands.c */

extern const struct weir_command lb_commands[4];

/* To the back-end, or from the service. */
static inline void
lb_set_destination(struct weir_action *action, const struct lb_endpoint *backend)
{
	action->set = WEIR_SET_DST_IP | WEIR_SET_DST_PORT;
	action->dst_ip = backend->ip;
	action->dst_port = backend->port;
}

static inline void
lb_set_source(struct weir_action *action, const struct lb_endpoint *vip)
{
	action->set = WEIR_SET_SRC_IP | WEIR_SET_SRC_PORT;
	action->src_ip = vip->ip;
	action->src_port = vip->port;
}

static inline struct lb_endpoint
lb_source_of(const struct weir_tuple *tuple, enum lb_role role)
{
	return (struct lb_endpoint){tuple->src_ip, tuple->src_port, tuple->protocol, role};
}

static inline struct lb_endpoint
lb_destination_of(const struct weir_tuple *tuple, enum lb_role role)
{
	return (struct lb_endpoint){tuple->dst_ip, tuple->dst_port, tuple->protocol, role};
}

/* What the client of a packet from a back-end sends to the service: the key of its connection. */
static inline struct weir_tuple
lb_key_of_reply(const struct weir_tuple *reply, const struct lb_endpoint *vip)
{
	return (struct weir_tuple){
		.src_ip = reply->dst_ip,
		.dst_ip = vip->ip,
		.src_port = reply->dst_port,
		.dst_port = vip->port,
		.protocol = reply->protocol,
	};
}

/* Both sides have said FIN, or one RST. */
static inline bool
lb_is_closed(const struct lb_connection *connection)
{
	const uint8_t both = LB_FIN_OUTBOUND | LB_FIN_INBOUND;

	return (connection->flags & LB_RESET) != 0 || (connection->flags & both) == both;
}

/* The connection's back-end is still in the set. */
static inline bool
lb_has_backend(const struct lb *lb, const struct lb_connection *connection)
{
	return lb->set->backends[connection->backend].generation == connection->generation;
}

#endif
