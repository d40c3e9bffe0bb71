/* SPDX-License-Identifier: Apache-2.0 */
#include "request.h"

#include <string.h>

/* Clause 8.2.38. */
static bool
read_node_id(struct pfcp_span value, void *group, struct pfcp_fault *fault)
{
	static const size_t bytes_min[] = {5, 17, 2}; /* IPv4, IPv6, FQDN */
	const uint8_t type = value.at[0] & 0x0f;

	if (type >= PFCP_COUNT(bytes_min))
		return pfcp_fails(fault, PFCP_MANDATORY_IE_INCORRECT, PFCP_IE_NODE_ID);
	if (value.bytes < bytes_min[type] || value.bytes > PFCP_NODE_ID_BYTES_MAX)
		return pfcp_fails(fault, PFCP_INVALID_LENGTH, PFCP_IE_NODE_ID);
	((struct pfcp_request *)group)->node_id = value;
	return true;
}

static bool
read_recovery_time(struct pfcp_span value, void *group, struct pfcp_fault *fault)
{
	(void)fault;
	((struct pfcp_request *)group)->recovery_time_s = (uint32_t)pfcp_number(value.at, 4);
	return true;
}

/* Clause 8.2.37. */
static bool
read_f_seid(struct pfcp_span value, void *group, struct pfcp_fault *fault)
{
	enum { V6 = 1, V4 = 2 };
	struct pfcp_request *request = group;

	if ((value.at[0] & (V4 | V6)) == 0)
		return pfcp_fails(fault, PFCP_MANDATORY_IE_INCORRECT, PFCP_IE_F_SEID);
	request->cp_seid = pfcp_number(value.at + 1, 8);
	if ((value.at[0] & V4) == 0)
		return true;
	if (value.bytes < 13)
		return pfcp_fails(fault, PFCP_INVALID_LENGTH, PFCP_IE_F_SEID);
	memcpy(&request->cp_ip, value.at + 9, sizeof(request->cp_ip));
	return true;
}

#define RULE(name, reader, how)                                                                    \
	static bool name(struct pfcp_span value, void *group, struct pfcp_fault *fault)            \
	{                                                                                          \
		return reader(value, how, &((struct pfcp_request *)group)->rules, fault);          \
	}

RULE(create_pdr, pfcp_pdr_read, PFCP_CREATE)
RULE(create_far, pfcp_far_read, PFCP_CREATE)
RULE(create_qer, pfcp_qer_read, PFCP_CREATE)
RULE(create_urr, pfcp_urr_read, PFCP_CREATE)
RULE(create_bar, pfcp_bar_read, PFCP_CREATE)
RULE(update_pdr, pfcp_pdr_read, PFCP_UPDATE)
RULE(update_far, pfcp_far_read, PFCP_UPDATE)
RULE(update_qer, pfcp_qer_read, PFCP_UPDATE)
RULE(update_urr, pfcp_urr_read, PFCP_UPDATE)
RULE(update_bar, pfcp_bar_read, PFCP_UPDATE)
RULE(remove_pdr, pfcp_pdr_read, PFCP_REMOVE)
RULE(remove_far, pfcp_far_read, PFCP_REMOVE)
RULE(remove_qer, pfcp_qer_read, PFCP_REMOVE)
RULE(remove_urr, pfcp_urr_read, PFCP_REMOVE)
RULE(remove_bar, pfcp_bar_read, PFCP_REMOVE)

static bool
query_urr(struct pfcp_span value, void *group, struct pfcp_fault *fault)
{
	struct pfcp_request *request = group;

	if (request->query_count == PFCP_URRS_MAX)
		return pfcp_fails(fault, PFCP_NO_RESOURCES, PFCP_IE_QUERY_URR);
	return pfcp_queried_urr_read(value, &request->queried[request->query_count++], fault);
}

/* The other flags are of what this function does not have. */
static bool
read_flags(struct pfcp_span value, void *group, struct pfcp_fault *fault)
{
	struct pfcp_request *request = group;

	(void)fault;
	request->queries_all = (value.at[0] & PFCP_QUERIES_ALL) != 0;
	request->drops_buffered = (value.at[0] & PFCP_DROPS_BUFFERED) != 0;
	return true;
}

static const struct pfcp_row heartbeat[] = {
	{PFCP_IE_RECOVERY_TIME_STAMP, 4, true, false, read_recovery_time},
};

static const struct pfcp_row association_setup[] = {
	{PFCP_IE_NODE_ID, 2, true, false, read_node_id},
	{PFCP_IE_RECOVERY_TIME_STAMP, 4, true, false, read_recovery_time},
};

static const struct pfcp_row association_release[] = {
	{PFCP_IE_NODE_ID, 2, true, false, read_node_id},
};

static const struct pfcp_row establishment[] = {
	{PFCP_IE_NODE_ID, 2, true, false, read_node_id},
	{PFCP_IE_F_SEID, 9, true, false, read_f_seid},
	{PFCP_IE_CREATE_PDR, 0, true, true, create_pdr},
	{PFCP_IE_CREATE_FAR, 0, true, true, create_far},
	{PFCP_IE_CREATE_QER, 0, false, true, create_qer},
	{PFCP_IE_CREATE_URR, 0, false, true, create_urr},
	{PFCP_IE_CREATE_BAR, 0, false, true, create_bar},
};

static const struct pfcp_row modification[] = {
	{PFCP_IE_F_SEID, 9, false, false, read_f_seid},
	{PFCP_IE_CREATE_PDR, 0, false, true, create_pdr},
	{PFCP_IE_CREATE_FAR, 0, false, true, create_far},
	{PFCP_IE_CREATE_QER, 0, false, true, create_qer},
	{PFCP_IE_CREATE_URR, 0, false, true, create_urr},
	{PFCP_IE_UPDATE_PDR, 0, false, true, update_pdr},
	{PFCP_IE_UPDATE_FAR, 0, false, true, update_far},
	{PFCP_IE_UPDATE_QER, 0, false, true, update_qer},
	{PFCP_IE_UPDATE_URR, 0, false, true, update_urr},
	{PFCP_IE_REMOVE_PDR, 0, false, true, remove_pdr},
	{PFCP_IE_REMOVE_FAR, 0, false, true, remove_far},
	{PFCP_IE_REMOVE_QER, 0, false, true, remove_qer},
	{PFCP_IE_REMOVE_URR, 0, false, true, remove_urr},
	{PFCP_IE_CREATE_BAR, 0, false, true, create_bar},
	{PFCP_IE_UPDATE_BAR, 0, false, true, update_bar},
	{PFCP_IE_REMOVE_BAR, 0, false, true, remove_bar},
	{PFCP_IE_QUERY_URR, 0, false, true, query_urr},
	{PFCP_IE_SMREQ_FLAGS, 1, false, false, read_flags},
};

/* What each request may have. */
static const struct {
	enum pfcp_message message;
	bool has_seid;
	const struct pfcp_row *rows;
	unsigned int row_count;
} requests[] = {
	{PFCP_HEARTBEAT_REQUEST, false, heartbeat, PFCP_COUNT(heartbeat)},
	{PFCP_ASSOCIATION_SETUP_REQUEST, false, association_setup, PFCP_COUNT(association_setup)},
	{PFCP_ASSOCIATION_RELEASE_REQUEST, false, association_release,
	 PFCP_COUNT(association_release)},
	{PFCP_SESSION_ESTABLISHMENT_REQUEST, true, establishment, PFCP_COUNT(establishment)},
	{PFCP_SESSION_MODIFICATION_REQUEST, true, modification, PFCP_COUNT(modification)},
	{PFCP_SESSION_DELETION_REQUEST, true, NULL, 0},
};

enum pfcp_reading
pfcp_request_read(struct pfcp_span message, struct pfcp_request *request, struct pfcp_fault *fault)
{
	struct pfcp_header header;

	memset(request, 0, sizeof(*request));
	if (!pfcp_header_read(message, &header))
		return PFCP_IGNORED;
	request->sequence = header.sequence;
	if (header.version != PFCP_VERSION)
		return PFCP_OTHER_VERSION;
	for (unsigned int i = 0; i < PFCP_COUNT(requests); i++) {
		if (requests[i].message != header.message)
			continue;
		if (requests[i].has_seid != header.has_seid)
			return PFCP_IGNORED;
		request->message = requests[i].message;
		request->seid = header.seid;
		return pfcp_group_read(requests[i].rows, requests[i].row_count, header.ies, request,
				       fault)
			       ? PFCP_READ
			       : PFCP_FAULTY;
	}
	return PFCP_IGNORED;
}
