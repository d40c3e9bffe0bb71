/* SPDX-License-Identifier: Apache-2.0 */
/* The program at an interface, run by the kernel on single frames (BPF_PROG_TEST_RUN). */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <bpf/bpf.h>
#include <cmocka.h>
#include <linux/if_ether.h>

#include "port/below_fixture_test.h"
#include "program.h"
#include "testing/eal.h"

#define LOOPBACK 1 /* its index: any interface will do, nothing is sent */

static struct weir_offload *
loaded(uint32_t flows)
{
	struct weir_offload *offload = weir_xdp_program_load(flows, ELEPHANT);

	if (offload == NULL) {
		print_message("the kernel loads no eBPF programs here (%s): run as root\n",
			      strerror(errno));
		skip();
	}
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(weir_xdp_program_add_output(offload, LOOPBACK, FRAME_BYTES_MAX),
				 0);
	return offload;
}

static bool
run_program(const struct weir_offload *offload, struct rte_mbuf *packet, unsigned int *output)
{
	uint8_t out[WEIR_TEST_FRAME_BYTES], *frame = rte_pktmbuf_mtod(packet, uint8_t *);
	const uint64_t first = forwarded_by(offload, 0);
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = frame, .data_size_in = packet->data_len,
		    .data_out = out, .data_size_out = sizeof(out), .repeat = 1);

	if (packet->data_len < ETH_HLEN) /* the kernel takes none so short */
		return false;
	assert_int_equal(bpf_prog_test_run_opts(weir_xdp_program_fd(offload), &options), 0);
	assert_int_equal(options.data_size_out, packet->data_len);
	if (options.retval != XDP_REDIRECT) {
		assert_int_equal(options.retval, XDP_PASS);
		assert_memory_equal(out, frame, packet->data_len);
		return false;
	}
	memcpy(frame, out, packet->data_len);
	*output = forwarded_by(offload, 0) == first;
	return true;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {BELOW_TESTS};

	below = (struct below){.load = loaded, .run = run_program};
	return cmocka_run_group_tests_name("xdp program", tests, weir_test_eal, NULL);
}
