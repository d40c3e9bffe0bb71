/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program at an interface (redirect.bpf.c), loaded, and its entries. What fails here says why
 * by errno. It leaves the kernel when it is closed, and when weir-dp ends, however it ends.
 */
#ifndef WEIR_PORT_XDP_PROGRAM_H
#define WEIR_PORT_XDP_PROGRAM_H

#include "engine/offload.h"

/* With room for `flows` entries; `packets_min` as in struct weir_offload. NULL: no memory, or the
 * kernel does not take it. */
struct weir_offload *weir_xdp_program_load(uint32_t flows, uint32_t packets_min);

/* The next output of the path: an interface of the caller's network namespace, by its index, and
 * the longest frame (L2 without FCS) that may be sent there. -1: it is not there. */
int weir_xdp_program_add_output(struct weir_offload *offload, uint32_t interface,
				uint32_t frame_bytes_max);

/* From now on frames that come in at that interface, likewise, pass the program, in the kernel's
 * generic mode. -1: the interface is not there, or has another program. */
int weir_xdp_program_attach(struct weir_offload *offload, uint32_t interface);

int weir_xdp_program_fd(const struct weir_offload *offload);
void weir_xdp_program_close(struct weir_offload *offload);

#endif
