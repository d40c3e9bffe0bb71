/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the user plane function and of the gNB before it share: both are an end of N3's
 * tunnels, with sessions and drop reasons alike. */
#ifndef WEIR_NF_UPF_UPF_H
#define WEIR_NF_UPF_UPF_H

#include <string.h>

#include "engine/nf.h"
#include "toolkit/error_rate.h"
#include "rule.h"
#include "session.h"

#define UPF_ANSWERS_MAX 64
#define UPF_SESSIONS_MAX (1 << 24)
#define UPF_MBR_MAX_BPS 1000000000000

#define UPF_DROP_REASONS UPF_PASSES
#define UPF_OPTIONS 19
#define UPF_OPTIONS_OF_GNB 14 /* the first ones */

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
	UPF_PASSES,   /* none of these */
	UPF_BY_RULES, /* nor this: rules say it */
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
	struct upf_session *sessions; /* `capacity` of them, and one that stays empty */
	struct weir_flow_table *by_ue;
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
	uint64_t answers_lost;
	struct upf_answers answers;
	struct upf_rule *rules;	  /* `rules_max` of them, from 1 on */
	struct upf_usage *usages; /* likewise; who uses them knows which are in use */
	/* What commands change and report. */
	uint32_t rules_free; /* the first one; 0: none */
	uint32_t rules_used;
	uint32_t live; /* sessions */
	uint32_t workers;
	struct upf_changed changed;
	struct pfcp_agent *agent;     /* of N4, in the first worker's state; NULL: none */
	struct weir_counter ended[2]; /* by direction, of sessions that were removed */
	/* Options. */
	bool container;
	uint64_t qfi;
	uint64_t session_count, sessions_max, rules_max;
	uint32_t ue_first_ip, n3_ip, gnb_ip, n4_ip;
	unsigned int n4_teids; /* enum upf_n4_teids */
	uint64_t teid_first, gnb_teid_first;
	uint64_t own_teid_first, peer_teid_first; /* two of these */
	uint64_t mbr_bps[2];			  /* by direction, of a session that says none */
	uint64_t mbr_burst_bytes;
	char flow_list[WEIR_OPTION_TEXT_BYTES];
};

/* A user's address in a packet of that direction: the UE sends what is outbound. */
static inline uint32_t
upf_user_ip(uint32_t src_ip, uint32_t dst_ip, enum weir_direction direction)
{
	return direction == WEIR_OUTBOUND ? src_ip : dst_ip;
}

/* end.c: what both have in their descriptors. */

extern const struct weir_option upf_options[UPF_OPTIONS];
extern const struct weir_drop_reason upf_drop_reasons[UPF_DROP_REASONS];
/* commands.c: how sessions come and go. */
#define UPF_COMMANDS 3
extern const struct weir_command upf_commands[UPF_COMMANDS];

/* pfcp/n4.c: how control plane functions control it. */
extern const struct weir_controller upf_n4;
void upf_n4_report(const struct upf *upf, struct weir_report *report);

/* Behind `own_ip` … `container_type`. */
int upf_init(struct upf *upf, const char *where, struct weir_error *error);
void upf_fini(void *state);
int upf_share(void *state, unsigned int worker, unsigned int workers, const char *where,
	      struct weir_error *error);
void upf_process(void *state, struct weir_batch *batch, struct weir_stage_ledger *ledger);
uint32_t upf_steer(const void *state, const struct weir_headers *headers,
		   const struct rte_mbuf *packet, enum weir_direction direction);
void upf_report(const void *state, struct weir_report *report);

/* The rows of both descriptors. */
#define UPF_END                                                                                    \
	.options = upf_options, .drop_reasons = upf_drop_reasons,                                  \
	.drop_reason_count = UPF_DROP_REASONS, .returns = true, .rewrites = true, .tunnels = true, \
	.flow_bytes = 160, .state_size = sizeof(struct upf), .fini = upf_fini,                     \
	.process = upf_process, .release = upf_answers_release, .steer = upf_steer,                \
	.share = upf_share

/* sessions.c */

/* Makes the sessions that the options ask for. -1 with `error`. */
int upf_sessions_init(struct upf *upf, const char *where, struct weir_error *error);
void upf_sessions_fini(struct upf *upf);
/* Which worker a packet of that UE or tunnel is for, modulo the workers: the same for both, of a
 * session. */
uint32_t upf_steer_ue(const struct upf *upf, uint32_t ue_ip);
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
uint32_t upf_session_place_of_ue(const struct upf *upf, uint32_t ue_ip);
/* Puts a session into the table, or takes it out; it has its address. */
void upf_session_begin(struct upf *upf, uint32_t place, uint32_t ue_ip, uint32_t teid);
void upf_session_end(struct upf *upf, uint32_t place);
/* 0: none. */
void upf_flow_set_mbr(struct upf_flow *flow, uint64_t bps);

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
 * its IPv4 header, with `room` bytes of the packet behind it; `qfi`: in which it came, or
 * WEIR_GTPU_NO_QFI. With UPF_PASSES it is counted, and `tunnel` is its rule's.
 */
enum upf_drop upf_rules_admit(struct upf *upf, struct upf_session *session, bool out_of_tunnel,
			      const uint8_t *user, uint32_t room, uint8_t qfi, uint64_t now_tsc,
			      const struct weir_gtpu_tunnel **tunnel);

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
void upf_answers_release(void *state, struct weir_batch *batch, struct weir_stage_ledger *ledger);
void upf_answers_free(struct upf_answers *answers);

/* out_of_tunnel.c, into_tunnel.c: one batch. What is dropped is counted and freed. */

void upf_out_of_tunnel(struct upf *upf, struct weir_batch *batch, struct weir_stage_ledger *ledger);
void upf_into_tunnel(struct upf *upf, struct weir_batch *batch, struct weir_stage_ledger *ledger);

/* Puts an Ethernet header with its tags, of an IPv4 packet, in front of that packet: `to` and
 * `from` are further apart than it is long. */
static inline void
upf_move_ethernet(uint8_t *to, const uint8_t *from, uint16_t l3_offset)
{
	const uint16_t type = RTE_BE16(RTE_ETHER_TYPE_IPV4);

	memcpy(to, from, 2 * RTE_ETHER_ADDR_LEN);
	if (unlikely(l3_offset > RTE_ETHER_HDR_LEN))
		memcpy(to + 2 * RTE_ETHER_ADDR_LEN, from + 2 * RTE_ETHER_ADDR_LEN,
		       l3_offset - RTE_ETHER_HDR_LEN);
	memcpy(to + l3_offset - sizeof(type), &type, sizeof(type));
}

/* Takes what a frame has behind its first `bytes` bytes, all of which are in its first buffer. */
static inline void
upf_cut(struct rte_mbuf *packet, uint32_t bytes)
{
	if (likely(packet->nb_segs == 1)) {
		packet->data_len = (uint16_t)bytes;
		packet->pkt_len = bytes;
	} else {
		rte_pktmbuf_trim(packet, (uint16_t)(rte_pktmbuf_pkt_len(packet) - bytes));
	}
}

/* Whether so many bytes more are within the maximum bit rate, and if so `due` after them. */
static inline bool
upf_is_below_mbr(const struct upf *upf, const struct upf_flow *flow, uint32_t bytes,
		 uint64_t now_tsc, uint64_t *due)
{
	*due = RTE_MAX(flow->due_tsc, now_tsc) + (uint64_t)(bytes * (double)flow->cycles_per_byte);
	return *due - now_tsc <=
	       (uint64_t)((double)upf->mbr_burst_bytes * (double)flow->cycles_per_byte);
}

/* Counts a packet that goes on, and gives UPF_PASSES; UPF_BY_RULES: nothing is decided, rules say
 * it; else why it is dropped. */
static inline enum upf_drop
upf_admit(const struct upf *upf, struct upf_flow *flow, uint32_t bytes, uint64_t now_tsc)
{
	if (flow->held_by != 0) {
		uint64_t due;

		if ((flow->held_by & UPF_HELD_BY_RULES) != 0)
			return UPF_BY_RULES;
		if ((flow->held_by & UPF_HELD_BY_ACTION) != 0)
			return UPF_DROP_BY_ACTION;
		if ((flow->held_by & UPF_HELD_BY_GATE) != 0)
			return UPF_DROP_GATE;
		if (!upf_is_below_mbr(upf, flow, bytes, now_tsc, &due))
			return UPF_DROP_ABOVE_MBR;
		flow->due_tsc = due;
	}
	weir_count(&flow->passed.packets, 1);
	weir_count(&flow->passed.bytes, bytes);
	return UPF_PASSES;
}

/* A packet that is dropped. */
static inline void
upf_drop(struct rte_mbuf *packet, enum upf_drop reason, struct weir_stage_ledger *ledger)
{
	weir_count(&ledger->drops[reason], 1);
	rte_pktmbuf_free(packet);
}

#endif
