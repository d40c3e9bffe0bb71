/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the agent share. */
#ifndef WEIR_NF_UPF_PFCP_STATE_H
#define WEIR_NF_UPF_PFCP_STATE_H

#include "bearer.h"
#include "kept.h"
#include "replies.h"
#include "usage.h"
#include "way.h"

#define PFCP_ASSOCIATIONS_MAX 16
#define PFCP_NOBODY UINT8_MAX

/* A session by PFCP, at the place that its session of the function has. */
struct pfcp_session {
	uint64_t up_seid; /* 0: none is here */
	uint64_t cp_seid;
	uint32_t teid;
	uint8_t association;
	bool notifies;	     /* somebody may be told of packets that wait: */
	bool is_metered;     /* it has usage reporting rules: */
	uint32_t metered_at; /* where the agent's reports have its place */
	struct upf_ue ue;
	uint32_t cp_ip;		 /* whom its reports are for; network byte order */
	uint64_t notifies_since; /* so many changes of sessions */
	struct pfcp_kept *kept;
};

struct pfcp_association {
	uint32_t ip; /* 0: there is none */
	uint32_t recovery_time_s;
	uint16_t node_id_bytes;
	uint8_t node_id[PFCP_NODE_ID_BYTES_MAX];
};

/* Places for a session of this agent, the one that has been free for longest first. Those that
 * others' sessions had when it began are not among them. */
struct pfcp_places {
	uint32_t *place;
	uint32_t first, count, capacity;
	/* Of the others: where the next one that a command has emptied is looked for, how many
	 * sessions were removed by this agent, and how many by commands when none was found. */
	uint32_t look_at;
	uint64_t removed, emptied_before;
};

/* Random bits that nobody can guess, drawn many at a time. */
struct pfcp_dice {
	uint64_t bits[32];
	unsigned int left;
};

#define PFCP_REPORTS_MAX 256 /* that are not answered yet */
#define PFCP_REPORTS_OWN                                                                           \
	8 /* of these for each association, whatever the others leave unanswered                   \
	   */
static_assert(PFCP_REPORTS_OWN * PFCP_ASSOCIATIONS_MAX < PFCP_REPORTS_MAX,
	      "the rest is for whoever comes");
#define PFCP_NOTES_MAX 256 /* for which their association has no room */
#define PFCP_REPORT_AGAIN_MS 3000
#define PFCP_REPORT_TRIES 3

/* A Session Report Request. */
struct pfcp_report {
	uint8_t tries; /* 0: none is here */
	uint8_t association;
	uint32_t sequence, to_ip;
	uint64_t again_ms;
	struct pfcp_writer message;
};

/* Reports on their way, and places of sessions with usage reporting rules, which are looked at one
 * after the other. */
struct pfcp_reports {
	struct pfcp_report *report;
	uint32_t under_way, sequence;
	uint32_t under_way_of[PFCP_ASSOCIATIONS_MAX];
	struct upf_note note[PFCP_NOTES_MAX]; /* the oldest first */
	uint32_t note_count;
	uint32_t *metered;
	uint32_t metered_count, next;
	uint32_t notifying; /* sessions */
	/* Of the present turn. */
	uint64_t turn_ms;
	uint32_t left;		/* sessions */
	unsigned int next_sent; /* reports */
};

struct pfcp_agent {
	const struct upf *upf;
	struct pfcp_way way;
	uint32_t node_ip;
	uint32_t recovery_time_s;
	struct pfcp_session *sessions; /* by place */
	struct pfcp_places places;
	struct pfcp_dice dice;
	struct pfcp_association associations[PFCP_ASSOCIATIONS_MAX];
	struct pfcp_replies *replies;
	struct pfcp_slots slots;
	struct pfcp_reports reports;
	struct pfcp_usages told; /* what the response to the present request reports */
	struct pfcp_counts counts;
	struct upf_changes changes;  /* that are under way */
	struct pfcp_writer not_kept; /* a response that is not kept */
};

/* choices.c: a place, and numbers that lead to it and cannot be guessed. */

bool pfcp_places_init(struct pfcp_places *places, const struct upf *upf);
/* For a session of that UE. False: every place is taken, or the one for that address or prefix is,
 * or there is none; one that a command took from a control plane function is that one's until it
 * deletes it. */
bool pfcp_place_choose(struct pfcp_agent *agent, const struct upf_ue *ue, uint32_t *place);
void pfcp_place_give_back(struct pfcp_agent *agent, uint32_t place);
uint32_t pfcp_teid_choose(struct pfcp_agent *agent, uint32_t place, const struct upf_ue *ue);
uint64_t pfcp_seid_choose(struct pfcp_agent *agent, uint32_t place);
/* The place that a SEID of pfcp_seid_choose() leads to. */
uint32_t pfcp_place_of_seid(uint64_t seid);

/* nodes.c */

/* The association of that peer, or PFCP_NOBODY. */
uint8_t pfcp_association_of(const struct pfcp_agent *agent, struct pfcp_peer from);
/* Requests of nodes: false with `fault`. */
bool pfcp_associate(struct pfcp_agent *agent, struct pfcp_peer from,
		    const struct pfcp_request *request, struct pfcp_fault *fault);
void pfcp_dissociate(struct pfcp_agent *agent, uint8_t association);

/* sessions.c: requests about sessions, of a peer that is associated. `session`: which it is about,
 * or became. */

bool pfcp_session_establish(struct pfcp_agent *agent, uint8_t association,
			    const struct pfcp_request *request, struct pfcp_session **session,
			    struct pfcp_fault *fault);
bool pfcp_session_modify(struct pfcp_agent *agent, struct pfcp_session *session,
			 const struct pfcp_request *request, struct pfcp_fault *fault);
void pfcp_session_delete(struct pfcp_agent *agent, struct pfcp_session *session);
/* Nothing passes any more that this usage of the session counts. */
void pfcp_session_exhaust(struct pfcp_agent *agent, const struct pfcp_session *session,
			  uint32_t slot);
/* Whether the function has it still: a command may have removed it, and the UE another one at
 * another place since. */
bool pfcp_session_stands(const struct pfcp_agent *agent, const struct pfcp_session *session);
/* What waits for the session is dropped. */
void pfcp_session_drop_buffered(struct pfcp_agent *agent, const struct pfcp_session *session);
/* The session of that SEID which the association has, or NULL. */
struct pfcp_session *pfcp_session_of(struct pfcp_agent *agent, uint8_t association, uint64_t seid);

/* reports.c: reports that nobody asked for (clause 7.5.8), whose time has come, and which are sent
 * again until they are answered (clause 6.4). What is measured while there is no room for more
 * reports is in a later one. */

bool pfcp_reports_init(struct pfcp_reports *reports, uint32_t capacity);
void pfcp_reports_fini(struct pfcp_reports *reports);

/* The session at that place has usage reporting rules, or none any more. */
void pfcp_reports_follow(struct pfcp_agent *agent, uint32_t place, bool has_rules);
/* Whether somebody is to be told of packets that wait for the session, which was changed just now.
 */
void pfcp_reports_expect(struct pfcp_agent *agent, struct pfcp_session *session, bool notifies);
/* Those of sessions of that association are of no use any more. */
void pfcp_reports_forget(struct pfcp_reports *reports, uint8_t association);
/* What came is a response: to a report of ours, or false. */
bool pfcp_reports_answered(struct pfcp_agent *agent, struct pfcp_peer from,
			   const struct pfcp_header *header);
/* A place for a report to that association. NULL: what is free is kept for others, so that a peer
 * which answers nothing holds up its own reports alone. */
struct pfcp_report *pfcp_report_free(struct pfcp_reports *reports, uint8_t association);
/* A report of that type is in the place, but for what it says. */
void pfcp_report_begin(struct pfcp_agent *agent, const struct pfcp_session *session, uint8_t type,
		       struct pfcp_report *report);
/* The message, and `to` whom. */
const struct pfcp_writer *pfcp_report_send(struct pfcp_report *report, uint64_t now_ms,
					   struct pfcp_peer *to);
/* notes.c: the next report of packets that wait, first of those that were put off. NULL: there is
 * none, or no room. */
const struct pfcp_writer *pfcp_notes_due(struct pfcp_agent *agent, uint64_t now_ms,
					 struct pfcp_peer *to);
/* The next message whose time has come, and `to` whom, until the next call; NULL: none has. */
const struct pfcp_writer *pfcp_reports_due(struct pfcp_agent *agent, struct pfcp_peer *to);

#endif
