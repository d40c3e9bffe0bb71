/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this folder share: the state of a NAT, its mappings and what they know of
 * remote endpoints. Addresses and ports are in network byte order unless said otherwise. */
#ifndef WEIR_NF_NAT_NAT_H
#define WEIR_NF_NAT_NAT_H

#include <assert.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include <rte_byteorder.h>
#include <rte_common.h>
#include <rte_hash.h>

#include "engine/flow_cache.h"
#include "packet/flow_table.h"
#include "packet/mix.h"
#include "toolkit/held_fragments.h"
#include "toolkit/session_timeouts.h"
#include "engine/nf.h"

#include "pairs.h"
#include "port_pool.h"
#include "spans.h"

#define NAT_STATICS_MAX 1024
#define NAT_NONE UINT32_MAX /* no mapping, no remote */

enum nat_drop {
	NAT_DROP_NOT_IPV4,
	NAT_DROP_MALFORMED,
	NAT_DROP_TRUNCATED,
	NAT_DROP_PROTOCOL,
	NAT_DROP_NO_MAPPING,
	NAT_DROP_FILTERED,
	NAT_DROP_PORTS_EXHAUSTED,
	NAT_DROP_SESSIONS_EXHAUSTED,
	NAT_DROP_REMOTES_EXHAUSTED,
	NAT_DROP_SUBSCRIBER_LIMIT,
	NAT_DROP_FRAGMENT_UNKNOWN,
	NAT_DROP_FRAGMENT_TIMEOUT,
	NAT_DROP_FRAGMENTS_FULL,
	NAT_DROP_ICMP,
	NAT_DROP_OTHER_WORKER,
};

enum nat_filtering { NAT_FILTER_NONE, NAT_FILTER_ADDRESS, NAT_FILTER_ADDRESS_AND_PORT };

/* Key of a mapping, from one side or the other. */
struct nat_endpoint {
	uint32_t ip;
	uint16_t port; /* ICMP echo: the identifier */
	uint8_t protocol;
	uint8_t zero[9];
};
static_assert(sizeof(struct nat_endpoint) == WEIR_FLOW_KEY_BYTES, "a key without holes");

/*
 * The mapping of one inside endpoint (RFC 4787, section 4.1), as packets need it. For TCP the
 * counters are of segments without SYN, FIN and RST since no connection of the mapping was known to
 * be established: if both moved, one is.
 */
struct nat_session {
	struct nat_endpoint inside;
	struct nat_endpoint external;
	struct weir_counter outbound;
	struct weir_counter inbound;
};
static_assert(sizeof(struct nat_session) == RTE_CACHE_LINE_SIZE, "one miss a mapping");

/* The rest of it, which ordinary packets do not touch. */
struct nat_life {
	uint32_t seen_packets; /* of those that refresh, up to active_at */
	uint32_t active_at;    /* in weir_session_time() */
	struct weir_invalidation_list invalidation;
	union {
		uint32_t first_remote;
		uint32_t next_free; /* of a free slot */
	};
	uint16_t established; /* TCP connections; stays at UINT16_MAX once there */
	uint8_t generation;   /* of flushes, when it was made */
	bool used;
};
static_assert(sizeof(struct nat_life) == 20, "without holes");

enum nat_tcp_flag {
	NAT_TCP_SYN_OUT = 1 << 0,
	NAT_TCP_SYN_IN = 1 << 1,
	NAT_TCP_FIN_OUT = 1 << 2,
	NAT_TCP_FIN_IN = 1 << 3,
};
#define NAT_TCP_ESTABLISHED (NAT_TCP_SYN_OUT | NAT_TCP_SYN_IN)
#define NAT_TCP_CLOSED (NAT_TCP_FIN_OUT | NAT_TCP_FIN_IN)

enum nat_remote_kind {
	NAT_CONNECTION, /* of TCP, made by its SYN */
	NAT_PERMISSION, /* to answer, with filtering; made by an outbound packet */
};

/* Key of the remote endpoints that a mapping knows. */
struct nat_remote_key {
	uint32_t session;
	uint32_t ip;
	uint16_t port; /* 0 with address-dependent filtering */
	uint16_t kind;
};
static_assert(sizeof(struct nat_remote_key) == 12, "a key without holes");

struct nat_remote {
	struct nat_remote_key key;
	uint8_t used;
	uint8_t tcp_flags; /* enum nat_tcp_flag */
	uint16_t zero;
	uint32_t next, previous;     /* of the same mapping */
	struct weir_counter counter; /* of a permission: packets that refresh it */
	uint32_t seen_packets;
	uint32_t active_at;
	struct weir_invalidation_list invalidation;
	uint32_t zeros;
};
static_assert(sizeof(struct nat_remote) == 56, "within a cache line");

struct nat {
	/* Options. */
	struct weir_prefix external;
	uint64_t port_min, port_max;
	uint64_t session_count, remote_count;
	struct weir_fragment_options fragment_options;
	struct weir_session_timeouts_s timeouts_s;
	unsigned int filtering; /* enum nat_filtering */
	unsigned int ipv6;	/* enum weir_unknown_ipv6 */
	bool inbound_refresh;
	uint64_t subscriber_ports;
	uint64_t lanes;
	uint64_t hairpin_output;
	uint64_t seed;
	char untranslated_list[WEIR_OPTION_TEXT_BYTES];
	char forwards[WEIR_OPTION_TEXT_BYTES];
	char pair_list[WEIR_OPTION_TEXT_BYTES];

	/* From them. */
	uint32_t lane_bits;
	uint32_t worker, workers;
	struct nat_spans untranslated;
	struct nat_pairs pairs;
	struct weir_session_timeouts timeouts;

	/* `session_count` dynamic ones, then those that an operator gave. */
	struct nat_session *sessions;
	struct nat_life *lives;
	struct weir_flow_table *by_inside, *by_external;
	uint32_t session_high; /* slots from here on were never used */
	uint32_t free_session; /* a list, or NAT_NONE */
	struct nat_ports ports[3];
	struct rte_hash *remote_index;
	struct nat_remote *remotes; /* by position in the index */
	struct rte_hash *subscriber_index;
	uint32_t *subscriber_used;
	struct weir_fragments *fragments;

	uint64_t sessions_used, remotes_used;
	uint32_t sweep_session, sweep_remote; /* where tick() goes on */
	uint8_t generation;
};

static inline struct nat_ports *
nat_ports_of(struct nat *nat, uint8_t protocol)
{
	return &nat->ports[protocol == IPPROTO_UDP ? 0 : protocol == IPPROTO_TCP ? 1 : 2];
}

static inline bool
nat_is_external(const struct nat *nat, uint32_t ip)
{
	return (ip & nat->external.mask) == nat->external.address;
}

/* Whether it leads inside: one that mappings share, or one of a pair. */
static inline bool
nat_leads_inside(const struct nat *nat, uint32_t ip)
{
	return nat_is_external(nat, ip) || nat_paired_inside(&nat->pairs, ip) != 0;
}

/* An external address by its number. */
static inline uint32_t
nat_external_ip(const struct nat *nat, uint32_t number)
{
	return rte_cpu_to_be_32(rte_be_to_cpu_32(nat->external.address) + number);
}

static inline uint32_t
nat_external_number(const struct nat *nat, uint32_t ip)
{
	return rte_be_to_cpu_32(ip) - rte_be_to_cpu_32(nat->external.address);
}

/* Given by an operator: never ends by itself, and is open to all remotes. */
static inline bool
nat_is_static(const struct nat *nat, const struct nat_session *session)
{
	return session >= nat->sessions + nat->session_count;
}

/* Whether the mappings of external ports of that lane are this worker's. */
static inline bool
nat_owns_lane(const struct nat *nat, uint32_t lane)
{
	return lane % nat->workers == nat->worker;
}

/* The number of the external address that an inside one has while that has ports. */
static inline uint32_t
nat_home(const struct nat *nat, uint32_t ip)
{
	/* Salted: another number than where among the ports its endpoints start. */
	return weir_mix(ip ^ nat->seed ^ 0x9e3779b97f4a7c15) &
	       rte_be_to_cpu_32(~nat->external.mask);
}

/* Where an inside endpoint starts among the ports. */
static inline uint32_t
nat_start(const struct nat *nat, uint32_t ip, uint16_t port, uint8_t protocol)
{
	return weir_mix((ip | (uint64_t)port << 32 | (uint64_t)protocol << 48) ^ nat->seed) >> 32;
}

static inline uint32_t
nat_inside_lane(const struct nat *nat, uint32_t ip, uint16_t port)
{
	return nat_port_lane(nat_home(nat, ip), rte_be_to_cpu_16(port), nat->lane_bits);
}

static inline uint32_t
nat_external_lane(const struct nat *nat, uint32_t ip, uint16_t port)
{
	return nat_port_lane(nat_external_number(nat, ip), rte_be_to_cpu_16(port), nat->lane_bits);
}

static inline struct nat_life *
nat_life(const struct nat *nat, const struct nat_session *session)
{
	return &nat->lives[session - nat->sessions];
}

static inline bool
nat_drop(struct weir_action *action, enum nat_drop reason)
{
	weir_action_drop_once(action, reason);
	return false;
}

/* sessions.c */

/* -1: no memory; fini() then frees what there is. So too of the other parts. */
int nat_sessions_init(struct nat *nat);
void nat_sessions_fini(struct nat *nat);

static inline struct nat_session *
nat_session_find(const struct nat *nat, const struct weir_flow_table *side, uint32_t ip,
		 uint16_t port, uint8_t protocol)
{
	const struct nat_endpoint endpoint = {.ip = ip, .port = port, .protocol = protocol};
	const void *key = &endpoint;
	uint32_t found;

	weir_flow_table_find(side, &key, &found, 1);
	return found == WEIR_FLOW_NONE ? NULL : &nat->sessions[found];
}

/* A new mapping for an inside endpoint that has none; NULL with the reason why not. */
struct nat_session *nat_session_create(struct nat *nat, uint32_t ip, uint16_t port,
				       uint8_t protocol, uint32_t now, enum nat_drop *reason);
/* Makes that mapping in a slot of the static ones, and ends it. */
void nat_static_begin(struct nat *nat, struct nat_session *session,
		      const struct nat_session *wanted);
void nat_static_end(struct nat *nat, struct nat_session *session, struct weir_flow_cache *cache);
/* Ends a dynamic mapping and all that rests on it. */
void nat_session_end(struct nat *nat, struct nat_session *session, struct weir_flow_cache *cache);
/* Ends what was idle too long; looks at a bounded number of mappings and remotes. */
void nat_tick(void *state, uint64_t now_tsc, struct weir_flow_cache *cache);

/* remotes.c */

int nat_remotes_init(struct nat *nat);
void nat_remotes_fini(struct nat *nat);
/* Follows a segment with SYN, FIN or RST. */
void nat_tcp_control(struct nat *nat, struct nat_session *session, enum weir_direction direction,
		     uint32_t remote_ip, uint16_t remote_port, uint8_t tcp_flags, uint32_t now);
/* Key of the permission for a remote to answer. */
struct nat_remote_key nat_permission_key(const struct nat *nat, const struct nat_session *session,
					 uint32_t ip, uint16_t port);
/* The permission that an outbound packet gives; NULL: no room for it. */
struct nat_remote *nat_permit(struct nat *nat, struct nat_session *session, uint32_t ip,
			      uint16_t port);
/* The permission that lets an inbound packet pass, or NULL. */
struct nat_remote *nat_permission(const struct nat *nat, const struct nat_session *session,
				  uint32_t ip, uint16_t port);
/* Forgets at most `limit` remotes of a mapping; true: it has none left. */
bool nat_remotes_forget(struct nat *nat, struct nat_session *session, uint32_t limit,
			struct weir_flow_cache *cache);
void nat_remotes_tick(struct nat *nat, uint32_t now, struct weir_flow_cache *cache);
/* How long a mapping may be idle now, in weir_session_time(). */
uint32_t nat_session_timeout(const struct nat *nat, const struct nat_session *session);

/* fragments.c */

/* For the later fragments of this first one, of which `action` was decided. */
void nat_fragment_remember(struct nat *nat, const struct weir_batch *batch, uint16_t index,
			   const struct weir_action *action);
/* Decides on a later fragment by its first one, or holds it until that comes. */
void nat_fragment_follow(const struct nat *nat, const struct weir_batch *batch, uint16_t index,
			 struct weir_action *action);
void nat_take(void *state, const struct weir_batch *batch, uint16_t index,
	      const struct weir_action *action, struct weir_stage_ledger *ledger);
void nat_release(void *state, struct weir_batch *batch, struct weir_stage_ledger *ledger);

/* icmp_error.c */

/* Decides on an ICMP error, and translates the packet inside. */
void nat_icmp_error(struct nat *nat, struct rte_mbuf *packet, const struct weir_headers *headers,
		    enum weir_direction direction, struct weir_action *action);

/* translate.c */

/* From inside to the external address of a pair: to its inside one, and back inside. False: it is
 * of none. */
static inline bool
nat_hairpin_to_pair(const struct nat *nat, uint32_t external, struct weir_action *action)
{
	uint32_t inside = nat_paired_inside(&nat->pairs, external);

	if (inside == 0)
		return false;
	action->set |= WEIR_SET_DST_IP;
	action->dst_ip = inside;
	action->has_egress = nat->hairpin_output != 0;
	action->egress = nat->hairpin_output;
	return true;
}

void nat_decide(void *state, const struct weir_batch *batch, struct weir_action *actions);

/* report.c */

void nat_report(const void *state, struct weir_report *report);

/* statics.c */

/* The static mappings of option `forwards`. -1 with `error`. */
int nat_forwards_init(struct nat *nat, const char *where, struct weir_error *error);
/* A slot for a static mapping, in `*number`, if both its endpoints are free. Reads configuration
 * alone. -1 with `error`. */
int nat_static_room(const struct nat *nat, const struct nat_session *wanted, const char *where,
		    uint32_t *number, struct weir_error *error);
/* The static mapping in slot `number`, or NULL if that is free. */
struct nat_session *nat_static_at(const struct nat *nat, uint32_t number);
bool nat_is_same(const struct nat_endpoint *one, const struct nat_endpoint *other);

/* commands.c */

#define NAT_COMMANDS 3
extern const struct weir_command nat_commands[NAT_COMMANDS];

#endif
