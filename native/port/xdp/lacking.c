/* SPDX-License-Identifier: Apache-2.0 */
/* In a build without clang, bpftool or libbpf. */
#include "offload.h"

struct weir_offload *
weir_xdp_offload_open(const struct weir_xdp_config *config, struct weir_error *error)
{
	weir_fail(error, "bad_argument", config->where,
		  "clang with its bpf target, bpftool, libbpf",
		  "install clang, bpftool and libbpf-dev and build weir-dp anew, or leave it out",
		  "this weir-dp was built without offload to XDP");
	return NULL;
}
