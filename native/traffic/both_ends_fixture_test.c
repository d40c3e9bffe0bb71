/* SPDX-License-Identifier: Apache-2.0 */
#include "both_ends_fixture_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_mbuf.h>
#include <rte_udp.h>

#include "engine/loop.h"
#include "fixtures_test.h"

#define BURST 32

bool translates, balances;
uint64_t slow_cycles;
uint32_t dropped_flow, passed;
struct kept kept[KEPT];
uint32_t kept_count;

static struct weir_queue translated = {.kind = WEIR_QUEUE_RING, .name = "translated"};
static struct weir_queue sent_back = {.kind = WEIR_QUEUE_RING, .name = "sent back"};
static struct weir_queue came_back = {.kind = WEIR_QUEUE_RING, .name = "came back"};
/* Port 0 is left and port 1 right. */
static struct weir_area *left_receiver, *right_generator, *right_receiver;

static struct rte_ring *
ring_of(const char *name)
{
	return rte_ring_create(name, 4096, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
}

int
start_both_ends(void **state)
{
	if (start_eal(state) < 0)
		return -1;
	translated.ring = ring_of("translated");
	sent_back.ring = ring_of("sent-back");
	came_back.ring = ring_of("came-back");
	return translated.ring == NULL || sent_back.ring == NULL || came_back.ring == NULL ? -1 : 0;
}

static struct rte_ipv4_hdr *
network_of(struct rte_mbuf *packet)
{
	return rte_pktmbuf_mtod_offset(packet, struct rte_ipv4_hdr *, RTE_ETHER_HDR_LEN);
}

static struct rte_udp_hdr *
transport_of(struct rte_mbuf *packet)
{
	return (struct rte_udp_hdr *)(network_of(packet) + 1);
}

/* One that nobody could guess. */
uint16_t
translated_port(uint32_t flow)
{
	return (uint16_t)(40000 + flow * 13);
}

static uint32_t
translate(struct weir_area *area, uint64_t now_tsc)
{
	struct rte_mbuf *packets[BURST];
	static uint64_t next_tsc;
	uint16_t count;

	(void)area;
	if (now_tsc < next_tsc)
		return 0;
	next_tsc = slow_cycles > 0 ? now_tsc + slow_cycles : 0;
	count = weir_queue_receive(&wire, packets, slow_cycles > 0 ? 1 : BURST);
	for (uint16_t i = 0; i < count; i++) {
		struct rte_ipv4_hdr *ip = network_of(packets[i]);
		uint32_t source = rte_be_to_cpu_32(ip->src_addr);

		passed++;
		if (source % 256 == dropped_flow) {
			rte_pktmbuf_free(packets[i]);
			continue;
		}
		if (translates) {
			ip->src_addr = rte_cpu_to_be_32(TRANSLATED_IP);
			transport_of(packets[i])->src_port =
				rte_cpu_to_be_16(translated_port(source % 256));
		}
		if (balances) {
			ip->dst_addr = rte_cpu_to_be_32(BACKEND_IP + source % 2);
			transport_of(packets[i])->dst_port = rte_cpu_to_be_16(BACKEND_PORT);
		}
		if (weir_queue_transmit(&translated, &packets[i], 1) == 0)
			rte_pktmbuf_free(packets[i]);
	}
	return count;
}

static uint32_t
keep(struct weir_area *area, uint64_t now_tsc)
{
	struct rte_mbuf *packets[BURST];
	uint16_t count = weir_queue_receive(&sent_back, packets, BURST);

	(void)area;
	(void)now_tsc;
	for (uint16_t i = 0; i < count; i++) {
		const struct rte_ipv4_hdr *ip = network_of(packets[i]);
		const struct rte_udp_hdr *udp = transport_of(packets[i]);

		if (kept_count < KEPT)
			kept[kept_count++] = (struct kept){
				.src_ip = ip->src_addr,
				.dst_ip = ip->dst_addr,
				.src_port = udp->src_port,
				.dst_port = udp->dst_port,
				.checksums_right =
					rte_ipv4_cksum(ip) == 0xffff || rte_ipv4_cksum(ip) == 0,
			};
		if (rte_ipv4_udptcp_cksum_verify(ip, udp) != 0)
			kept[kept_count - 1].checksums_right = false;
		if (weir_queue_transmit(&came_back, &packets[i], 1) == 0)
			rte_pktmbuf_free(packets[i]);
	}
	return count;
}

static struct weir_area translator = {.poll = translate, .name = "translator"};
static struct weir_area keeper = {.poll = keep, .name = "keeper"};

int
make_both_ends(void **state)
{
	unsigned int cpu = weir_core_number(0);
	struct weir_error error;

	(void)state;
	translates = true;
	balances = false;
	slow_cycles = 0;
	dropped_flow = NOBODY;
	passed = kept_count = 0;
	generator = weir_generator_create("left generator", cpu, &wire, 0, &error);
	left_receiver = weir_receiver_create("left receiver", cpu, &came_back, 0, &error);
	right_generator = weir_generator_create("right generator", cpu, &sent_back, 1, &error);
	right_receiver = weir_receiver_create("right receiver", cpu, &translated, 1, &error);
	translator.core = keeper.core = cpu;
	return generator != NULL && left_receiver != NULL && right_generator != NULL &&
			       right_receiver != NULL
		       ? 0
		       : -1;
}

static void
drain(struct weir_queue *queue)
{
	struct rte_mbuf *packet;

	while (weir_queue_receive(queue, &packet, 1) == 1)
		rte_pktmbuf_free(packet);
}

int
free_both_ends(void **state)
{
	(void)state;
	weir_loops_stop();
	weir_areas_clear();
	weir_streams_clear();
	weir_generator_destroy(generator);
	weir_receiver_destroy(left_receiver);
	weir_generator_destroy(right_generator);
	weir_receiver_destroy(right_receiver);
	drain(&wire);
	drain(&translated);
	drain(&sent_back);
	drain(&came_back);
	return 0;
}

void
both_ways(struct weir_stream_config configs[2])
{
	configs[0] = stream_of(template_of(false, false, false), 64);
	configs[0].flow_count = FLOWS;
	configs[0].vary = WEIR_VARY_SRC_IP | WEIR_VARY_DST_IP | WEIR_VARY_SRC_PORT;
	memset(configs[0].template.src_ip + 3, 0, 1); /* flow n is from address n */
	configs[1] = configs[0];
	configs[1].id = 1;
	configs[1].port_id = 1;
	configs[1].to_port_id = 0;
	configs[1].answers = true;
	configs[1].answered_id = 0;
}

void
run_both_ends(const struct weir_stream_config *configs)
{
	struct weir_error error;

	place(generator);
	place(&translator);
	place(right_receiver);
	place(right_generator);
	place(&keeper);
	place(left_receiver);
	assert_int_equal(weir_streams_configure(configs, 2, &error), 0);
	start_loop();
}
