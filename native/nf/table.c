/* SPDX-License-Identifier: Apache-2.0 */
/* The network functions of this program: one line each. */
#include "core/nf.h"

extern const struct weir_nf weir_nf_l2fwd;
extern const struct weir_nf weir_nf_l3fwd;
extern const struct weir_nf weir_nf_lb;
extern const struct weir_nf weir_nf_nat;
extern const struct weir_nf weir_nf_sink;

const struct weir_nf *const weir_nf_table[] = {
	&weir_nf_l2fwd,
	&weir_nf_l3fwd,
	&weir_nf_lb,
	&weir_nf_nat,
	&weir_nf_sink,
};
const unsigned int weir_nf_count = RTE_DIM(weir_nf_table);
