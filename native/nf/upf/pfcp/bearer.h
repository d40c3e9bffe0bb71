/* SPDX-License-Identifier: Apache-2.0 */
/* The rules that a session has by PFCP, and what they make of its tunnel. A direction with one rule
 * that has neither filters nor usage to count is the session's own; else each packet is looked at.
 */
#ifndef WEIR_NF_UPF_PFCP_BEARER_H
#define WEIR_NF_UPF_PFCP_BEARER_H

#include "../changes.h"
#include "rules.h"

/* Applies what a request says to the rules that a session has. False: `fault`, and `rules` are of
 * no use. */
bool pfcp_rules_change(struct pfcp_rules *rules, const struct pfcp_rules *changes,
		       struct pfcp_fault *fault);

/* What rules make of a session. `session.rules` is for the caller to set. */
struct pfcp_meaning {
	struct upf_change session;
	struct upf_rule_wanted rule[PFCP_RULES_MAX];
	struct upf_quota quota[PFCP_URRS_MAX];
};

/*
 * What a session with these rules is to be: all but the TEID at this end, with what is given in it.
 * `teid`: of this end, which an uplink rule may name again; 0: none yet. False: they are rules of
 * something else than one UE's tunnel, or do not belong together.
 */
bool pfcp_rules_mean(const struct pfcp_rules *rules, uint32_t teid, struct pfcp_meaning *wanted,
		     struct pfcp_fault *fault);

/* Which tunnels that `had` are told that others follow, since `changes` say so of their FARs: each
 * once. `rules`: what the session is to have, which `wanted` means. */
void pfcp_mark_ends(const struct pfcp_rules *rules, const struct pfcp_rules *changes,
		    const struct pfcp_meaning *had, struct pfcp_meaning *wanted);

/* What is in `wanted`, which stays the caller's, and not in `had`: as a modification.
 * `default_qfi`: of a session whose rules give none. */
struct upf_change pfcp_difference(const struct pfcp_meaning *had, const struct pfcp_meaning *wanted,
				  uint8_t default_qfi);

#endif
