/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the user plane function and of the gNB before it share: both are an end of N3's
 * tunnels, with sessions and drop reasons alike. */
#ifndef WEIR_NF_UPF_UPF_H
#define WEIR_NF_UPF_UPF_H

#include <string.h>

#include "engine/nf.h"
#include "toolkit/error_rate.h"
#include "kept.h"
#include "rule.h"
#include "session.h"

#define UPF_ANSWERS_MAX 256 /* more than one command changes sessions */
#define UPF_SESSIONS_MAX (1 << 24)
#define UPF_MBR_MAX_BPS 1000000000000

#define UPF_DROP_REASONS UPF_PASSES
#define UPF_OPTIONS 23
#define UPF_OPTIONS_OF_GNB 15 /* the first ones */

enum upf_drop {
	UPF_DROP_MALFORMED,
	UPF_DROP_OTHER,
	UPF_DROP_SIGNAL,
	UPF_DROP_UNKNOWN_TEID,
	UPF_DROP_UNKNOWN_UE,
	UPF_DROP_SPOOFED,
	UPF_DROP_EXTENSION,
	UPF_DROP_OUTER_FRAGMENT,
	UPF_DROP_ABOVE_MBR,
	UPF_DROP_TOO_LONG,
	UPF_DROP_BY_ACTION,
	UPF_DROP_GATE,
	UPF_DROP_NO_RULE,
	UPF_DROP_BUFFER_FULL,
	UPF_DROP_KEPT_TOO_LONG,
	UPF_DROP_KEPT_IN_VAIN,
	UPF_DROP_QUOTA,
	UPF_PASSES,   /* none of these */
	UPF_BY_RULES, /* nor this: rules say it */
	UPF_WAITS,    /* it is to be kept */
};

enum upf_other { UPF_OTHER_DROP, UPF_OTHER_FORWARD };
enum upf_n4_teids { UPF_N4_TEIDS_RANDOM, UPF_N4_TEIDS_CONSECUTIVE };

/* What it says to the other end of N3 and stands ready for the next poll of the way there. */
struct upf_answers {
	unsigned int first, count;
	struct rte_mbuf *packet[UPF_ANSWERS_MAX];
	/* Of error indications and notifications, which anybody can provoke. */
	struct weir_error_rate errors;
};

/* What leads to the other end of N3: the Ethernet header of the last batch that went there, or from
 * there, turned. */
struct upf_link {
	struct rte_mempool *pool; /* NULL: nothing came yet */
	uint8_t ethernet[24];	  /* and what follows it */
	uint16_t l3_offset;
	bool went_there;
};

/* What the table of UEs is asked with for a batch. */
struct upf_asked {
	struct upf_key key[WEIR_BURST];
	const void *at[WEIR_BURST];
};

/* How often sessions were changed. */
struct upf_changed {
	uint64_t added, modified, removed;
};

struct upf {
	/* What every batch reads. */
	struct upf_session *sessions;  /* `capacity` of them, and one that stays empty */
	struct weir_flow_table *by_ue; /* by IPv4 address */
	struct upf_asked *asked;
	uint32_t capacity;
	uint32_t place_mask;		 /* of what a TEID is above the first one */
	uint32_t own_ip, peer_ip;	 /* network byte order */
	uint8_t out_of_way;		 /* enum weir_direction of what leaves tunnels here */
	uint8_t container_type;		 /* of what enters them */
	unsigned int other;		 /* enum upf_other */
	struct weir_gtpu_prepared outer; /* of what enters tunnels */
	uint64_t n3_mtu_bytes;
	uint64_t error_indications_pps;
	/* Of UEs with IPv6 prefixes, all of that length. */
	struct weir_flow_table *by_prefix;
	struct upf_prefix prefix_mask;
	uint8_t prefix_bits;
	uint64_t answers_lost, end_markers;
	struct upf_answers answers;
	struct upf_link link;
	struct upf_buffer buffer;
	struct upf_rule *rules;	  /* `rules_max` of them, from 1 on */
	struct upf_usage *usages; /* likewise; who uses them knows which are in use */
	/* What commands change and report. */
	uint32_t rules_free; /* the first one; 0: none */
	uint32_t rules_used;
	uint32_t live; /* sessions */
	uint32_t workers, worker;
	struct upf_changed changed;
	struct pfcp_agent *agent;     /* of N4, in the first worker's state; NULL: none */
	struct weir_counter ended[2]; /* by direction, of sessions that were removed */
	/* Options. */
	bool container;
	uint64_t qfi;
	uint64_t session_count, sessions_max, rules_max;
	struct weir_prefix6 ue_first_prefix;
	uint32_t ue_first_ip, n3_ip, gnb_ip, n4_ip;
	unsigned int n4_teids; /* enum upf_n4_teids */
	uint64_t teid_first, gnb_teid_first;
	uint64_t own_teid_first, peer_teid_first; /* two of these */
	uint64_t mbr_bps[2];			  /* by direction, of a session that says none */
	uint64_t mbr_burst_bytes;
	uint64_t buffer_packets, buffer_packets_max, buffer_time_s;
	char flow_list[WEIR_OPTION_TEXT_BYTES];
};

/* Changes of sessions up to now: at all workers the same. */
static inline uint64_t
upf_changes_made(const struct upf *upf)
{
	return upf->changed.added + upf->changed.modified + upf->changed.removed;
}

/* A user's address in a packet of that direction: the UE sends what is outbound. */
static inline uint32_t
upf_user_ip(uint32_t src_ip, uint32_t dst_ip, enum weir_direction direction)
{
	return direction == WEIR_OUTBOUND ? src_ip : dst_ip;
}

/* Of an IPv6 packet, likewise: 16 bytes. */
static inline const uint8_t *
upf_user_ipv6(const struct rte_ipv6_hdr *ip, enum weir_direction direction)
{
	return direction == WEIR_OUTBOUND ? ip->src_addr : ip->dst_addr;
}

/* options.c, end.c: what both have in their descriptors. */

extern const struct weir_option upf_options[UPF_OPTIONS];
extern const struct weir_drop_reason upf_drop_reasons[UPF_DROP_REASONS];
/* commands.c: how sessions come and go. */
#define UPF_COMMANDS 3
extern const struct weir_command upf_commands[UPF_COMMANDS];

/* pfcp/n4.c: how control plane functions control it. */
extern const struct weir_controller upf_n4;
void upf_n4_report(const struct upf *upf, struct weir_report *report);
/* Whether a control plane function has a session of that place, though a command has removed it. */
bool upf_n4_has(const struct upf *upf, uint32_t place);

/* Behind `own_ip` … `container_type`. */
int upf_init(struct upf *upf, const char *where, struct weir_error *error);
void upf_fini(void *state);
int upf_share(void *state, unsigned int worker, unsigned int workers, const char *where,
	      struct weir_error *error);
void upf_release(void *state, struct weir_batch *batch, struct weir_stage_ledger *ledger);
void upf_process(void *state, struct weir_batch *batch, struct weir_stage_ledger *ledger);
uint32_t upf_steer(const void *state, const struct weir_headers *headers,
		   const struct rte_mbuf *packet, enum weir_direction direction);
void upf_report(const void *state, struct weir_report *report);

/* The rows of both descriptors. */
#define UPF_END                                                                                    \
	.options = upf_options, .drop_reasons = upf_drop_reasons,                                  \
	.drop_reason_count = UPF_DROP_REASONS, .returns = true, .rewrites = true, .tunnels = true, \
	.flow_bytes = 160, .state_size = sizeof(struct upf), .fini = upf_fini,                     \
	.process = upf_process, .release = upf_release, .steer = upf_steer, .steers_ipv6 = true,   \
	.share = upf_share

/* sessions.c */

/* Makes the sessions that the options ask for. -1 with `error`. */
int upf_sessions_init(struct upf *upf, const char *where, struct weir_error *error);
void upf_sessions_fini(struct upf *upf);
/* Which worker a packet of that UE or tunnel is for, modulo the workers: the same for both, of a
 * session. */
uint32_t upf_steer_ip(const struct upf *upf, uint32_t ue_ip);
uint32_t upf_steer_prefix(const struct upf *upf, const struct upf_prefix *prefix);
/* By the first of both that the UE has. */
uint32_t upf_steer_ue(const struct upf *upf, const struct upf_ue *ue);
uint32_t upf_steer_teid(const struct upf *upf, uint32_t teid);

/*
 * Where the session of that TEID would be. This end gives its TEIDs out itself (TS 29.281, section
 * 5.1), so that they say it, and nothing is looked up: the low bits of what a TEID is above the
 * first one are the place. The others are anything; the session's own TEID must be that one.
 */
static inline uint32_t
upf_place_of_teid(const struct upf *upf, uint32_t teid)
{
	return (teid - (uint32_t)upf->own_teid_first) & upf->place_mask;
}

static inline struct upf_session *
upf_session_at_teid(const struct upf *upf, uint32_t teid)
{
	return &upf->sessions[RTE_MIN(upf_place_of_teid(upf, teid), upf->capacity)];
}

/* Whether a session is there. */
static inline bool
upf_place_is_taken(const struct upf *upf, uint32_t place)
{
	return upf_place_of_teid(upf, upf->sessions[place].teid) == place;
}

/* The place of the session that has that UE address (network byte order), or WEIR_FLOW_NONE. */
uint32_t upf_session_place_of_ip(const struct upf *upf, uint32_t ue_ip);
uint32_t upf_session_place_of_prefix(const struct upf *upf, const struct upf_prefix *prefix);
/* By either, the address first. */
uint32_t upf_session_place_of_ue(const struct upf *upf, const struct upf_ue *ue);
/* Of the session at that place. */
struct upf_ue upf_session_ue(const struct upf *upf, uint32_t place);
/* Puts a session into the tables, or takes it out. */
void upf_session_begin(struct upf *upf, uint32_t place, const struct upf_ue *ue, uint32_t teid);
void upf_session_end(struct upf *upf, uint32_t place);
/* 0: none. */
void upf_flow_set_mbr(struct upf_flow *flow, uint64_t bps);

/* Whether its packets wait from now on; those that did, in `queue`, leave where they do not. */
void upf_flow_keep(struct upf *upf, struct upf_flow *flow, uint32_t queue, bool keeps);

/* rules.c */

/* -1: no memory. */
int upf_rules_init(struct upf *upf);
/* Puts these rules, in the order of precedence, in the place of those that the session has. There
 * is room: upf_rules_of() of it are free then, too. */
void upf_rules_replace(struct upf *upf, struct upf_session *session,
		       const struct upf_rule_wanted *wanted, unsigned int count);
/* How many the session has. */
unsigned int upf_rules_of(const struct upf *upf, const struct upf_session *session);
/*
 * What becomes of a packet of a direction that has rules: by the first one that it fits. `user`:
 * the IP packet, of `bytes` bytes, all of them there; `qfi`: in which it came, or WEIR_GTPU_NO_QFI.
 * `rule`: the one; NULL: none. With UPF_PASSES it is counted.
 */
enum upf_drop upf_rules_admit(struct upf *upf, struct upf_session *session, bool out_of_tunnel,
			      const uint8_t *user, uint32_t bytes, uint8_t qfi, uint64_t now_tsc,
			      struct upf_rule **rule);
/* Sets what usages may pass, from now on. */
void upf_quotas_set(struct upf *upf, const struct upf_quota *quotas, unsigned int count);
/* Whether all usages that it counts for may have so many bytes more. Those that may not are used up
 * then, unless one was before. */
bool upf_rule_is_within_quotas(struct upf *upf, const struct upf_rule *rule,
			       enum weir_direction direction, uint32_t bytes);
/* Counts a packet that it passes. */
void upf_rule_count(struct upf *upf, struct upf_rule *rule, enum weir_direction direction,
		    uint32_t bytes);

/* answers.c */

/* The other end asks whether this one is there (TS 29.281, section 7.2.1). */
void upf_answer_echo(struct upf *upf, const struct rte_mbuf *packet,
		     const struct weir_headers *headers, const struct weir_gtpu *gtpu);
/* There is no such tunnel here (section 7.3.1); within error_indications_pps. */
void upf_indicate_error(struct upf *upf, const struct rte_mbuf *packet,
			const struct weir_headers *headers, const struct weir_gtpu *gtpu,
			uint64_t now_tsc);
/* Which extension headers are comprehended (section 7.2.3); within error_indications_pps. */
void upf_notify_extensions(struct upf *upf, const struct rte_mbuf *packet,
			   const struct weir_headers *headers, uint64_t now_tsc);
/* Nothing comes in that tunnel any more (section 7.3.2). */
void upf_end_tunnel(struct upf *upf, const struct weir_gtpu_tunnel *tunnel);
/* From a parsed batch that comes out of tunnels, where none went into one yet. */
void upf_learn_link_back(struct upf_link *link, const struct weir_batch *batch);
void upf_answers_release(struct upf_answers *answers, struct weir_batch *batch,
			 struct weir_stage_ledger *ledger);
void upf_answers_free(struct upf_answers *answers);

/* From a parsed batch that goes into tunnels. */
static inline void
upf_learn_link(struct upf_link *link, const struct weir_batch *batch)
{
	const struct rte_mbuf *packet = batch->packet[0];

	if (unlikely(batch->headers[0].l3_offset == 0)) /* nothing of IP, which has 20 bytes more */
		return;
	memcpy(link->ethernet, rte_pktmbuf_mtod(packet, const void *), sizeof(link->ethernet));
	link->l3_offset = batch->headers[0].l3_offset;
	link->pool = packet->pool;
	link->went_there = true;
}

/* Whether packets of that session come to this worker. */
static inline bool
upf_serves(const struct upf *upf, const struct upf_session *session)
{
	return upf_steer_teid(upf, session->teid) % upf->workers == upf->worker;
}

/* out_of_tunnel.c, into_tunnel.c: one batch. What is dropped is counted and freed. */

void upf_out_of_tunnel(struct upf *upf, struct weir_batch *batch, struct weir_stage_ledger *ledger);
void upf_into_tunnel(struct upf *upf, struct weir_batch *batch, struct weir_stage_ledger *ledger);

/* A packet that has waited, of that session or rule: as these are now. Else it is the caller's. */
enum upf_drop upf_into_tunnel_kept(struct upf *upf, const struct upf_kept *kept,
				   struct upf_owner owner);

#endif
