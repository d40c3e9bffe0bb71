/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the user plane function and of the gNB before it share: both are an end of N3's
 * tunnels, with sessions and drop reasons alike. */
#ifndef WEIR_NF_UPF_UPF_H
#define WEIR_NF_UPF_UPF_H

#include <string.h>

#include "engine/nf.h"
#include "packet/flow_table.h"
#include "packet/gtpu.h"
#include "toolkit/error_rate.h"

#define UPF_ANSWERS_MAX 64

#define UPF_DROP_REASONS (UPF_DROP_TOO_LONG + 1)
#define UPF_OPTIONS 14

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
};

/* What the table of UEs is asked with: an IPv4 address, network byte order. */
struct upf_key {
	uint32_t ip;
	uint8_t zero[WEIR_FLOW_KEY_BYTES - sizeof(uint32_t)];
};
static_assert(sizeof(struct upf_key) == WEIR_FLOW_KEY_BYTES, "a key without holes");

/* What one direction of a session counts and is held to. */
struct upf_flow {
	struct weir_counter passed;
	uint64_t due_tsc; /* when packets at the maximum bit rate would have come up to now */
};

/* A PDU session with its default QoS flow, at one end of its tunnel. A packet of either way needs
 * one cache line of it. */
struct upf_session {
	struct upf_flow out_of;
	uint32_t ue_ip; /* network byte order */
	uint8_t zero[36];
	/* The second line. */
	struct upf_key ue;
	struct upf_flow into;
	uint32_t peer_teid; /* network byte order */
	uint8_t zero_too[20];
} __rte_cache_aligned;
static_assert(sizeof(struct upf_session) == 128, "two cache lines");
static_assert(offsetof(struct upf_session, ue) == 64, "a line each way");

/* A maximum bit rate: ITU-T I.371's generic cell rate algorithm, in bytes of IP packets. */
struct upf_mbr {
	uint64_t bps; /* 0: none */
	double cycles_per_byte;
	uint64_t burst_cycles;
};

enum upf_other { UPF_OTHER_DROP, UPF_OTHER_FORWARD };

/* What it says to the other end of N3 and stands ready for the next poll of the way there. */
struct upf_answers {
	unsigned int first, count;
	struct rte_mbuf *packet[UPF_ANSWERS_MAX];
	/* Of error indications and notifications, which anybody can provoke. */
	struct weir_error_rate errors;
};

struct upf {
	/* What every batch reads. */
	struct upf_session *sessions;
	struct weir_flow_table *by_ue;
	struct upf_mbr mbr[2];		 /* by direction */
	uint32_t own_ip, peer_ip;	 /* network byte order */
	uint8_t out_of_way;		 /* enum weir_direction of what leaves tunnels here */
	uint8_t container_type;		 /* of what enters them */
	unsigned int other;		 /* enum upf_other */
	struct weir_gtpu_prepared outer; /* of what enters tunnels */
	uint64_t n3_mtu_bytes;
	uint64_t error_indications_pps;
	uint64_t answers_lost;
	struct upf_answers answers;
	/* Options. */
	bool container;
	uint64_t qfi;
	uint64_t session_count;
	uint32_t ue_first_ip, n3_ip, gnb_ip;
	uint64_t teid_first, gnb_teid_first;
	uint64_t own_teid_first, peer_teid_first; /* two of these */
	uint64_t mbr_burst_bytes;
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
/* Behind `own_ip` … `container_type`. */
int upf_init(struct upf *upf, const char *where, struct weir_error *error);
void upf_fini(void *state);
void upf_process(void *state, struct weir_batch *batch, struct weir_stage_ledger *ledger);
uint32_t upf_steer(const void *state, const struct weir_headers *headers,
		   const struct rte_mbuf *packet, enum weir_direction direction);
void upf_report(const void *state, struct weir_report *report);

/* The rows of both descriptors. */
#define UPF_END                                                                                    \
	.options = upf_options, .option_count = UPF_OPTIONS, .drop_reasons = upf_drop_reasons,     \
	.drop_reason_count = UPF_DROP_REASONS, .returns = true, .rewrites = true, .tunnels = true, \
	.flow_bytes = 160, .state_size = sizeof(struct upf), .fini = upf_fini,                     \
	.process = upf_process, .release = upf_answers_release, .steer = upf_steer,                \
	.report = upf_report

/* sessions.c */

/* Makes the sessions that the options ask for. -1 with `error`. */
int upf_sessions_init(struct upf *upf, const char *where, struct weir_error *error);
void upf_sessions_fini(struct upf *upf);
/* The number of the session whose UE or tunnel that could be: the same for both. */
uint32_t upf_session_number_of_ue(const struct upf *upf, uint32_t ue_ip);
uint32_t upf_session_number_of_teid(const struct upf *upf, uint32_t teid);

/* The session whose tunnel it is at this end, or NULL. This end gave its TEIDs out itself
 * (TS 29.281, section 5.1), so that they say where a session is, and nothing is looked up. */
static inline struct upf_session *
upf_session_of_teid(const struct upf *upf, uint32_t teid)
{
	const uint32_t number = teid - (uint32_t)upf->own_teid_first;

	return number < upf->session_count ? &upf->sessions[number] : NULL;
}

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

/* Counts a packet that is within the maximum bit rate; false: it is above it. */
static inline bool
upf_admit(const struct upf_mbr *mbr, struct upf_flow *flow, uint32_t bytes, uint64_t now_tsc)
{
	if (mbr->bps != 0) {
		uint64_t due = RTE_MAX(flow->due_tsc, now_tsc);

		due += (uint64_t)(bytes * mbr->cycles_per_byte);
		if (due - now_tsc > mbr->burst_cycles)
			return false;
		flow->due_tsc = due;
	}
	weir_count(&flow->passed.packets, 1);
	weir_count(&flow->passed.bytes, bytes);
	return true;
}

/* A packet that is dropped. */
static inline void
upf_drop(struct rte_mbuf *packet, enum upf_drop reason, struct weir_stage_ledger *ledger)
{
	weir_count(&ledger->drops[reason], 1);
	rte_pktmbuf_free(packet);
}

#endif
