/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was answered to the last requests: one that comes again, since its response was lost or
 * somebody sends what he has heard, is answered with the same and not done again (TS 29.244, clause
 * 6.4).
 */
#ifndef WEIR_NF_UPF_PFCP_REPLIES_H
#define WEIR_NF_UPF_PFCP_REPLIES_H

#include "request.h"
#include "write.h"

#define PFCP_REPLIES_MAX 8192

/* Where a datagram comes from; network byte order. */
struct pfcp_peer {
	uint32_t ip;
	uint16_t port;
};

struct pfcp_replies;

/* NULL: no memory. */
struct pfcp_replies *pfcp_replies_create(void);
void pfcp_replies_free(struct pfcp_replies *replies);

/* The response to a request that came before, or NULL. */
const struct pfcp_writer *pfcp_replies_find(const struct pfcp_replies *replies,
					    struct pfcp_peer from,
					    const struct pfcp_request *request);
/* Where the response to a request that did not come before is to be written; the oldest one goes.
 */
struct pfcp_writer *pfcp_replies_add(struct pfcp_replies *replies, struct pfcp_peer from,
				     const struct pfcp_request *request);
/* Those to that address are of no use any more: who is there begins, or ended, an association, and
 * may number its requests anew. */
void pfcp_replies_forget(struct pfcp_replies *replies, uint32_t ip);

#endif
