/* SPDX-License-Identifier: Apache-2.0 */
/* Mappings: made by outbound packets, ended when idle. */
#include <rte_cycles.h>
#include <rte_hash_crc.h>
#include <rte_malloc.h>
#include <stdio.h>

#include "nat.h"

/* Mappings looked at in one tick, at least; all of them are within 4,096 ticks (4 s). */
#define SWEEP_MIN 64
#define SWEEP_TICKS 4096
/* Remotes of an ending mapping that are forgotten in one tick. */
#define FORGET_MAX 256

/* Salt of the home address: another number than the hash that chooses the lane. */
#define HOME_SALT 0x9e3779b97f4a7c15

static int
subscribers_init(struct nat *nat)
{
	char name[RTE_HASH_NAMESIZE];
	struct rte_hash_parameters parameters = {
		.name = name,
		.entries = RTE_MAX(nat->session_count, 8U),
		.key_len = sizeof(uint32_t),
		.hash_func = rte_hash_crc,
		.socket_id = SOCKET_ID_ANY,
		.extra_flag = RTE_HASH_EXTRA_FLAGS_EXT_TABLE, /* takes all its entries */
	};

	if (nat->subscriber_ports == 0)
		return 0;
	snprintf(name, sizeof(name), "nat_sub_%p", (void *)nat);
	nat->subscriber_index = rte_hash_create(&parameters);
	nat->subscriber_used =
		rte_zmalloc("nat_subscribers", parameters.entries * sizeof(uint32_t), 0);
	return nat->subscriber_index == NULL || nat->subscriber_used == NULL ? -1 : 0;
}

int
nat_sessions_init(struct nat *nat)
{
	uint32_t slots = nat->session_count + NAT_STATICS_MAX;
	uint32_t addresses = 1U << (32 - nat->external.length);

	nat->free_session = NAT_NONE;
	nat->sessions =
		rte_zmalloc("nat_sessions", slots * sizeof(*nat->sessions), RTE_CACHE_LINE_SIZE);
	if (nat->sessions == NULL ||
	    nat_endpoint_table_init(&nat->endpoints, 2 * slots, nat->seed) < 0 ||
	    subscribers_init(nat) < 0)
		return -1;
	for (unsigned int i = 0; i < RTE_DIM(nat->ports); i++) {
		if (nat_ports_init(&nat->ports[i], addresses, nat->lane_bits, nat->port_min,
				   nat->port_max) < 0)
			return -1;
	}
	return 0;
}

void
nat_sessions_fini(struct nat *nat)
{
	for (unsigned int i = 0; i < RTE_DIM(nat->ports); i++)
		nat_ports_fini(&nat->ports[i]);
	nat_endpoint_table_fini(&nat->endpoints);
	rte_hash_free(nat->subscriber_index);
	rte_free(nat->subscriber_used);
	rte_free(nat->sessions);
}

/* One port more for the subscriber (RFC 6888, REQ-4). False: it has as many as it may have. */
static bool
subscriber_take(struct nat *nat, uint32_t ip)
{
	int position;

	if (nat->subscriber_ports == 0)
		return true;
	position = rte_hash_add_key(nat->subscriber_index, &ip);
	if (position < 0 || nat->subscriber_used[position] >= nat->subscriber_ports)
		return false;
	nat->subscriber_used[position]++;
	return true;
}

static void
subscriber_give(struct nat *nat, uint32_t ip)
{
	int position;

	if (nat->subscriber_ports == 0)
		return;
	position = rte_hash_lookup(nat->subscriber_index, &ip);
	if (position >= 0 && --nat->subscriber_used[position] == 0)
		rte_hash_del_key(nat->subscriber_index, &ip);
}

static struct nat_session *
take_slot(struct nat *nat)
{
	struct nat_session *session;

	if (nat->free_session != NAT_NONE) {
		session = &nat->sessions[nat->free_session];
		nat->free_session = session->next_free;
		return session;
	}
	if (nat->session_high == nat->session_count)
		return NULL;
	return &nat->sessions[nat->session_high++];
}

static void
give_slot(struct nat *nat, struct nat_session *session)
{
	session->protocol = 0;
	session->next_free = nat->free_session;
	nat->free_session = session - nat->sessions;
}

static bool
take_port(struct nat *nat, uint32_t ip, uint16_t port, uint8_t protocol, uint32_t *external_ip,
	  uint16_t *external_port)
{
	uint64_t hash = nat_mix(nat_endpoint_key(NAT_INSIDE, ip, port, protocol) ^ nat->seed);
	struct nat_ports *ports = nat_ports_of(nat, protocol);
	const struct nat_port_wish wish = {
		.lane = hash & (nat->lanes - 1),
		.home = nat_mix(ip ^ nat->seed ^ HOME_SALT) % ports->addresses,
		.start = hash >> 32,
		.port = rte_be_to_cpu_16(port),
	};
	uint32_t address;
	uint16_t taken;

	if (!nat_ports_take(ports, &wish, &address, &taken))
		return false;
	*external_ip = nat_external_ip(nat, address);
	*external_port = rte_cpu_to_be_16(taken);
	return true;
}

static void
give_port(struct nat *nat, const struct nat_session *session)
{
	nat_ports_give(nat_ports_of(nat, session->protocol),
		       nat_external_number(nat, session->external_ip),
		       rte_be_to_cpu_16(session->external_port));
}

bool
nat_session_index(struct nat *nat, const struct nat_session *session)
{
	uint64_t inside = nat_endpoint_key(NAT_INSIDE, session->inside_ip, session->inside_port,
					   session->protocol);
	uint64_t external = nat_endpoint_key(NAT_EXTERNAL, session->external_ip,
					     session->external_port, session->protocol);
	uint32_t number = session - nat->sessions;

	if (!nat_endpoint_add(&nat->endpoints, inside, number))
		return false;
	if (nat_endpoint_add(&nat->endpoints, external, number))
		return true;
	nat_endpoint_remove(&nat->endpoints, inside);
	return false;
}

struct nat_session *
nat_session_create(struct nat *nat, uint32_t ip, uint16_t port, uint8_t protocol, uint32_t now,
		   enum nat_drop *reason)
{
	struct nat_session *session;

	if (unlikely(!nat_owns_lane(nat, nat_inside_lane(nat, ip, port, protocol)))) {
		*reason = NAT_DROP_OTHER_WORKER;
		return NULL;
	}
	*reason = NAT_DROP_SUBSCRIBER_LIMIT;
	if (!subscriber_take(nat, ip))
		return NULL;
	*reason = NAT_DROP_SESSIONS_EXHAUSTED;
	session = take_slot(nat);
	if (session == NULL)
		goto no_slot;
	*session = (struct nat_session){
		.inside_ip = ip,
		.inside_port = port,
		.protocol = protocol,
		.generation = nat->generation,
		.active_at = now,
		.first_remote = NAT_NONE,
	};
	*reason = NAT_DROP_PORTS_EXHAUSTED;
	if (!take_port(nat, ip, port, protocol, &session->external_ip, &session->external_port))
		goto no_port;
	*reason = NAT_DROP_SESSIONS_EXHAUSTED;
	if (!nat_session_index(nat, session))
		goto no_index;
	return session;
no_index:
	give_port(nat, session);
no_port:
	give_slot(nat, session);
no_slot:
	subscriber_give(nat, ip);
	return NULL;
}

/* Neither side finds it from now on; its port is free. */
static void
unlink_session(struct nat *nat, struct nat_session *session, struct weir_flow_cache *cache)
{
	nat_remotes_forget(nat, session, UINT32_MAX, cache);
	weir_flow_cache_forget(cache, &session->dependents);
	nat_endpoint_remove(&nat->endpoints,
			    nat_endpoint_key(NAT_INSIDE, session->inside_ip, session->inside_port,
					     session->protocol));
	nat_endpoint_remove(&nat->endpoints,
			    nat_endpoint_key(NAT_EXTERNAL, session->external_ip,
					     session->external_port, session->protocol));
	give_port(nat, session);
}

void
nat_session_end(struct nat *nat, struct nat_session *session, struct weir_flow_cache *cache)
{
	unlink_session(nat, session, cache);
	subscriber_give(nat, session->inside_ip);
	give_slot(nat, session);
}

void
nat_static_end(struct nat *nat, struct nat_session *session, struct weir_flow_cache *cache)
{
	unlink_session(nat, session, cache);
	session->protocol = 0;
}

/* Whether the mapping is to end. What the fast path counted since the last look is noticed now. */
static bool
is_over(const struct nat *nat, struct nat_session *session, uint32_t now)
{
	uint32_t refreshing = session->outbound.packets;

	if (nat->inbound_refresh)
		refreshing += session->inbound.packets;
	if (session->generation != nat->generation)
		return true;
	if (refreshing != session->seen_packets) {
		session->seen_packets = refreshing;
		session->active_at = now;
		return false;
	}
	return now - session->active_at > nat_session_timeout(nat, session);
}

void
nat_tick(void *state, uint64_t now_tsc, struct weir_flow_cache *cache)
{
	struct nat *nat = state;
	uint32_t now = nat_time(now_tsc);
	uint32_t left = RTE_MAX(SWEEP_MIN, nat->session_count / SWEEP_TICKS);

	left = RTE_MIN(left, nat->session_high);
	while (left-- > 0) {
		struct nat_session *session = &nat->sessions[nat->sweep_session];

		if (session->protocol != 0 && is_over(nat, session, now)) {
			if (!nat_remotes_forget(nat, session, FORGET_MAX, cache))
				break; /* more of them in the next tick */
			nat_session_end(nat, session, cache);
		}
		if (++nat->sweep_session >= nat->session_high)
			nat->sweep_session = 0;
	}
	nat_remotes_tick(nat, now, cache);
}
