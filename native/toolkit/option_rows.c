/* SPDX-License-Identifier: Apache-2.0 */
#include "option_rows.h"

const char *const weir_default_names[] = {
	[WEIR_DEFAULT_DENY] = "deny",
	[WEIR_DEFAULT_PERMIT] = "permit",
	NULL,
};

const char *const weir_unknown_ipv6_names[] = {
	[WEIR_UNKNOWN_IPV6_DROP] = "drop",
	[WEIR_UNKNOWN_IPV6_FORWARD] = "forward",
	NULL,
};
