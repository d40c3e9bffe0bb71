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
	size_t slots = nat->session_count + NAT_STATICS_MAX;
	uint32_t addresses = 1U << (32 - nat->external.length);

	nat->free_session = NAT_NONE;
	nat->sessions =
		rte_zmalloc("nat_sessions", slots * sizeof(*nat->sessions), RTE_CACHE_LINE_SIZE);
	nat->lives = rte_zmalloc("nat_lives", slots * sizeof(*nat->lives), RTE_CACHE_LINE_SIZE);
	if (nat->sessions == NULL || nat->lives == NULL || subscribers_init(nat) < 0)
		return -1;
	nat->by_inside =
		weir_flow_table_create(slots, &nat->sessions->inside, sizeof(struct nat_session));
	nat->by_external =
		weir_flow_table_create(slots, &nat->sessions->external, sizeof(struct nat_session));
	if (nat->by_inside == NULL || nat->by_external == NULL)
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
	weir_flow_table_free(nat->by_inside);
	weir_flow_table_free(nat->by_external);
	rte_hash_free(nat->subscriber_index);
	rte_free(nat->subscriber_used);
	rte_free(nat->lives);
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
	uint32_t number = nat->free_session;

	if (number != NAT_NONE)
		nat->free_session = nat->lives[number].next_free;
	else if (nat->session_high < nat->session_count)
		number = nat->session_high++;
	else
		return NULL;
	return &nat->sessions[number];
}

static void
give_slot(struct nat *nat, const struct nat_session *session)
{
	struct nat_life *life = nat_life(nat, session);

	life->used = false;
	life->next_free = nat->free_session;
	nat->free_session = session - nat->sessions;
}

static bool
take_port(struct nat *nat, const struct nat_endpoint *inside, struct nat_endpoint *external)
{
	struct nat_ports *ports = nat_ports_of(nat, inside->protocol);
	const struct nat_port_wish wish = {
		.home = nat_home(nat, inside->ip),
		.start = nat_start(nat, inside->ip, inside->port, inside->protocol),
		.port = rte_be_to_cpu_16(inside->port),
	};
	uint32_t address;
	uint16_t port;

	if (!nat_ports_take(ports, &wish, &address, &port))
		return false;
	*external = (struct nat_endpoint){
		.ip = nat_external_ip(nat, address),
		.port = rte_cpu_to_be_16(port),
		.protocol = inside->protocol,
	};
	return true;
}

/* Lets both sides find a mapping that has both endpoints. The tables have room for all slots. */
static void
begin(struct nat *nat, struct nat_session *session, uint32_t now)
{
	uint32_t number = session - nat->sessions;

	nat->lives[number] = (struct nat_life){
		.active_at = now,
		.first_remote = NAT_NONE,
		.generation = nat->generation,
		.used = true,
	};
	weir_flow_table_put(nat->by_inside, number);
	weir_flow_table_put(nat->by_external, number);
}

/* Neither side finds it from now on; its port is free. */
static void
end(struct nat *nat, struct nat_session *session, struct weir_flow_cache *cache)
{
	uint32_t number = session - nat->sessions;

	nat_remotes_forget(nat, session, UINT32_MAX, cache);
	weir_flow_cache_forget(cache, &nat->lives[number].invalidation);
	weir_flow_table_take(nat->by_inside, number);
	weir_flow_table_take(nat->by_external, number);
	nat_ports_give(nat_ports_of(nat, session->external.protocol),
		       nat_external_number(nat, session->external.ip),
		       rte_be_to_cpu_16(session->external.port));
}

struct nat_session *
nat_session_create(struct nat *nat, uint32_t ip, uint16_t port, uint8_t protocol, uint32_t now,
		   enum nat_drop *reason)
{
	struct nat_session *session;

	if (unlikely(!nat_owns_lane(nat, nat_inside_lane(nat, ip, port)))) {
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
		.inside = {.ip = ip, .port = port, .protocol = protocol},
	};
	*reason = NAT_DROP_PORTS_EXHAUSTED;
	if (!take_port(nat, &session->inside, &session->external))
		goto no_port;
	begin(nat, session, now);
	weir_count(&nat->sessions_used, 1);
	return session;
no_port:
	give_slot(nat, session);
no_slot:
	subscriber_give(nat, ip);
	return NULL;
}

void
nat_session_end(struct nat *nat, struct nat_session *session, struct weir_flow_cache *cache)
{
	end(nat, session, cache);
	weir_count(&nat->sessions_used, -(uint64_t)1);
	subscriber_give(nat, session->inside.ip);
	give_slot(nat, session);
}

void
nat_static_begin(struct nat *nat, struct nat_session *session, const struct nat_session *wanted)
{
	nat_ports_reserve(nat_ports_of(nat, wanted->external.protocol),
			  nat_external_number(nat, wanted->external.ip),
			  rte_be_to_cpu_16(wanted->external.port));
	*session = *wanted;
	begin(nat, session, 0);
}

void
nat_static_end(struct nat *nat, struct nat_session *session, struct weir_flow_cache *cache)
{
	end(nat, session, cache);
	nat_life(nat, session)->used = false;
}

/* Whether the mapping is to end. What was counted since the last look was active until now. */
static bool
is_over(const struct nat *nat, const struct nat_session *session, uint32_t now)
{
	struct nat_life *life = nat_life(nat, session);
	uint32_t refreshing = session->outbound.packets;

	if (nat->inbound_refresh)
		refreshing += session->inbound.packets;
	if (life->generation != nat->generation)
		return true;
	if (refreshing != life->seen_packets) {
		life->seen_packets = refreshing;
		life->active_at = now;
		return false;
	}
	return now - life->active_at > nat_session_timeout(nat, session);
}

void
nat_tick(void *state, uint64_t now_tsc, struct weir_flow_cache *cache)
{
	struct nat *nat = state;
	uint32_t now = weir_session_time(now_tsc);
	uint32_t left = RTE_MAX(SWEEP_MIN, nat->session_count / SWEEP_TICKS);

	left = RTE_MIN(left, nat->session_high);
	while (left-- > 0) {
		struct nat_session *session = &nat->sessions[nat->sweep_session];

		if (nat->lives[nat->sweep_session].used && is_over(nat, session, now)) {
			if (!nat_remotes_forget(nat, session, FORGET_MAX, cache))
				break; /* more of them in the next tick */
			nat_session_end(nat, session, cache);
		}
		if (++nat->sweep_session >= nat->session_high)
			nat->sweep_session = 0;
	}
	nat_remotes_tick(nat, now, cache);
}
