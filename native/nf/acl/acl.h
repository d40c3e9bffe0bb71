/* SPDX-License-Identifier: Apache-2.0 */
/* The state of an access list, for packets (acl.c) and for changes while they flow (commands.c). */
#ifndef WEIR_NF_ACL_ACL_H
#define WEIR_NF_ACL_ACL_H

#include <assert.h>

#include "toolkit/held_fragments.h"
#include "toolkit/rule_change.h"
#include "toolkit/rule_reload.h"
#include "toolkit/ruled_frames.h"

struct acl {
	struct weir_rule_set *rules;
	struct weir_fragments *fragments;
	unsigned int default_verdict; /* enum weir_default */
	unsigned int scope;	      /* enum scope */
	bool index;
	struct weir_ruled_frames frames;
	char path[WEIR_OPTION_TEXT_BYTES], rule_list[WEIR_OPTION_TEXT_BYTES];
	struct weir_fragment_options fragment_options;
};
static_assert(offsetof(struct acl, path) <= RTE_CACHE_LINE_SIZE, "packets need one cache line");

/* commands.c */
enum { ACL_COMMANDS = 2 };
extern const struct weir_command acl_commands[ACL_COMMANDS];

#endif
