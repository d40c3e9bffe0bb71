/* SPDX-License-Identifier: Apache-2.0 */
/* A PDU session at one end of its tunnel, and what holds back its packets. */
#ifndef WEIR_NF_UPF_SESSION_H
#define WEIR_NF_UPF_SESSION_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_common.h>

#include "packet/action.h"
#include "packet/flow_table.h"
#include "packet/gtpu.h"
#include "ue.h"

static_assert(sizeof(struct upf_prefix) == WEIR_FLOW_KEY_BYTES, "a key without holes");

/* What the table of addresses is asked with: an IPv4 address, network byte order. */
struct upf_key {
	uint32_t ip;
	uint8_t zero[WEIR_FLOW_KEY_BYTES - sizeof(uint32_t)];
};
static_assert(sizeof(struct upf_key) == WEIR_FLOW_KEY_BYTES, "a key without holes");

/* Why a direction of a session is not simply forwarded: bits of `held_by`. */
#define UPF_HELD_BY_ACTION 1   /* its forwarding action is to drop */
#define UPF_HELD_BY_GATE 2     /* its gate is closed */
#define UPF_HELD_BY_MBR 4      /* it has a maximum bit rate */
#define UPF_HELD_BY_RULES 8    /* its rules say what becomes of which packet */
#define UPF_HELD_BY_SESSION 16 /* of a rule: the session's maximum bit rate holds for it too */
#define UPF_HELD_BY_BUFFER 32  /* its packets wait, or those before it are still on their way */
#define UPF_NOTIFIES 64	       /* the first one that waits is told to the control plane */

/* What one direction of a session counts and is held to. */
struct upf_flow {
	struct weir_counter passed;
	/*
	 * The maximum bit rate is ITU-T I.371's generic cell rate algorithm, in bytes of IP
	 * packets: when packets at that rate would have come up to now, `due_fraction` / 256 of a
	 * cycle included, and how long a byte takes at it.
	 */
	uint64_t due_tsc;
	float cycles_per_byte;
	uint8_t held_by;
	uint8_t due_fraction;
	uint16_t kept_most; /* packets that may wait */
};

/* A PDU session with its default QoS flow. A packet of either way needs one cache line of it. Only
 * commands write what is not counted, so that the control thread may read it: all but what is held
 * back, and the queue. */
struct upf_session {
	struct upf_flow out_of;
	uint32_t teid;	/* of this end; where no session is, one that leads elsewhere */
	uint32_t ue_ip; /* network byte order; 0: none */
	/* Its rules, the one that is asked first, by whether they are of what leaves tunnels; 0:
	 * none. */
	uint32_t rules[2];
	struct upf_prefix prefix; /* of the UE; 0: none */
	/* The second line. */
	struct upf_key ue;
	struct upf_flow into;
	struct weir_gtpu_tunnel tunnel; /* to the other end */
	uint32_t queue;			/* of packets that wait; 0: none do */
} __rte_cache_aligned;
static_assert(sizeof(struct upf_session) == 128, "two cache lines");
static_assert(offsetof(struct upf_session, ue) == 64, "a line each way");

static inline bool
upf_has_prefix(const struct upf_session *session)
{
	return (session->prefix.words[0] | session->prefix.words[1]) != 0;
}

static inline struct upf_flow *
upf_session_flow(struct upf_session *session, bool out_of_tunnel)
{
	return out_of_tunnel ? &session->out_of : &session->into;
}

#endif
