/* SPDX-License-Identifier: Apache-2.0 */
/* A user plane function with an agent, and a control plane function that sends what Scapy wrote. */
#ifndef WEIR_NF_UPF_PFCP_AGENT_FIXTURE_TEST_H
#define WEIR_NF_UPF_PFCP_AGENT_FIXTURE_TEST_H

#include "agent.h"

#define SMF ((struct pfcp_peer){.ip = RTE_BE32(0xc0000264), .port = 8805})
#define STRANGER ((struct pfcp_peer){.ip = RTE_BE32(0xc00002fe), .port = 8805})
#define MESSAGE_BYTES_MAX 1024

extern struct upf *function;
extern struct pfcp_agent *agent;
extern uint64_t now_ms; /* the agent's clock: when it began */

/* New ones, with room for so many sessions. */
void start_agent(const char *sessions_max);
/* So many of them are there from the beginning, from 10.45.0.1 on. */
void start_agent_beside(const char *sessions, const char *sessions_max);
/* Room for 100, whose TEIDs are those of their UEs' numbers from that address on. */
void start_agent_in_a_row(const char *ue_first_address);
int stop_agent(void **state);

/* A message with that SEID and sequence number; of those that a test sent, it is to be another one
 * each time. */
struct pfcp_span numbered(struct pfcp_span message, uint64_t seid, uint32_t sequence);
/* Cause of the response, or 0: there was none. */
uint8_t tell(struct pfcp_peer from, struct pfcp_span message);
void associate(void);

/* By an operator, beside the control plane function. NULL: done; else what is wrong. */
const char *change_by_command(const char *command, const char *sessions);

/* The last response. */
const struct pfcp_writer *answer(void);
/* Of the last response, to an establishment. */
uint64_t given_seid(void);
uint32_t given_teid(void);

/* The report that is due, to the SMF; NULL: none is. */
const struct pfcp_writer *due(void);
/* Of the first rule of uplink of the session that is metered: where that usage of it is counted. */
struct upf_usage *usage_of(unsigned int index);
/* All places are taken by reports that are given up in that time. */
void leave_no_room_for_reports(uint64_t ms);

/* The session of the vectors' UE; NULL: there is none. */
const struct upf_session *session_of_ue(void);
/* Fails the test unless the agent's sessions are those of the function. */
void check_sessions_agree(void);

#endif
