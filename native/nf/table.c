/* SPDX-License-Identifier: Apache-2.0 */
/* The network functions of this program: one line each. */
#include "core/nf.h"

#include <string.h>

extern const struct weir_nf weir_nf_acl;
#ifdef WEIR_HAS_DPI
extern const struct weir_nf weir_nf_dpi;
#endif
extern const struct weir_nf weir_nf_firewall;
extern const struct weir_nf weir_nf_impair;
extern const struct weir_nf weir_nf_l2fwd;
extern const struct weir_nf weir_nf_l3fwd;
extern const struct weir_nf weir_nf_lb;
extern const struct weir_nf weir_nf_nat;
extern const struct weir_nf weir_nf_policer;
extern const struct weir_nf weir_nf_shaper;
extern const struct weir_nf weir_nf_sink;

/* clang-format off */
const struct weir_nf *const weir_nf_table[] = {
	&weir_nf_acl,
#ifdef WEIR_HAS_DPI
	&weir_nf_dpi,
#endif
	&weir_nf_firewall,
	&weir_nf_impair,
	&weir_nf_l2fwd,
	&weir_nf_l3fwd,
	&weir_nf_lb,
	&weir_nf_nat,
	&weir_nf_policer,
	&weir_nf_shaper,
	&weir_nf_sink,
};
/* clang-format on */
const unsigned int weir_nf_count = RTE_DIM(weir_nf_table);

const char *
weir_nf_lacks(const char *name)
{
#ifndef WEIR_HAS_DPI
	if (strcmp(name, "dpi") == 0)
		return "Hyperscan 5 and nDPI 4.2 (libhyperscan-dev and libndpi-dev)";
#endif
	(void)name;
	return NULL;
}
