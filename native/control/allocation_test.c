/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests of which the n-th allocation fails, for every n: each is refused for want of memory,
 * leaves nothing behind, and can be sent again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <rte_mbuf.h>

#include "allocation_fixture_test.h"
#include "port/port.h"
#include "testing/eal.h"
#include "testing/file.h"

static const char streams[] =
	"{'cmd':'traffic.configure','args':{'streams':[{'id':0,'port':'tester.left',"
	"'to':'tester.right','frame':{'bytes':64},'template':{'src_mac':'02:00:00:00:00:01',"
	"'dst_mac':'02:00:00:00:00:02','src_ip':'198.18.0.1','dst_ip':'198.19.0.1'},"
	"'flows':{'count':100,'vary':['src_ip'],'distribution':'zipf','zipf_s':1}}]}}";

static const char captured[] =
	"{'cmd':'traffic.configure','args':{'streams':[{'id':0,'port':'tester.left',"
	"'to':'tester.right','frame':{'bytes':64},'template':{'src_mac':'02:00:00:00:00:01',"
	"'dst_mac':'02:00:00:00:00:02','src_ip':'198.18.0.1','dst_ip':'198.19.0.1'},"
	"'capture':{'path':'FILE','stamp':true,'filter':'udp'}}]}}";

static const char with_connections[] =
	"{'cmd':'configure','args':{'mbufs':1024,'ports':["
	"{'name':'tester.left','kind':'memory','mac':'02:57:00:00:00:00','peer':'tester.right'},"
	"{'name':'tester.right','kind':'memory','mac':'02:57:00:00:00:01','peer':'tester.left'}],"
	"'areas':[{'name':'clients','core':CPU,'kind':'clients','port':'tester.left'},"
	"{'name':'servers','core':CPU,'kind':'servers','port':'tester.right'}]}}";

static const char connections[] =
	"{'cmd':'connections.configure','args':{'clients':{'port':'tester.left',"
	"'src_mac':'02:57:00:00:00:00','dst_mac':'02:57:00:00:00:01','address':'198.18.0.1',"
	"'last_port':5000},'servers':{'port':'tester.right','src_mac':'02:57:00:00:00:01',"
	"'dst_mac':'02:57:00:00:00:00','address':'198.19.0.1'},"
	"'services':[{'port':80,'request_bytes':100,'answer_bytes':5000}]}}";

static const char trace[] =
	"{'cmd':'trace','args':{'area':'state','path':'left','frames':["
	"'020000000001020000000002080600010800060400010200000000020a0000010000000000000a000002',"
	"'020000000001020000000002080600010800060400010200000000020a0000010000000000000a000003'"
	"]}}";

static void
configure_and_reset(void)
{
	weir_test_is_done(weir_test_configure);
	weir_test_is_done(WEIR_TEST_RESET);
}

static void
a_configuration_of_which_an_allocation_fails_is_refused(void **state)
{
	size_t heap_bytes;

	(void)state;
	configure_and_reset(); /* what stays for ever, is there now */
	heap_bytes = weir_test_heap_bytes();
	assert_true(weir_test_refuse_each(weir_test_configure, heap_bytes, configure_and_reset) >
		    50);
	weir_test_is_done(WEIR_TEST_RESET);
	weir_test_nothing_is_left(heap_bytes);
	configure_and_reset();
}

static void
configure_streams(void)
{
	weir_test_is_done(streams);
}

static void
streams_of_which_an_allocation_fails_are_refused(void **state)
{
	(void)state;
	weir_test_is_done(weir_test_configure);
	weir_test_is_done(streams);
	assert_true(weir_test_refuse_each(streams, weir_test_heap_bytes(), configure_streams) > 3);
	weir_test_is_done(WEIR_TEST_RESET);
}

static void
configure_connections(void)
{
	weir_test_is_done(connections);
	weir_test_is_done(WEIR_TEST_RESET);
	weir_test_is_done(with_connections);
}

static void
connections_of_which_an_allocation_fails_are_refused(void **state)
{
	size_t heap_bytes;

	(void)state;
	weir_test_is_done(with_connections);
	weir_test_is_done(connections);
	weir_test_is_done(WEIR_TEST_RESET);
	heap_bytes = weir_test_heap_bytes();
	assert_true(weir_test_refuse_each(with_connections, heap_bytes, NULL) > 3);
	/* One that is refused leaves none, earlier ones included. */
	assert_true(weir_test_refuse_each(connections, weir_test_heap_bytes(),
					  configure_connections) > 0);
	weir_test_is_done(WEIR_TEST_RESET);
	weir_test_nothing_is_left(heap_bytes);
}

/* A capture with one UDP packet. */
static void
write_capture(void)
{
	static const uint8_t start[] = {
		0xd4, 0xc3, 0xb2, 0xa1, 2,   0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0,
		0,    0,    4,	  0,	1,   0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, /* at 0 s */
		106,  0,    0,	  0,	106, 0, 0, 0,			      /* bytes */
	};
	static const uint8_t frame[106] = {
		2, 0, 0,  0,  0,    2,	  2,   0,  0, 0, 0,   1,  8, 0, 0x45, 0,    0, 92, 0, 0,
		0, 0, 64, 17, 0xed, 0x4f, 198, 18, 0, 9, 198, 19, 0, 9, 0x07, 0xd0, 0, 53, 0, 72,
	};
	FILE *file = fopen(weir_test_file(""), "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(start, sizeof(start), 1, file), 1);
	assert_int_equal(fwrite(frame, sizeof(frame), 1, file), 1);
	assert_int_equal(fclose(file), 0);
}

static void
captures_of_which_an_allocation_fails_are_refused(void **state)
{
	(void)state;
	write_capture();
	weir_test_is_done(weir_test_configure);
	weir_test_is_done(captured);
	weir_test_is_done(streams);
	assert_true(weir_test_refuse_each(captured, weir_test_heap_bytes(), NULL) > 0);
	weir_test_is_done(WEIR_TEST_RESET);
}

/* Its pool has one buffer less each time, from as many as a trace needs to none. */
static void
a_trace_without_buffers_is_refused_and_keeps_none(void **state)
{
	struct rte_mbuf *taken[4096];
	unsigned int count = 0, refused = 0;
	size_t heap_bytes;

	(void)state;
	weir_test_is_done(weir_test_configure);
	weir_test_is_done(trace);
	heap_bytes = weir_test_heap_bytes();
	while (count < RTE_DIM(taken) &&
	       (taken[count] = rte_pktmbuf_alloc(weir_ports_mempool())) != NULL)
		count++;
	assert_in_range(count, 1, RTE_DIM(taken) - 1);
	for (unsigned int left = 0; left <= 2; left++) {
		json_t *answer = weir_test_answer_to(trace, 0);
		bool done = json_is_true(json_object_get(answer, "ok"));

		if (!done)
			assert_string_equal(json_string_value(json_object_get(
						    json_object_get(answer, "error"), "code")),
					    "no_memory");
		refused += !done;
		json_decref(answer);
		assert_int_equal(rte_mempool_in_use_count(weir_ports_mempool()), count);
		rte_pktmbuf_free(taken[--count]);
	}
	assert_true(refused > 0);
	rte_pktmbuf_free_bulk(taken, count);
	weir_test_nothing_is_left(heap_bytes);
	weir_test_is_done(trace);
	weir_test_is_done(WEIR_TEST_RESET);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(a_configuration_of_which_an_allocation_fails_is_refused,
					  weir_test_unconfigured),
		cmocka_unit_test_teardown(streams_of_which_an_allocation_fails_are_refused,
					  weir_test_unconfigured),
		cmocka_unit_test_teardown(connections_of_which_an_allocation_fails_are_refused,
					  weir_test_unconfigured),
		cmocka_unit_test_teardown(captures_of_which_an_allocation_fails_are_refused,
					  weir_test_unconfigured),
		cmocka_unit_test_teardown(a_trace_without_buffers_is_refused_and_keeps_none,
					  weir_test_unconfigured),
	};

	return cmocka_run_group_tests(tests, weir_test_eal, weir_test_file_remove);
}
