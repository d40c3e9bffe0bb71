/* SPDX-License-Identifier: Apache-2.0 */
/* What the agent of N4 is given, and what it counts. */
#ifndef WEIR_NF_UPF_PFCP_WAY_H
#define WEIR_NF_UPF_PFCP_WAY_H

#include "../changes.h"

struct pfcp_way {
	/* How sessions of the function change: all of them, at all its workers, or none. */
	bool (*change)(void *of, struct upf_changes *changes);
	/* What a usage has counted at all workers, by direction. */
	void (*count)(void *of, uint32_t slot, struct weir_counter sum[2]);
	/* Whether one of its quotas is used up, at any worker. */
	bool (*is_exhausted)(void *of, uint32_t slot);
	/* Who has a first packet that waits, of any worker: the next one. False: there is none. */
	bool (*note)(void *of, struct upf_note *note);
	/* Since 1900 (RFC 5905), and it is never set. */
	uint64_t (*now_ms)(void *of);
	void *of;
};

#define PFCP_CAUSES 77 /* those of protocol.h, and what lies between them */

/* Sessions, and requests by what became of them. */
struct pfcp_counts {
	uint64_t established, modified, deleted; /* an association that ends deletes its own */
	uint64_t accepted;
	uint64_t refused; /* with a cause, or for their version */
	uint64_t refused_by[PFCP_CAUSES];
	uint64_t other_version;	 /* of `refused` */
	uint64_t repeated;	 /* answered as before */
	uint64_t not_associated; /* responses of strangers: ignored */
	uint64_t reports;	 /* that were sent, some of them again and again */
	uint64_t reports_repeated, reports_unanswered, reports_accepted, reports_refused;
	uint64_t malformed; /* ignored: none that is known here, or not all there */
};

#endif
