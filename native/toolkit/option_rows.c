/* SPDX-License-Identifier: Apache-2.0 */
#include "option_rows.h"

const char *const weir_default_names[] = {
	[WEIR_DEFAULT_DENY] = "deny",
	[WEIR_DEFAULT_PERMIT] = "permit",
	NULL,
};

const char *const weir_not_ipv4_names[] = {
	[WEIR_NOT_IPV4_DROP] = "drop",
	[WEIR_NOT_IPV4_FORWARD] = "forward",
	NULL,
};
