/* SPDX-License-Identifier: Apache-2.0 */
/* PFCP is written as Scapy writes it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "response_vectors_test.h"
#include "write.h"

static void
assert_written(struct pfcp_writer *writer, struct pfcp_span expected)
{
	assert_true(pfcp_end(writer));
	assert_int_equal(writer->bytes, expected.bytes);
	assert_memory_equal(writer->message, expected.at, expected.bytes);
}

static void
responses_are_written_as_scapy_writes_them(void **state)
{
	static const uint8_t upf[] = {0, 192, 0, 2, 101};
	static const uint8_t f_seid[] = {2,    0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee,
					 0xff, 0x01, 192,  0,	 2,    101};
	static const uint8_t f_teid[] = {1, 0xca, 0xfe, 0, 1, 192, 0, 2, 101};
	const uint64_t cp_seid = 0x1122334455667788, nobody = 0;
	struct pfcp_writer writer;
	size_t group;

	(void)state;
	pfcp_begin(&writer, PFCP_HEARTBEAT_RESPONSE, NULL, 1);
	pfcp_put_number(&writer, PFCP_IE_RECOVERY_TIME_STAMP, 3900000000u, 4);
	assert_written(&writer, SPAN(heartbeat_response));

	pfcp_begin(&writer, PFCP_ASSOCIATION_SETUP_RESPONSE, NULL, 2);
	pfcp_put_bytes(&writer, PFCP_IE_NODE_ID, upf, sizeof(upf));
	pfcp_put_number(&writer, PFCP_IE_CAUSE, PFCP_ACCEPTED, 1);
	pfcp_put_number(&writer, PFCP_IE_RECOVERY_TIME_STAMP, 3900000000u, 4);
	pfcp_put_number(&writer, PFCP_IE_UP_FUNCTION_FEATURES, PFCP_FEATURES, 2);
	assert_written(&writer, SPAN(association_setup_response));

	pfcp_begin(&writer, PFCP_SESSION_ESTABLISHMENT_RESPONSE, &cp_seid, 0x010203);
	pfcp_put_bytes(&writer, PFCP_IE_NODE_ID, upf, sizeof(upf));
	pfcp_put_number(&writer, PFCP_IE_CAUSE, PFCP_ACCEPTED, 1);
	pfcp_put_bytes(&writer, PFCP_IE_F_SEID, f_seid, sizeof(f_seid));
	group = pfcp_group_begin(&writer, PFCP_IE_CREATED_PDR);
	pfcp_put_number(&writer, PFCP_IE_PDR_ID, 1, 2);
	pfcp_put_bytes(&writer, PFCP_IE_F_TEID, f_teid, sizeof(f_teid));
	pfcp_group_end(&writer, group);
	assert_written(&writer, SPAN(establishment_response));

	pfcp_begin(&writer, PFCP_SESSION_ESTABLISHMENT_RESPONSE, &nobody, 7);
	pfcp_put_bytes(&writer, PFCP_IE_NODE_ID, upf, sizeof(upf));
	pfcp_put_number(&writer, PFCP_IE_CAUSE, PFCP_MANDATORY_IE_MISSING, 1);
	pfcp_put_number(&writer, PFCP_IE_OFFENDING_IE, PFCP_IE_F_SEID, 2);
	assert_written(&writer, SPAN(refusal));
}

static void
what_does_not_fit_is_not_sent(void **state)
{
	static const uint8_t value[PFCP_RESPONSE_BYTES_MAX];
	struct pfcp_writer writer;

	(void)state;
	pfcp_begin(&writer, PFCP_HEARTBEAT_RESPONSE, NULL, 1);
	pfcp_put_bytes(&writer, PFCP_IE_NODE_ID, value, sizeof(value) - writer.bytes - 4);
	assert_true(pfcp_end(&writer));
	assert_int_equal(writer.bytes, PFCP_RESPONSE_BYTES_MAX);
	pfcp_put_number(&writer, PFCP_IE_CAUSE, PFCP_ACCEPTED, 1);
	assert_false(pfcp_end(&writer));
	assert_int_equal(writer.bytes, PFCP_RESPONSE_BYTES_MAX);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(responses_are_written_as_scapy_writes_them),
		cmocka_unit_test(what_does_not_fit_is_not_sent),
	};

	return cmocka_run_group_tests_name("upf-pfcp-write", tests, NULL, NULL);
}
