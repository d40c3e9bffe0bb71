/* SPDX-License-Identifier: Apache-2.0 */
/* What clients and servers share: their port, what they count, and sending. For the files of this
 * folder. */
#ifndef WEIR_TRAFFIC_CONNECTIONS_SIDE_H
#define WEIR_TRAFFIC_CONNECTIONS_SIDE_H

#include <netinet/in.h>

#include <rte_byteorder.h>
#include <rte_mempool.h>
#include <rte_tcp.h>

#include "connections.h"
#include "segment.h"
#include "wheel.h"

#define WEIR_SIDE_BURST 32
#define WEIR_SIDE_OUT 64

struct weir_side {
	struct weir_area area; /* first */
	char name[64];
	struct weir_queue queue;
	uint16_t port_id;
	uint16_t mss;
	uint8_t retries;
	bool running; /* else what arrives means nothing */
	uint64_t retransmit_cycles;
	struct rte_mempool *pool; /* NULL: not configured */
	struct weir_link_header link;
	struct weir_prefix_pairs prefixes;
	bool learns; /* prefixes from what arrives; else others' packets are none of ours */
	unsigned int out_count;
	struct rte_mbuf *out[WEIR_SIDE_OUT];
	uint64_t random;
	struct weir_side_count count;
	struct weir_wheel wheel;
};

/* Takes up to a burst from the port and reads it: packets that cannot count are counted and freed.
 */
uint16_t weir_side_receive(struct weir_side *side, struct rte_mbuf **packets,
			   struct weir_segment *segments);
/* Gives to the port what was sent; what it does not take is lost. */
void weir_side_flush(struct weir_side *side);
/* Sends one packet with the next weir_side_flush(), or before. */
void weir_side_send(struct weir_side *side, const struct weir_segment *segment, const uint8_t *head,
		    uint16_t head_bytes, uint16_t mss);

/* Most payload of a segment that goes there. */
static inline uint16_t
weir_side_mss(const struct weir_side *side, const struct weir_tuple *to)
{
	return to->zero[0] == 0 ? side->mss
				: RTE_MIN(side->mss, (uint16_t)WEIR_CONNECTION_IPV6_MSS_MAX);
}

static inline uint64_t
weir_side_timeout(const struct weir_side *side, uint8_t retries)
{
	return side->retransmit_cycles << retries;
}

/* As long as the other side sends anything again, and longer. */
static inline uint64_t
weir_side_patience(const struct weir_side *side)
{
	return side->retransmit_cycles << (side->retries + 1);
}

/* One end of a TCP connection. Sequence numbers are compared as RFC 9293 does, modulo 2^32. */
struct weir_tcp {
	uint32_t unacknowledged; /* SND.UNA */
	uint32_t next;		 /* SND.NXT: what is sent next, less than `highest` when again */
	uint32_t highest;	 /* behind all that was ever sent */
	uint32_t expected;	 /* RCV.NXT */
	uint32_t message, message_bytes; /* sent: where it begins, and its length */
	uint32_t awaited, awaited_bytes; /* received: likewise */
	uint8_t state;
	uint8_t retries : 4, duplicates : 4; /* acknowledgements, up to 3 */
	uint8_t owed;			     /* segments that were not acknowledged yet */
	uint8_t salt;
};

#define WEIR_DUPLICATES 3 /* RFC 5681 */

/* A segment without payload. */
void weir_tcp_control(struct weir_side *side, struct weir_tcp *tcp, const struct weir_tuple *to,
		      uint8_t flags, uint32_t sequence);
/* Sends of the message what the window allows. `head`: its first bytes, WEIR_REQUEST_BYTES_MIN of
 * them; NULL: the pattern. */
void weir_tcp_push(struct weir_side *side, struct weir_tcp *tcp, const struct weir_tuple *to,
		   const uint8_t *head);
/* The segment acknowledges something. True: sent bytes that were not acknowledged before. */
bool weir_tcp_acknowledged(struct weir_tcp *tcp, const struct weir_segment *segment);
/* What was sent from the first byte that is not acknowledged is to be sent again. */
static inline void
weir_tcp_go_back(struct weir_tcp *tcp)
{
	tcp->next = tcp->unacknowledged;
}

static inline bool
weir_tcp_is_outstanding(const struct weir_tcp *tcp)
{
	return tcp->unacknowledged != tcp->highest;
}

static inline void
weir_tcp_begin_message(struct weir_tcp *tcp, uint32_t bytes)
{
	tcp->message = tcp->next = tcp->highest;
	tcp->message_bytes = bytes;
}

/* Whether to acknowledge at once: each second segment, and the last of what was sent together. */
static inline bool
weir_tcp_owes(const struct weir_tcp *tcp, const struct weir_segment *segment)
{
	return tcp->owed >= 2 || (segment->flags & RTE_TCP_PSH_FLAG) != 0;
}

/* What a request begins with: how long it and its answer are. Network order. */
struct weir_request {
	uint32_t magic;
	uint32_t request_bytes, answer_bytes;
	uint8_t salt; /* of both messages' patterns */
	uint8_t zero[3];
};
static_assert(sizeof(struct weir_request) == WEIR_REQUEST_BYTES_MIN, "the shortest request");
#define WEIR_REQUEST_MAGIC 0x57454952 /* "WEIR" */

/* For run.c; NULL: there are none. */
struct weir_side *weir_clients_side(void);
struct weir_side *weir_servers_side(void);
int weir_side_prepare(struct weir_side *side, const struct weir_end *end,
		      const struct weir_connections_config *config, struct weir_error *error);
/* Memory of whole pages, all zero and all there; NULL: none. */
void *weir_side_memory(size_t bytes);
void weir_side_memory_free(void *memory, size_t bytes);

int weir_clients_prepare(const struct weir_connections_config *config, struct weir_error *error);
void weir_clients_forget(void);
/* On the clients' thread, or between runs. */
void weir_clients_begin(const struct weir_connections_run *run, uint64_t start_tsc);
bool weir_clients_have_opened(void);
void weir_clients_counted(struct weir_connections_count *count);

int weir_servers_prepare(const struct weir_connections_config *config, struct weir_error *error);
void weir_servers_forget(void);
void weir_servers_begin(uint64_t start_tsc);

#endif
