/* SPDX-License-Identifier: Apache-2.0 */
/* The linker puts the functions here in place of those that allocate (native/meson.build), for
 * Weir's own calls alone. */
#include "allocation_fixture_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <rte_acl.h>
#include <rte_errno.h>
#include <rte_fib.h>
#include <rte_hash.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

#include "answer.h"
#include "dataplane.h"
#include "engine/cores.h"
#include "testing/file.h"

/* The n-th allocation to come fails; 0: none. And how many came. */
static struct {
	unsigned long fails_at, count;
} allocations;

static bool
fails(void)
{
	if (allocations.fails_at == 0 || ++allocations.count != allocations.fails_at)
		return false;
	errno = ENOMEM;
	rte_errno = ENOMEM;
	return true;
}

/* `WRAP(what it returns, its name, its parameters, their names)`. */
#define WRAP(type, name, parameters, arguments)                                                    \
	type __real_##name parameters;                                                             \
	type __wrap_##name parameters;                                                             \
	type __wrap_##name parameters                                                              \
	{                                                                                          \
		return fails() ? NULL : __real_##name arguments;                                   \
	}

WRAP(void *, malloc, (size_t size), (size))
WRAP(void *, calloc, (size_t count, size_t size), (count, size))
WRAP(void *, realloc, (void *old, size_t size), (old, size))
WRAP(void *, aligned_alloc, (size_t alignment, size_t size), (alignment, size))
WRAP(char *, strdup, (const char *text), (text))
/* What is in use of DPDK's heap: DPDK only logs that something is freed twice. */
#define BLOCKS_MAX 4096
static void *blocks[BLOCKS_MAX];
static unsigned int freed_twice;

static bool
replace_block(const void *old, void *new)
{
	for (unsigned int i = 0; i < BLOCKS_MAX; i++) {
		if (blocks[i] == old) {
			blocks[i] = new;
			return true;
		}
	}
	return false;
}

#define WRAP_BLOCK(name)                                                                           \
	void *__real_##name(const char *type, size_t size, unsigned int align);                    \
	void *__wrap_##name(const char *type, size_t size, unsigned int align);                    \
	void *__wrap_##name(const char *type, size_t size, unsigned int align)                     \
	{                                                                                          \
		void *block = fails() ? NULL : __real_##name(type, size, align);                   \
                                                                                                   \
		if (block != NULL && !replace_block(NULL, block))                                  \
			abort();                                                                   \
		return block;                                                                      \
	}

WRAP_BLOCK(rte_malloc)
WRAP_BLOCK(rte_zmalloc)

void __real_rte_free(void *block);
void __wrap_rte_free(void *block);
void
__wrap_rte_free(void *block)
{
	if (block != NULL && !replace_block(block, NULL)) {
		freed_twice++;
		return;
	}
	__real_rte_free(block);
}

WRAP(struct rte_ring *, rte_ring_create,
     (const char *name, unsigned int count, int socket, unsigned int flags),
     (name, count, socket, flags))
WRAP(struct rte_mempool *, rte_pktmbuf_pool_create,
     (const char *name, unsigned int count, unsigned int cache, uint16_t private_bytes,
      uint16_t data_bytes, int socket),
     (name, count, cache, private_bytes, data_bytes, socket))
WRAP(struct rte_mempool *, rte_mempool_create_empty,
     (const char *name, unsigned int count, unsigned int bytes, unsigned int cache,
      unsigned int private_bytes, int socket, unsigned int flags),
     (name, count, bytes, cache, private_bytes, socket, flags))
WRAP(struct rte_hash *, rte_hash_create, (const struct rte_hash_parameters *parameters),
     (parameters))
WRAP(struct rte_fib *, rte_fib_create, (const char *name, int socket, struct rte_fib_conf *conf),
     (name, socket, conf))
WRAP(struct rte_acl_ctx *, rte_acl_create, (const struct rte_acl_param *parameters), (parameters))

const char weir_test_configure[] =
	"{'cmd':'configure','args':{'mbufs':1024,'ledger':true,'ports':["
	"{'name':'tester.left','kind':'memory','mac':'02:57:00:00:00:00','peer':'f.left'},"
	"{'name':'f.left','kind':'memory','mac':'02:57:00:00:01:00','peer':'tester.left'},"
	"{'name':'f.right','kind':'memory','mac':'02:57:00:00:01:01','peer':'tester.right'},"
	"{'name':'tester.right','kind':'memory','mac':'02:57:00:00:00:01','peer':'f.right'}],"
	"'rings':[{'name':'r1','size':64},{'name':'r2','size':64},{'name':'r3','size':64},"
	"{'name':'r4','size':64},{'name':'l1','size':64},{'name':'l2','size':64},"
	"{'name':'l3','size':64},{'name':'l4','size':64}],'areas':["
	"{'name':'generator','core':CPU,'kind':'generator','port':'tester.left'},"
	"{'name':'dispatcher','core':CPU,'kind':'dispatcher','steer':{'area':'state','stage':'nat'}"
	","
	"'paths':[{'name':'right','in':'f.left','out':['r1'],'direction':'outbound'},"
	"{'name':'left','in':'f.right','out':['l1'],'direction':'inbound'}]},"
	"{'name':'state','core':CPU,'kind':'state_core','fastpath_flows':64,'paths':["
	"{'name':'right','in':'r1','out':['r2'],'direction':'outbound','stages':["
	"{'nf':'acl','name':'acl','options':{'rule_list':'deny any any 10.2.0.0/24, permit any any "
	"any'}},"
	"{'nf':'firewall','name':'firewall','options':{'sessions':64}},"
	"{'nf':'nat','name':'nat','options':{'external':'203.0.113.0/"
	"30','sessions':64,'remotes':64,"
	"'fragments':64}},"
	"{'nf':'lb','name':'lb','options':{'table_size':251,'connections_max':64,"
	"'services':'203.0.113.9:80/tcp 10.0.0.1:8080'}},"
	"{'nf':'l3fwd','name':'l3fwd','options':{'route_list':'10.0.0.0/8 02:00:00:00:00:09',"
	"'src_mac':'02:57:00:00:01:01','dst_mac':'02:57:00:00:00:01',"
	"'ipv4_routes_max':64,'ipv4_groups_max':64,'ipv6_routes_max':64,'ipv6_groups_max':64}},"
	"{'nf':'policer','name':'policer','options':{'tenants':'10.1.0.0/16 srtcm cir_bps=8000 "
	"cbs_bytes=3000 ebs_bytes=0'}},"
	"{'nf':'dpi','name':'dpi','options':{'flows_max':64,'inspections_max':8,'charges_max':64}}]"
	"},"
	"{'name':'left','in':'l1','out':['l2'],'direction':'inbound','stages':["
	"{'nf':'nat','name':'nat'},{'nf':'acl','name':'acl'}]}]},"
	"{'name':'rewriter','core':CPU,'kind':'rewrite_worker','paths':["
	"{'name':'right','in':'r2','out':'r3'},{'name':'left','in':'l2','out':'l3'}]},"
	"{'name':'collector','core':CPU,'kind':'collector','paths':["
	"{'name':'right','in':['r3'],'out':'f.right'},{'name':'left','in':['l3'],'out':'l4'}]},"
	"{'name':'chain','core':CPU,'kind':'chain','paths':["
	"{'name':'left','in':'l4','out':'f.left','stages':["
	"{'nf':'shaper','options':{'queue_packets':64,'tenants':'10.1.0.0/16 "
	"rate_bps=1000000'}},{'nf':'impair','options':{'queue_packets':64}},{'nf':'l2fwd','options'"
	":{'mode':'mac-swap'}}]}]},"
	"{'name':'receiver','core':CPU,'kind':'receiver','port':'tester.right'}]}}";

json_t *
weir_test_answer_to(const char *request, unsigned long fails_at)
{
	char line[8192], *text;
	size_t length = 0, size;
	json_t *answer;

	for (const char *at = request; *at != '\0';) {
		assert_true(length + 8 < sizeof(line));
		if (strncmp(at, "CPU", 3) == 0) {
			length += (size_t)snprintf(line + length, 8, "%u", weir_core_number(0));
			at += 3;
		} else if (strncmp(at, "FILE", 4) == 0) {
			length += (size_t)snprintf(line + length, sizeof(line) - length, "%s",
						   weir_test_path());
			at += 4;
			assert_true(length < sizeof(line));
		} else {
			line[length++] = *at == '\'' ? '"' : *at;
			at++;
		}
	}
	allocations.count = 0;
	allocations.fails_at = fails_at;
	text = weir_answer(line, length, &size);
	allocations.fails_at = 0;
	answer = json_loadb(text, size, 0, NULL);
	assert_non_null(answer);
	free(text);
	return answer;
}

void
weir_test_is_done(const char *request)
{
	json_t *answer = weir_test_answer_to(request, 0);

	if (!json_is_true(json_object_get(answer, "ok")))
		fail_msg("%s", json_dumps(answer, 0));
	json_decref(answer);
}

static void
add_in_use(struct rte_mempool *pool, void *buffers)
{
	*(unsigned int *)buffers += rte_mempool_in_use_count(pool);
}

void
weir_test_nothing_is_left(size_t heap_bytes)
{
	struct rte_malloc_socket_stats heap;
	unsigned int buffers = 0;

	rte_mempool_walk(add_in_use, &buffers);
	assert_int_equal(buffers, 0);
	assert_int_equal(freed_twice, 0);
	assert_int_equal(rte_malloc_get_socket_stats((int)rte_socket_id(), &heap), 0);
	assert_int_equal(heap.heap_allocsz_bytes, heap_bytes);
}

size_t
weir_test_heap_bytes(void)
{
	struct rte_malloc_socket_stats heap;

	assert_int_equal(rte_malloc_get_socket_stats((int)rte_socket_id(), &heap), 0);
	return heap.heap_allocsz_bytes;
}

/* Again after so many refusals; configuring takes a while. */
#define TRIED_AGAIN_EVERY 16

unsigned long
weir_test_refuse_each(const char *request, size_t heap_bytes, void (*again)(void))
{
	for (unsigned long n = 1;; n++) {
		json_t *answer = weir_test_answer_to(request, n),
		       *error = json_object_get(answer, "error");
		const char *code = json_string_value(json_object_get(error, "code"));

		if (allocations.count < n) {
			assert_true(json_is_true(json_object_get(answer, "ok")));
			json_decref(answer);
			return n - 1;
		}
		if (code == NULL || strcmp(code, "no_memory") != 0)
			fail_msg("allocation %lu fails: %s", n, json_dumps(answer, 0));
		assert_true(json_string_length(json_object_get(error, "message")) > 0);
		json_decref(answer);
		weir_test_nothing_is_left(heap_bytes);
		if (again != NULL && n % TRIED_AGAIN_EVERY == 0)
			again();
	}
}

int
weir_test_unconfigured(void **state)
{
	(void)state;
	weir_dataplane_reset();
	return 0;
}
