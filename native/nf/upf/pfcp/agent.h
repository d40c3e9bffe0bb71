/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The user plane function's side of N4 (TS 29.244): what it does with the datagrams of control
 * plane functions, and what it answers. Of sockets it knows nothing, and of the function's sessions
 * that they change all at once, before the answer. Control thread only.
 */
#ifndef WEIR_NF_UPF_PFCP_AGENT_H
#define WEIR_NF_UPF_PFCP_AGENT_H

#include "replies.h"
#include "way.h"

struct pfcp_agent;

/*
 * `node_ip` (network byte order): its Node ID, and where its tunnels on N3 end is the function's.
 * `recovery_time_s`: when it began, since 1900. NULL: no memory. The function stays the caller's.
 */
struct pfcp_agent *pfcp_agent_create(const struct upf *upf, struct pfcp_way way, uint32_t node_ip,
				     uint32_t recovery_time_s);
void pfcp_agent_free(struct pfcp_agent *agent);

/* Does what a datagram says. The response for its sender, until the next call; NULL: none. */
const struct pfcp_writer *pfcp_agent_take(struct pfcp_agent *agent, struct pfcp_peer from,
					  struct pfcp_span message);

/* Whether time alone may bring a message. */
bool pfcp_agent_waits(const struct pfcp_agent *agent);
/* A message whose time has come, and `to` whom, until the next call; NULL: there is none now. */
const struct pfcp_writer *pfcp_agent_due(struct pfcp_agent *agent, struct pfcp_peer *to);

/* Whether a session of that place was established, and neither deleted since nor its association
 * released: the function may have it no more. */
bool pfcp_agent_has(const struct pfcp_agent *agent, uint32_t place);

const struct pfcp_counts *pfcp_agent_counts(const struct pfcp_agent *agent);
unsigned int pfcp_agent_associations(const struct pfcp_agent *agent);

#endif
