/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For the test of the architectures: two small functions (architectures_functions_test.c), and the
 * areas that run them in each architecture between a left and a right end, which are rings.
 */
#ifndef WEIR_ENGINE_ARCHITECTURES_FIXTURE_TEST_H
#define WEIR_ENGINE_ARCHITECTURES_FIXTURE_TEST_H

#include "chain.h"
#include "hops.h"

#define FLOWS 64
#define AREAS_MAX 16

/*
 * Flow f has inside port 1000 + f. `gate` stands inside: it lets flows in that went out before,
 * drops each seventh packet of a direction and writes the number of the packet into the MAC
 * addresses. `shift` stands outside: it adds 1 to the inside address and port on their way out, as
 * a translator would, and takes one from the time to live.
 */
extern const struct weir_nf gate_nf, shift_nf;

enum architecture { RUN_TO_COMPLETION, PIPELINE, DISPATCH, SEPARATED };

struct plan {
	enum architecture architecture;
	const struct weir_nf *const *nfs; /* two, from left to right */
	unsigned int workers;		  /* dispatch and separated */
	unsigned int state_cores;	  /* separated */
	uint32_t fastpath_flows;
	unsigned int ring_size; /* of those inside */
};

/* What stands between the two ends. */
struct built {
	struct weir_queue ends_in[2], ends_out[2]; /* left, right; rings */
	unsigned int area_count;
	struct weir_area *areas[AREAS_MAX];
	bool runs_functions[AREAS_MAX];
	unsigned int ring_count;
	struct rte_ring *rings[64];
};

struct built build(const struct plan *plan);
/* Every packet that came in at the ends and did not leave there, less those counted as dropped. */
int64_t unaccounted(const struct built *built, uint64_t in, uint64_t out);
void take_down(struct built *built);

#endif
