/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entries of the fast path in an eBPF program at the interface of a packet socket (XDP in the
 * kernel's generic mode, which every interface can redirect to). The program leaves the interface
 * when it is closed, and when weir-dp ends, however it ends.
 */
#ifndef WEIR_PORT_XDP_OFFLOAD_H
#define WEIR_PORT_XDP_OFFLOAD_H

#include "engine/offload.h"
#include "port/port.h"

struct weir_xdp_config {
	const struct weir_port *in;
	const struct weir_port *const *out; /* by output; WEIR_OUTPUTS_MAX at most */
	unsigned int out_count;
	uint32_t flows;	      /* entries at most */
	uint32_t packets_min; /* see struct weir_offload */
	const char *where;    /* of the request, for errors */
};

/* NULL with `error`: not built in, a port that is no packet socket on an end of a veth pair, an
 * interface that hands over unfinished frames or hides tags, or the kernel refuses. */
struct weir_offload *weir_xdp_offload_open(const struct weir_xdp_config *config,
					   struct weir_error *error);

#endif
