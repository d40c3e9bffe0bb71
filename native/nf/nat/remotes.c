/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a mapping knows of remote endpoints: TCP connections, for the two idle time-outs of RFC 5382
 * (REQ-5), and with filtering who may answer (RFC 4787, section 5).
 *
 * A connection is known by its SYN and established when SYNs went both ways, in either order
 * (simultaneous open, RFC 5382, REQ-2a). FINs both ways or a RST end it. A mapping without any
 * established connection is transitory, unless segments without SYN, FIN and RST pass both ways:
 * then one is established that began before the NAT, or for which `remotes` had no room.
 */
#include <rte_hash_crc.h>
#include <rte_malloc.h>
#include <rte_tcp.h>
#include <stdio.h>
#include <string.h>

#include "nat.h"

/* Remotes looked at in one tick. */
#define SWEEP_MIN 64
#define SWEEP_TICKS 4096

int
nat_remotes_init(struct nat *nat)
{
	char name[RTE_HASH_NAMESIZE];
	const struct rte_hash_parameters parameters = {
		.name = name,
		.entries = nat->remote_count,
		.key_len = sizeof(struct nat_remote_key),
		.hash_func = rte_hash_crc,
		.socket_id = SOCKET_ID_ANY,
		.extra_flag = RTE_HASH_EXTRA_FLAGS_EXT_TABLE, /* takes all its entries */
	};

	snprintf(name, sizeof(name), "nat_rem_%p", (void *)nat);
	nat->remote_index = rte_hash_create(&parameters);
	nat->remotes = rte_zmalloc("nat_remotes", nat->remote_count * sizeof(*nat->remotes),
				   RTE_CACHE_LINE_SIZE);
	return nat->remote_index == NULL || nat->remotes == NULL ? -1 : 0;
}

void
nat_remotes_fini(struct nat *nat)
{
	rte_hash_free(nat->remote_index);
	rte_free(nat->remotes);
}

struct nat_remote_key
nat_permission_key(const struct nat *nat, const struct nat_session *session, uint32_t ip,
		   uint16_t port)
{
	/* The identifier of an echo is another one on the other side, and no port. */
	bool has_port = nat->filtering == NAT_FILTER_ADDRESS_AND_PORT &&
			session->inside.protocol != IPPROTO_ICMP;

	return (struct nat_remote_key){
		.session = session - nat->sessions,
		.ip = ip,
		.port = has_port ? port : 0,
		.kind = NAT_PERMISSION,
	};
}

static struct nat_remote *
find(const struct nat *nat, const struct nat_remote_key *key)
{
	int position = rte_hash_lookup(nat->remote_index, key);

	return position < 0 ? NULL : &nat->remotes[position];
}

/* The remote, known already or from now on; NULL: no room. */
static struct nat_remote *
add(struct nat *nat, struct nat_session *session, const struct nat_remote_key *key)
{
	struct nat_life *life = nat_life(nat, session);
	int position = rte_hash_add_key(nat->remote_index, key);
	struct nat_remote *remote;

	if (position < 0)
		return NULL;
	remote = &nat->remotes[position];
	if (remote->used)
		return remote;
	*remote = (struct nat_remote){
		.key = *key,
		.used = true,
		.next = life->first_remote,
		.previous = NAT_NONE,
	};
	if (life->first_remote != NAT_NONE)
		nat->remotes[life->first_remote].previous = position;
	life->first_remote = position;
	weir_count(&nat->remotes_used, 1);
	return remote;
}

static void
forget(struct nat *nat, struct nat_remote *remote, struct weir_flow_cache *cache)
{
	struct nat_life *life = &nat->lives[remote->key.session];

	weir_flow_cache_forget(cache, &remote->invalidation);
	if (remote->previous != NAT_NONE)
		nat->remotes[remote->previous].next = remote->next;
	else
		life->first_remote = remote->next;
	if (remote->next != NAT_NONE)
		nat->remotes[remote->next].previous = remote->previous;
	remote->used = false;
	weir_count(&nat->remotes_used, -(uint64_t)1);
	rte_hash_del_key(nat->remote_index, &remote->key);
}

static bool
is_established(const struct nat *nat, const struct nat_session *session)
{
	return nat_life(nat, session)->established > 0 ||
	       (session->outbound.packets > 0 && session->inbound.packets > 0);
}

uint32_t
nat_session_timeout(const struct nat *nat, const struct nat_session *session)
{
	switch (session->inside.protocol) {
	case IPPROTO_UDP:
		return nat->timeouts.udp;
	case IPPROTO_TCP:
		return is_established(nat, session) ? nat->timeouts.tcp_established
						    : nat->timeouts.tcp_transitory;
	default:
		return nat->timeouts.icmp;
	}
}

/* The transitory time-out begins now, even if the connection had been idle for longer (RFC 7857,
 * section 2.2: after a RST the NAT waits four minutes). */
static void
become_transitory(struct nat_life *life, struct nat_session *session, uint32_t now)
{
	session->outbound = (struct weir_counter){0};
	session->inbound = (struct weir_counter){0};
	life->seen_packets = 0;
	life->active_at = now;
}

static void
close_connection(struct nat *nat, struct nat_session *session, struct nat_remote *remote,
		 uint32_t now)
{
	struct nat_life *life = nat_life(nat, session);
	bool was_established = is_established(nat, session);

	if (remote != NULL) {
		if ((remote->tcp_flags & NAT_TCP_ESTABLISHED) == NAT_TCP_ESTABLISHED &&
		    life->established != UINT16_MAX)
			life->established--;
		forget(nat, remote, NULL); /* no decision rests on a connection */
	}
	if (was_established && life->established == 0)
		become_transitory(life, session, now);
}

static void
open_connection(struct nat_life *life, struct nat_remote *remote, enum weir_direction direction)
{
	bool established = (remote->tcp_flags & NAT_TCP_ESTABLISHED) == NAT_TCP_ESTABLISHED;

	remote->tcp_flags |= direction == WEIR_OUTBOUND ? NAT_TCP_SYN_OUT : NAT_TCP_SYN_IN;
	if (!established && (remote->tcp_flags & NAT_TCP_ESTABLISHED) == NAT_TCP_ESTABLISHED &&
	    life->established != UINT16_MAX)
		life->established++;
}

void
nat_tcp_control(struct nat *nat, struct nat_session *session, enum weir_direction direction,
		uint32_t remote_ip, uint16_t remote_port, uint8_t tcp_flags, uint32_t now)
{
	const struct nat_remote_key key = {
		.session = session - nat->sessions,
		.ip = remote_ip,
		.port = remote_port,
		.kind = NAT_CONNECTION,
	};
	struct nat_remote *remote;

	if (nat_is_static(nat, session))
		return;
	if ((tcp_flags & RTE_TCP_RST_FLAG) != 0) {
		close_connection(nat, session, find(nat, &key), now);
		return;
	}
	if (direction == WEIR_OUTBOUND || nat->inbound_refresh)
		nat_life(nat, session)->active_at = now;
	remote = (tcp_flags & RTE_TCP_SYN_FLAG) != 0 ? add(nat, session, &key) : find(nat, &key);
	if (remote == NULL)
		return;
	remote->active_at = now;
	if ((tcp_flags & RTE_TCP_SYN_FLAG) != 0)
		open_connection(nat_life(nat, session), remote, direction);
	if ((tcp_flags & RTE_TCP_FIN_FLAG) != 0)
		remote->tcp_flags |= direction == WEIR_OUTBOUND ? NAT_TCP_FIN_OUT : NAT_TCP_FIN_IN;
	if ((remote->tcp_flags & NAT_TCP_CLOSED) == NAT_TCP_CLOSED)
		close_connection(nat, session, remote, now);
}

struct nat_remote *
nat_permit(struct nat *nat, struct nat_session *session, uint32_t ip, uint16_t port)
{
	struct nat_remote_key key = nat_permission_key(nat, session, ip, port);

	return add(nat, session, &key);
}

struct nat_remote *
nat_permission(const struct nat *nat, const struct nat_session *session, uint32_t ip, uint16_t port)
{
	struct nat_remote_key key = nat_permission_key(nat, session, ip, port);

	return find(nat, &key);
}

bool
nat_remotes_forget(struct nat *nat, struct nat_session *session, uint32_t limit,
		   struct weir_flow_cache *cache)
{
	const struct nat_life *life = nat_life(nat, session);

	while (life->first_remote != NAT_NONE && limit-- > 0)
		forget(nat, &nat->remotes[life->first_remote], cache);
	return life->first_remote == NAT_NONE;
}

/* Whether the remote is to be forgotten: a connection that never came to be, a permission that was
 * not used. An established connection goes with its end or with its mapping. */
static bool
is_over(const struct nat *nat, struct nat_remote *remote, uint32_t now)
{
	const struct nat_session *session = &nat->sessions[remote->key.session];
	uint32_t refreshing = remote->counter.packets;

	if (remote->key.kind == NAT_CONNECTION)
		return (remote->tcp_flags & NAT_TCP_ESTABLISHED) != NAT_TCP_ESTABLISHED &&
		       now - remote->active_at > nat->timeouts.tcp_transitory;
	if (refreshing != remote->seen_packets) {
		remote->seen_packets = refreshing;
		remote->active_at = now;
		return false;
	}
	return now - remote->active_at > nat_session_timeout(nat, session);
}

void
nat_remotes_tick(struct nat *nat, uint32_t now, struct weir_flow_cache *cache)
{
	uint32_t left = RTE_MAX(SWEEP_MIN, nat->remote_count / SWEEP_TICKS);

	if (nat->remotes_used == 0)
		return;
	left = RTE_MIN(left, nat->remote_count);
	while (left-- > 0) {
		struct nat_remote *remote = &nat->remotes[nat->sweep_remote];

		if (remote->used && is_over(nat, remote, now))
			forget(nat, remote, cache);
		if (++nat->sweep_remote == nat->remote_count)
			nat->sweep_remote = 0;
	}
}
