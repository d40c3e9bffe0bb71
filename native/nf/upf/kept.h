/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Downlink packets that wait until their UE can be reached (TS 23.501, clause 5.8.3): a queue for
 * each session, or rule of one, that has some. They leave in their order when the forwarding action
 * says so, in front of what comes then, or end after a time, or where their session or rule does.
 */
#ifndef WEIR_NF_UPF_KEPT_H
#define WEIR_NF_UPF_KEPT_H

#include "engine/nf.h"

/* Whose packets they are. */
struct upf_owner {
	uint32_t place; /* of the session */
	uint32_t rule;	/* 0: the session itself */
};

/* A packet that waits. */
struct upf_kept {
	struct rte_mbuf *packet;
	uint64_t since_tsc;
	uint32_t next; /* 0: none */
	uint16_t l3_offset, l3_bytes;
};

enum upf_queue_state {
	UPF_QUEUE_FREE,
	UPF_QUEUE_KEEPS,
	UPF_QUEUE_LEAVES, /* what its owner says becomes of its packets */
	UPF_QUEUE_ENDS,	  /* it has no owner any more */
};

struct upf_queue {
	struct upf_owner owner;
	uint32_t first, last; /* packets; 0: there are none */
	uint32_t count;
	uint32_t next; /* of those that leave, or are free; 0: none */
	uint8_t state; /* enum upf_queue_state */
	bool is_listed;
};

/* Numbers of packets and queues are from 1 on. */
struct upf_buffer {
	uint64_t packets; /* that wait now */
	struct upf_kept *kept;
	struct upf_queue *queues;
	uint32_t max; /* packets, and queues; 0: nothing is ever kept */
	uint32_t kept_free, queue_free;
	uint32_t leaving_first, leaving_last; /* queues */
	uint32_t looked_at;		      /* the last queue whose time was looked at */
	uint64_t longest_tsc;
	/* For the control thread: who has a first packet (upf_note()); NULL: nobody is told. */
	struct rte_ring *notes;
};

struct upf;

/* -1: no memory. */
int upf_buffer_init(struct upf *upf);
void upf_buffer_fini(struct upf_buffer *buffer);

/*
 * Takes a packet whose forwarding action is to keep it. `*queue`: the owner's; 0: none yet. False:
 * there is no room, in all or of the `most` of one queue; nothing was done.
 */
bool upf_buffer_keep(struct upf_buffer *buffer, uint32_t *queue, uint32_t most,
		     const struct upf_kept *kept, struct upf_owner owner);

/* That owner's packets are to leave, if there are any. False: there are none. */
bool upf_buffer_leave(struct upf_buffer *buffer, uint32_t queue);
/* They are to stay after all. */
void upf_buffer_stay(struct upf_buffer *buffer, uint32_t queue);
/* They end: `queue` is the owner's no more. True: they were on their way. */
bool upf_buffer_end(struct upf_buffer *buffer, uint32_t *queue);

/* Puts what leaves now behind the packets of `batch`, and drops what ends. */
void upf_buffer_release(struct upf *upf, struct weir_batch *batch,
			struct weir_stage_ledger *ledger);

/* Tells the control thread of that owner's first packet. False: not now. */
bool upf_buffer_note(struct upf *upf, struct upf_owner owner, uint16_t rule_id);

/* A note, as the control thread reads it. */
struct upf_note {
	uint32_t place;
	bool is_of_rule; /* else of the session itself */
	uint16_t rule_id;
	uint64_t changes; /* of sessions, which were made when the packet came */
};

/* The control thread: the next one. False: there is none. */
bool upf_buffer_next_note(const struct upf *upf, struct upf_note *note);

#endif
