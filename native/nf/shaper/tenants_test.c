/* SPDX-License-Identifier: Apache-2.0 */
/* A dispatcher in front of policer or shaper: which worker a tenant's packets meet. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <string.h>

#include <cmocka.h>
#include <rte_ring.h>

#include "engine/hops.h"
#include "testing/eal.h"
#include "testing/ipv6_packet.h"
#include "testing/packet.h"

extern const struct weir_nf weir_nf_policer, weir_nf_shaper;

#define WORKERS 4
#define PACKETS 16
#define RING_PACKETS 64
#define VLAN_BYTES 4
#define MAC_BYTES 12

/* Functions with tenants of each kind: two prefixes, VLAN 100 and everybody else. */
static const struct {
	const struct weir_nf *nf;
	const char *tenants, *one;
} cases[] = {
	{&weir_nf_policer,
	 "10.1.0.0/16 srtcm cir_bps=8000 cbs_bytes=1000 ebs_bytes=0,"
	 "10.2.0.0/16 srtcm cir_bps=8000 cbs_bytes=1000 ebs_bytes=0,"
	 "vlan:100 srtcm cir_bps=8000 cbs_bytes=1000 ebs_bytes=0,"
	 "default srtcm cir_bps=8000 cbs_bytes=1000 ebs_bytes=0",
	 "10.1.0.0/16 srtcm cir_bps=8000 cbs_bytes=1000 ebs_bytes=0"},
	{&weir_nf_shaper,
	 "10.1.0.0/16 rate_bps=8000, 10.2.0.0/16 rate_bps=8000,"
	 "vlan:100 rate_bps=8000, default rate_bps=8000",
	 "10.1.0.0/16 rate_bps=8000"},
};

static struct rte_ring *in, *out[WORKERS];

static struct weir_hops *
dispatcher_before(const struct weir_nf *nf, const void *state)
{
	struct weir_hop hop = {.direction = WEIR_OUTBOUND, .input_count = 1};
	struct weir_hops *dispatcher;

	if (in == NULL)
		in = rte_ring_create("in", RING_PACKETS, SOCKET_ID_ANY, 0);
	hop.inputs[0] = (struct weir_queue){.kind = WEIR_QUEUE_RING, .ring = in};
	hop.out.count = WORKERS;
	for (unsigned int i = 0; i < WORKERS; i++) {
		char name[] = {'w', (char)('0' + i), '\0'};

		if (out[i] == NULL)
			out[i] = rte_ring_create(name, RING_PACKETS, SOCKET_ID_ANY, 0);
		hop.out.queue[i] = (struct weir_queue){.kind = WEIR_QUEUE_RING, .ring = out[i]};
	}
	dispatcher = weir_dispatcher_create("dispatcher", 0, &hop, 1);
	assert_non_null(dispatcher);
	weir_dispatcher_steer_by(dispatcher, nf, state);
	return dispatcher;
}

/* How many of these packets each worker meets. */
static void
meet(struct weir_hops *dispatcher, struct rte_mbuf *const *packets, unsigned int *met)
{
	struct rte_mbuf *packet;

	for (unsigned int i = 0; i < PACKETS; i++)
		assert_int_equal(rte_ring_enqueue(in, packets[i]), 0);
	dispatcher->area.poll(&dispatcher->area, 0);
	for (unsigned int i = 0; i < WORKERS; i++) {
		met[i] = rte_ring_count(out[i]);
		while (rte_ring_dequeue(out[i], (void **)&packet) == 0)
			rte_pktmbuf_free(packet);
	}
}

/* The worker that all of these packets meet. */
static unsigned int
worker_of(struct weir_hops *dispatcher, struct rte_mbuf *const *packets)
{
	unsigned int met[WORKERS], worker = 0;

	meet(dispatcher, packets, met);
	while (worker < WORKERS && met[worker] != PACKETS)
		worker++;
	assert_int_not_equal(worker, WORKERS);
	return worker;
}

/* With a tag of VLAN 100. */
static struct rte_mbuf *
tagged(struct rte_mbuf *packet)
{
	const uint8_t *untagged = rte_pktmbuf_mtod(packet, const uint8_t *);
	uint8_t *frame = (uint8_t *)rte_pktmbuf_prepend(packet, VLAN_BYTES);

	assert_non_null(frame);
	memmove(frame, untagged, MAC_BYTES);
	memcpy(frame + MAC_BYTES, (const uint8_t[]){0x81, 0x00, 0x00, 100}, VLAN_BYTES);
	return packet;
}

static struct rte_mbuf *
ipv6_flow(unsigned int number)
{
	const struct weir_test_ipv6 what = {.src_port = 2000 + number};

	return weir_test_ipv6_packet(&what);
}

static struct rte_mbuf *
ipv4_flow(const char *src, unsigned int number)
{
	const struct weir_test_ipv4 what = {.src = src, .src_port = 2000 + number};

	return weir_test_ipv4_packet(&what);
}

static struct rte_mbuf *
arp(void)
{
	static const uint8_t frame[60] = {[12] = 0x08, [13] = 0x06, [15] = 1, [16] = 0x08};

	return weir_test_packet(frame, sizeof(frame));
}

/* Kinds of frames in turn: ARP, a flow of IPv4, two of IPv6. */
static struct rte_mbuf *
any_kind(const char *src, unsigned int number)
{
	if (number % 4 == 0)
		return arp();
	return number % 4 == 1 ? ipv4_flow(src, number) : ipv6_flow(number);
}

/* A function of each case behind a dispatcher, and what to say of it. `others`: a tenant of each
 * kind, everybody else among them; else one prefix alone. */
static void
with_each(bool others, void (*says)(struct weir_hops *dispatcher))
{
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		const char *tenants = others ? cases[i].tenants : cases[i].one;
		const char *const options[][2] = {{"tenants", tenants}, {NULL, NULL}};
		void *function = weir_test_state(cases[i].nf, options);
		struct weir_hops *dispatcher = dispatcher_before(cases[i].nf, function);

		says(dispatcher);
		weir_hops_destroy(dispatcher);
		weir_nf_destroy(cases[i].nf, function);
	}
}

static void
vlan_meets_one_worker(struct weir_hops *dispatcher)
{
	struct rte_mbuf *packets[PACKETS];

	for (unsigned int i = 0; i < PACKETS; i++)
		packets[i] = tagged(any_kind("10.1.0.1", i));
	worker_of(dispatcher, packets);
}

static void
test_whatever_a_vlan_sends_meets_one_worker(void **state)
{
	(void)state;
	with_each(true, vlan_meets_one_worker);
}

static void
everybody_else_meets_one_worker(struct weir_hops *dispatcher)
{
	struct rte_mbuf *packets[PACKETS];

	for (unsigned int i = 0; i < PACKETS; i++)
		packets[i] = any_kind("192.0.2.1", i);
	worker_of(dispatcher, packets);
}

static void
test_ipv6_and_arp_meet_the_worker_of_everybody_else(void **state)
{
	(void)state;
	with_each(true, everybody_else_meets_one_worker);
}

static void
prefixes_meet_different_workers(struct weir_hops *dispatcher)
{
	struct rte_mbuf *first[PACKETS], *second[PACKETS];

	for (unsigned int i = 0; i < PACKETS; i++) {
		first[i] = ipv4_flow("10.1.0.1", i);
		second[i] = ipv4_flow("10.2.0.1", i);
	}
	assert_int_not_equal(worker_of(dispatcher, first), worker_of(dispatcher, second));
}

static void
test_tenants_meet_workers_of_their_own(void **state)
{
	(void)state;
	with_each(true, prefixes_meet_different_workers);
}

static void
strangers_meet_several_workers(struct weir_hops *dispatcher)
{
	struct rte_mbuf *packets[PACKETS];
	unsigned int met[WORKERS], workers = 0;

	for (unsigned int i = 0; i < PACKETS; i++)
		packets[i] = i % 2 == 0 ? ipv6_flow(i) : ipv4_flow("192.0.2.1", i);
	meet(dispatcher, packets, met);
	for (unsigned int i = 0; i < WORKERS; i++)
		workers += met[i] > 0;
	assert_true(workers > 1);
}

static void
test_what_is_of_no_tenant_is_spread_by_flow(void **state)
{
	(void)state;
	with_each(false, strangers_meet_several_workers);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whatever_a_vlan_sends_meets_one_worker),
		cmocka_unit_test(test_ipv6_and_arp_meet_the_worker_of_everybody_else),
		cmocka_unit_test(test_tenants_meet_workers_of_their_own),
		cmocka_unit_test(test_what_is_of_no_tenant_is_spread_by_flow),
	};

	return cmocka_run_group_tests_name("tenants", tests, weir_test_eal, NULL);
}
