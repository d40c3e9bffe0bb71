/* SPDX-License-Identifier: Apache-2.0 */
/* What the agent of N4 is given, and what it counts. */
#ifndef WEIR_NF_UPF_PFCP_WAY_H
#define WEIR_NF_UPF_PFCP_WAY_H

#include "../changes.h"

/* How sessions of the function change: all of them, at all its workers, or none. */
struct pfcp_way {
	bool (*change)(void *of, struct upf_changes *changes);
	void *of;
};

/* Requests, by what became of them. */
struct pfcp_counts {
	uint64_t accepted;
	uint64_t refused;	 /* with a cause */
	uint64_t repeated;	 /* answered as before */
	uint64_t not_associated; /* ignored */
	uint64_t malformed;	 /* ignored: none that is known here, or not all there */
};

#endif
