/* SPDX-License-Identifier: Apache-2.0 */
/* The policer's state: its tenants and their meters. */
#ifndef WEIR_NF_SHAPER_POLICER_H
#define WEIR_NF_SHAPER_POLICER_H

#include "core/nf.h"
#include "meter.h"
#include "tenants.h"

struct policer {
	struct meter (*meters)[2];	/* by tenant and direction */
	struct meter_profile *profiles; /* by tenant */
	unsigned int layer;		/* enum layer */
	unsigned int drops;		/* enum policer_drops, of policer.c */
	bool colour_aware;
	char tenants_text[WEIR_OPTION_TEXT_BYTES];
	char tenants_file[WEIR_OPTION_TEXT_BYTES];
	struct tenants tenants;
};

#endif
