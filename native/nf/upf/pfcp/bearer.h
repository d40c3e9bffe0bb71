/* SPDX-License-Identifier: Apache-2.0 */
/* The rules that a session has by PFCP, and what they make of its tunnel: one QoS flow, which is
 * what this user plane function forwards. */
#ifndef WEIR_NF_UPF_PFCP_BEARER_H
#define WEIR_NF_UPF_PFCP_BEARER_H

#include "../changes.h"
#include "rules.h"

/* Applies what a request says to the rules that a session has. False: `fault`, and `rules` are of
 * no use. */
bool pfcp_rules_change(struct pfcp_rules *rules, const struct pfcp_rules *changes,
		       struct pfcp_fault *fault);

/*
 * What a session with these rules is to be: all of `wanted` but the TEID at this end, with what is
 * given in it. `teid`: of this end, which an uplink rule may name again; 0: none yet. False: they
 * are rules of something else than one QoS flow of a UE, or do not belong together.
 */
bool pfcp_rules_mean(const struct pfcp_rules *rules, uint32_t teid, struct upf_change *wanted,
		     struct pfcp_fault *fault);

/* What is in `wanted` and not in `had`: as a modification. */
struct upf_change pfcp_difference(const struct upf_change *had, const struct upf_change *wanted);

#endif
