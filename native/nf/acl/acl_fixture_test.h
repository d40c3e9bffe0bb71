/* SPDX-License-Identifier: Apache-2.0 */
/* An access list, and packets through it. */
#ifndef WEIR_NF_ACL_ACL_FIXTURE_TEST_H
#define WEIR_NF_ACL_ACL_FIXTURE_TEST_H

#include "testing/eal.h"
#include "testing/file.h"
#include "testing/ipv6_packet.h"
#include "testing/packet.h"

extern const struct weir_nf weir_nf_acl;

/* With a file of rules, and one option more. */
void *acl_with(const char *rules, const char *option, const char *value);

/* NULL, or why it was dropped. */
const char *acl_send(void *acl, enum weir_direction direction, struct weir_test_ipv4 what);
const char *acl_send_ipv6(void *acl, enum weir_direction direction, struct weir_test_ipv6 what);

#define OUT(...) acl_send(acl, WEIR_OUTBOUND, (struct weir_test_ipv4){__VA_ARGS__})
#define IN(...) acl_send(acl, WEIR_INBOUND, (struct weir_test_ipv4){__VA_ARGS__})
#define OUT6(...) acl_send_ipv6(acl, WEIR_OUTBOUND, (struct weir_test_ipv6){__VA_ARGS__})
#define ends(acl) weir_nf_destroy(&weir_nf_acl, acl)

#endif
