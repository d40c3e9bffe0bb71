/* SPDX-License-Identifier: Apache-2.0 */
#include "acl_fixture_test.h"

#include <rte_cycles.h>

void *
acl_with(const char *rules, const char *option, const char *value)
{
	const char *const options[][2] = {
		{"rules", weir_test_file(rules)}, {option, value}, {NULL, NULL}};

	return weir_test_state(&weir_nf_acl, options);
}

static const char *
dropped_because(void *acl, enum weir_direction direction, struct rte_mbuf *packet)
{
	struct weir_test_outcome outcome =
		weir_test_run(&weir_nf_acl, acl, direction, packet, rte_get_tsc_hz());

	rte_pktmbuf_free(outcome.packet);
	return outcome.drop_reason;
}

const char *
acl_send(void *acl, enum weir_direction direction, struct weir_test_ipv4 what)
{
	return dropped_because(acl, direction, weir_test_ipv4_packet(&what));
}

const char *
acl_send_ipv6(void *acl, enum weir_direction direction, struct weir_test_ipv6 what)
{
	return dropped_because(acl, direction, weir_test_ipv6_packet(&what));
}
