/* SPDX-License-Identifier: Apache-2.0 */
#include "agent.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "state.h"

struct pfcp_agent *
pfcp_agent_create(const struct upf *upf, struct pfcp_way way, uint32_t node_ip,
		  uint32_t recovery_time_s)
{
	struct pfcp_agent *agent = calloc(1, sizeof(*agent));

	if (agent == NULL)
		return NULL;
	agent->upf = upf;
	agent->way = way;
	agent->node_ip = node_ip;
	agent->recovery_time_s = recovery_time_s;
	agent->sessions = calloc(upf->capacity, sizeof(agent->sessions[0]));
	agent->replies = pfcp_replies_create();
	if (pfcp_places_init(&agent->places, upf) &&
	    pfcp_slots_init(&agent->slots, upf->rules_max) &&
	    pfcp_reports_init(&agent->reports, upf->capacity) && agent->sessions != NULL &&
	    agent->replies != NULL)
		return agent;
	pfcp_agent_free(agent);
	return NULL;
}

void
pfcp_agent_free(struct pfcp_agent *agent)
{
	if (agent == NULL)
		return;
	pfcp_replies_free(agent->replies);
	pfcp_reports_fini(&agent->reports);
	free(agent->slots.slot);
	free(agent->places.place);
	for (uint32_t place = 0; agent->sessions != NULL && place < agent->upf->capacity; place++)
		free(agent->sessions[place].kept);
	free(agent->sessions);
	free(agent);
}

bool
pfcp_agent_waits(const struct pfcp_agent *agent)
{
	const struct pfcp_reports *reports = &agent->reports;

	return reports->metered_count + reports->under_way + reports->notifying > 0;
}

const struct pfcp_writer *
pfcp_agent_due(struct pfcp_agent *agent, struct pfcp_peer *to)
{
	return pfcp_reports_due(agent, to);
}

bool
pfcp_agent_has(const struct pfcp_agent *agent, uint32_t place)
{
	return agent->sessions[place].up_seid != 0;
}

const struct pfcp_counts *
pfcp_agent_counts(const struct pfcp_agent *agent)
{
	return &agent->counts;
}

unsigned int
pfcp_agent_associations(const struct pfcp_agent *agent)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < PFCP_ASSOCIATIONS_MAX; i++)
		count += agent->associations[i].ip != 0;
	return count;
}

/* Responses: table 7.4.4.2-1 and those of clauses 7.5.3, 7.5.5 and 7.5.7. */

static void
put_node_id(struct pfcp_writer *response, uint32_t node_ip)
{
	uint8_t node_id[1 + sizeof(node_ip)] = {0}; /* an IPv4 address: clause 8.2.38 */

	memcpy(node_id + 1, &node_ip, sizeof(node_ip));
	pfcp_put_bytes(response, PFCP_IE_NODE_ID, node_id, sizeof(node_id));
}

static void
put_cause(struct pfcp_writer *response, const struct pfcp_fault *fault)
{
	pfcp_put_number(response, PFCP_IE_CAUSE, fault->cause, 1);
	if (fault->ie != 0)
		pfcp_put_number(response, PFCP_IE_OFFENDING_IE, fault->ie, 2);
}

static void
put_f_seid(struct pfcp_writer *response, uint64_t seid, uint32_t ip)
{
	uint8_t f_seid[13] = {0x02}; /* an IPv4 address: clause 8.2.37 */

	for (unsigned int i = 0; i < sizeof(seid); i++)
		f_seid[1 + i] = (uint8_t)(seid >> 8 * (7 - i));
	memcpy(f_seid + 9, &ip, sizeof(ip));
	pfcp_put_bytes(response, PFCP_IE_F_SEID, f_seid, sizeof(f_seid));
}

/* For each rule of the request whose TEID was to be chosen. */
static void
put_created(struct pfcp_writer *response, const struct pfcp_rules *rules, uint32_t teid,
	    uint32_t n3_ip)
{
	uint8_t f_teid[9] = {0x01}; /* an IPv4 address: clause 8.2.3 */

	teid = rte_cpu_to_be_32(teid);
	memcpy(f_teid + 1, &teid, sizeof(teid));
	memcpy(f_teid + 5, &n3_ip, sizeof(n3_ip));
	for (unsigned int i = 0; i < rules->pdr_count; i++) {
		size_t group;

		if (rules->pdr[i].change != PFCP_CREATE || !rules->pdr[i].f_teid.chooses)
			continue;
		group = pfcp_group_begin(response, PFCP_IE_CREATED_PDR);
		pfcp_put_number(response, PFCP_IE_PDR_ID, rules->pdr[i].id, 2);
		pfcp_put_bytes(response, PFCP_IE_F_TEID, f_teid, sizeof(f_teid));
		pfcp_group_end(response, group);
	}
}

/* The message that answers `request` is the next number. */
static void
begin_response(struct pfcp_writer *response, const struct pfcp_request *request,
	       const uint64_t *seid)
{
	pfcp_begin(response, request->message + 1, seid, request->sequence);
}

/* Whether an association has begun, or ended, which that peer may have numbered its requests for.
 */
static bool
do_node_request(struct pfcp_agent *agent, struct pfcp_peer from, uint8_t association,
		const struct pfcp_request *request, struct pfcp_fault *fault)
{
	if (request->message == PFCP_ASSOCIATION_RELEASE_REQUEST && association == PFCP_NOBODY)
		return pfcp_fails(fault, PFCP_NO_ASSOCIATION, 0);
	if (request->message == PFCP_HEARTBEAT_REQUEST || fault->cause != PFCP_ACCEPTED)
		return false;
	if (request->message == PFCP_ASSOCIATION_SETUP_REQUEST)
		return pfcp_associate(agent, from, request, fault);
	pfcp_dissociate(agent, association);
	return true;
}

static void
answer_node_request(const struct pfcp_agent *agent, const struct pfcp_request *request,
		    const struct pfcp_fault *fault, struct pfcp_writer *response)
{
	begin_response(response, request, NULL);
	if (request->message != PFCP_HEARTBEAT_REQUEST) {
		put_node_id(response, agent->node_ip);
		put_cause(response, fault);
	}
	if (request->message != PFCP_ASSOCIATION_RELEASE_REQUEST)
		pfcp_put_number(response, PFCP_IE_RECOVERY_TIME_STAMP, agent->recovery_time_s, 4);
	if (request->message == PFCP_ASSOCIATION_SETUP_REQUEST)
		pfcp_put_number(response, PFCP_IE_UP_FUNCTION_FEATURES, PFCP_FEATURES, 2);
}

static void
take_session_request(struct pfcp_agent *agent, uint8_t association,
		     const struct pfcp_request *request, struct pfcp_fault *fault,
		     struct pfcp_writer *response)
{
	const bool establishes = request->message == PFCP_SESSION_ESTABLISHMENT_REQUEST;
	struct pfcp_session *session =
		establishes ? NULL : pfcp_session_of(agent, association, request->seid);
	uint64_t cp_seid = session != NULL ? session->cp_seid : request->cp_seid;

	agent->told.count = 0;
	if (!establishes && session == NULL)
		cp_seid = 0; /* clause 7.2.2.4.2 */
	if (association == PFCP_NOBODY) {
		pfcp_fails(fault, PFCP_NO_ASSOCIATION, 0);
	} else if (!establishes && session == NULL) {
		pfcp_fails(fault, PFCP_SESSION_NOT_FOUND, 0);
	} else if (fault->cause == PFCP_ACCEPTED) {
		if (establishes)
			pfcp_session_establish(agent, association, request, &session, fault);
		else if (request->message == PFCP_SESSION_MODIFICATION_REQUEST)
			pfcp_session_modify(agent, session, request, fault);
		else
			pfcp_session_delete(agent, session);
	}
	begin_response(response, request, &cp_seid);
	if (establishes)
		put_node_id(response, agent->node_ip);
	put_cause(response, fault);
	if (fault->cause != PFCP_ACCEPTED)
		return;
	if (establishes)
		put_f_seid(response, session->up_seid, agent->node_ip);
	if (request->message == PFCP_SESSION_DELETION_REQUEST) {
		pfcp_put_usages(response, PFCP_IE_USAGE_REPORT_OF_DELETION, &agent->told);
		return;
	}
	put_created(response, &request->rules, session->teid, agent->upf->own_ip);
	pfcp_put_usages(response, PFCP_IE_USAGE_REPORT_OF_MODIFICATION, &agent->told);
}

static void
count(struct pfcp_counts *counts, enum pfcp_cause cause)
{
	if (cause == PFCP_ACCEPTED) {
		counts->accepted++;
		return;
	}
	static_assert(PFCP_SERVICE_NOT_SUPPORTED < PFCP_CAUSES, "the last one is counted");
	counts->refused++;
	counts->refused_by[cause]++;
}

static const struct pfcp_writer *
tell_version(struct pfcp_agent *agent, const struct pfcp_request *request)
{
	struct pfcp_writer *response = &agent->not_kept;

	pfcp_begin(response, PFCP_VERSION_NOT_SUPPORTED_RESPONSE, NULL, request->sequence);
	return pfcp_end(response) ? response : NULL;
}

/* A setup that is numbered as the one before by who was started again since: not a repeated one. */
static bool
has_begun_anew(const struct pfcp_agent *agent, uint8_t association,
	       const struct pfcp_request *request)
{
	return request->message == PFCP_ASSOCIATION_SETUP_REQUEST && association != PFCP_NOBODY &&
	       agent->associations[association].recovery_time_s != request->recovery_time_s;
}

static bool
keeps_response(const struct pfcp_request *request, uint8_t association)
{
	return request->message == PFCP_ASSOCIATION_SETUP_REQUEST ||
	       (request->message != PFCP_HEARTBEAT_REQUEST && association != PFCP_NOBODY);
}

const struct pfcp_writer *
pfcp_agent_take(struct pfcp_agent *agent, struct pfcp_peer from, struct pfcp_span message)
{
	const uint8_t association = pfcp_association_of(agent, from);
	struct pfcp_fault fault = {.cause = PFCP_ACCEPTED};
	const struct pfcp_writer *before;
	struct pfcp_writer *response;
	struct pfcp_request request;
	enum pfcp_reading reading;
	struct pfcp_header header;
	bool is_of_session;

	if (pfcp_header_read(message, &header) && header.version == PFCP_VERSION &&
	    header.message == PFCP_SESSION_REPORT_RESPONSE) {
		/* Its address need not be that of the association. */
		if (pfcp_reports_answered(agent, from, &header))
			return NULL;
		if (association != PFCP_NOBODY)
			agent->counts.repeated++; /* one that was answered before */
		else
			agent->counts.not_associated++;
		return NULL;
	}
	reading = pfcp_request_read(message, &request, &fault);
	if (reading == PFCP_IGNORED) {
		agent->counts.malformed++;
		return NULL;
	}
	if (reading == PFCP_OTHER_VERSION) {
		agent->counts.refused++;
		agent->counts.other_version++;
		return tell_version(agent, &request);
	}
	before = pfcp_replies_find(agent->replies, from, &request);
	if (before != NULL && !has_begun_anew(agent, association, &request)) {
		agent->counts.repeated++;
		return before;
	}
	is_of_session = request.message >= PFCP_SESSION_ESTABLISHMENT_REQUEST;
	if (!is_of_session && do_node_request(agent, from, association, &request, &fault)) {
		pfcp_replies_forget(agent->replies, from.ip);
		before = NULL;
	}
	/* What nothing is done for may be answered twice: heartbeats, and strangers, who are to
	 * take no room from others; and a setup that is refused under the number of one that was
	 * not. */
	response = before == NULL && keeps_response(&request, association)
			   ? pfcp_replies_add(agent->replies, from, &request)
			   : &agent->not_kept;
	if (is_of_session)
		take_session_request(agent, association, &request, &fault, response);
	else
		answer_node_request(agent, &request, &fault, response);
	count(&agent->counts, fault.cause);
	return pfcp_end(response) ? response : NULL;
}
