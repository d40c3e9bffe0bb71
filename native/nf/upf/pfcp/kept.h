/* SPDX-License-Identifier: Apache-2.0 */
/* The rules that a session has between two requests, in no more memory than they need. */
#ifndef WEIR_NF_UPF_PFCP_KEPT_H
#define WEIR_NF_UPF_PFCP_KEPT_H

#include "rules.h"

struct pfcp_kept;

/* NULL: no memory. Freed by free(). */
struct pfcp_kept *pfcp_rules_keep(const struct pfcp_rules *rules);
void pfcp_rules_restore(const struct pfcp_kept *kept, struct pfcp_rules *rules);
/* Of rules that are so many. */
size_t pfcp_kept_bytes(const struct pfcp_rules *rules);
/* Its usage reporting rules, which what they have measured is written to. */
struct pfcp_urr *pfcp_kept_urrs(struct pfcp_kept *kept, unsigned int *count);

#endif
