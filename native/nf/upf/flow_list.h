/* SPDX-License-Identifier: Apache-2.0 */
/* The service data flows of sessions that are there from the beginning: the option `flow_list`. */
#ifndef WEIR_NF_UPF_FLOW_LIST_H
#define WEIR_NF_UPF_FLOW_LIST_H

#include "upf.h"

/* Rules of each session: those of its flows, each way, and one each way for what is of none. */
struct upf_flow_list {
	unsigned int count; /* 0: the option is not given */
	struct upf_rule_wanted rule[UPF_RULES_OF_SESSION_MAX];
};

/* -1 with `error`: it cannot be read, or there is no room for the rules of so many sessions. */
int upf_flow_list_read(const struct upf *upf, struct upf_flow_list *list, const char *where,
		       struct weir_error *error);
/* Gives the session its rules; its tunnel and its rate are there. */
void upf_flow_list_apply(struct upf *upf, struct upf_flow_list *list, struct upf_session *session);

#endif
