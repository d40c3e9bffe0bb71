/* SPDX-License-Identifier: Apache-2.0 */
/* Associations with control plane functions (TS 29.244, clause 6.2.6). */
#include <string.h>

#include "state.h"

uint8_t
pfcp_association_of(const struct pfcp_agent *agent, struct pfcp_peer from)
{
	for (uint8_t i = 0; i < PFCP_ASSOCIATIONS_MAX; i++) {
		if (from.ip != 0 && agent->associations[i].ip == from.ip)
			return i;
	}
	return PFCP_NOBODY;
}

static uint8_t
of_node(const struct pfcp_agent *agent, struct pfcp_span node_id)
{
	for (uint8_t i = 0; i < PFCP_ASSOCIATIONS_MAX; i++) {
		const struct pfcp_association *association = &agent->associations[i];

		if (association->ip != 0 && association->node_id_bytes == node_id.bytes &&
		    memcmp(association->node_id, node_id.at, node_id.bytes) == 0)
			return i;
	}
	return PFCP_NOBODY;
}

static uint8_t
free_one(const struct pfcp_agent *agent)
{
	for (uint8_t i = 0; i < PFCP_ASSOCIATIONS_MAX; i++) {
		if (agent->associations[i].ip == 0)
			return i;
	}
	return PFCP_NOBODY;
}

/* A node that sets one up again has begun anew: nothing of what it had stays (clause 6.2.6.2.2). */
bool
pfcp_associate(struct pfcp_agent *agent, struct pfcp_peer from, const struct pfcp_request *request,
	       struct pfcp_fault *fault)
{
	/* Both that node's, at whatever address, and that of whoever was at this one. */
	const uint8_t before[] = {of_node(agent, request->node_id),
				  pfcp_association_of(agent, from)};
	struct pfcp_association *association;
	uint8_t place;

	for (unsigned int i = 0; i < PFCP_COUNT(before); i++) {
		if (before[i] != PFCP_NOBODY)
			pfcp_dissociate(agent, before[i]);
	}
	place = free_one(agent);
	if (place == PFCP_NOBODY)
		return pfcp_fails(fault, PFCP_NO_RESOURCES, 0);
	association = &agent->associations[place];
	association->ip = from.ip;
	association->recovery_time_s = request->recovery_time_s;
	association->node_id_bytes = (uint16_t)request->node_id.bytes;
	memcpy(association->node_id, request->node_id.at, request->node_id.bytes);
	return true;
}

void
pfcp_dissociate(struct pfcp_agent *agent, uint8_t association)
{
	for (uint32_t place = 0; place < agent->upf->capacity; place++) {
		struct pfcp_session *session = &agent->sessions[place];

		if (session->up_seid != 0 && session->association == association)
			pfcp_session_delete(agent, session);
	}
	pfcp_reports_forget(&agent->reports, association);
	agent->associations[association].ip = 0;
}
