/* SPDX-License-Identifier: Apache-2.0 */
#include "fixtures_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>
#include <rte_cycles.h>
#include "engine/loop.h"
#include "frame.h"
#include "testing/eal.h"
#include "stream.h"

struct weir_queue wire = {.kind = WEIR_QUEUE_RING, .name = "wire"};
struct weir_area *generator, *receiver;

struct weir_template
template_of(bool v6, bool tcp, bool tagged)
{
	struct weir_template template = {
		.ip_version = v6 ? 6 : 4,
		.tcp = tcp,
		.src_mac = {{2, 0, 0, 0, 0, 1}},
		.dst_mac = {{2, 0, 0, 0, 0, 2}},
		.tagged = tagged,
		.vlan = 0x123,
		.src_port = 1024,
		.dst_port = 5000,
	};

	for (uint8_t i = 0; i < 16; i++) {
		template.src_ip[i] = 0x20 + i * 7;
		template.dst_ip[i] = 0xfd - i * 3;
	}
	return template;
}

struct weir_stream_config
stream_of(struct weir_template template, uint16_t frame_bytes)
{
	return (struct weir_stream_config){
		.port_id = 0,
		.to_port_id = 1,
		.frame_count = 1,
		.frame_bytes = {frame_bytes},
		.template = template,
		.flow_count = 1,
		.seed = 1,
	};
}

int
start_eal(void **state)
{
	if (weir_test_eal(state) < 0)
		return -1;
	wire.ring = rte_ring_create("wire", 4096, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
	return wire.ring == NULL ? -1 : 0;
}

int
make_tester(void **state)
{
	unsigned int cpu = weir_core_number(0);
	struct weir_error error;

	(void)state;
	generator = weir_generator_create("generator", cpu, &wire, 0, &error);
	receiver = weir_receiver_create("receiver", cpu, &wire, 1, &error);
	return generator != NULL && receiver != NULL ? 0 : -1;
}

int
free_tester(void **state)
{
	struct rte_mbuf *packet;

	(void)state;
	weir_loops_stop();
	weir_areas_clear();
	weir_streams_clear();
	weir_generator_destroy(generator);
	weir_receiver_destroy(receiver);
	while (weir_queue_receive(&wire, &packet, 1) == 1)
		rte_pktmbuf_free(packet);
	return 0;
}

void
place(struct weir_area *area)
{
	struct weir_error error;

	assert_int_equal(weir_area_add(area, &error), 0);
}

void
start_loop(void)
{
	static const struct weir_loop_options options = {.stall_threshold_us = {1000}};

	weir_loops_start(&options);
}

void
configure(const struct weir_stream_config *config)
{
	struct weir_error error;

	assert_int_equal(weir_streams_configure(config, 1, &error), 0);
}

void
run_tester(const struct weir_stream_config *config)
{
	place(generator);
	place(receiver);
	configure(config);
	start_loop();
}

void
start_run(double rate_pps, uint64_t duration_ns, uint64_t drain_ns)
{
	struct weir_error error;
	const struct weir_run_options options = {
		.rates_pps = &rate_pps,
		.duration_ns = duration_ns,
		.drain_ns = drain_ns,
	};

	assert_int_not_equal(weir_run_start(&options, &error), -1);
}

struct weir_stream_count
wait_for_end(void)
{
	struct weir_stream_count count;

	for (unsigned int i = 0; i < 1000 && weir_run_poll() == WEIR_RUN_RUNNING; i++)
		rte_delay_us_sleep(1000);
	assert_int_equal(weir_run_poll(), WEIR_RUN_DONE);
	weir_stream_counted(0, &count);
	return count;
}

struct weir_stream_count
stream_counts(void)
{
	struct weir_stream_count count;

	weir_delays_flush(&weir_stream_at(0)->arrivals.delays);
	weir_stream_counted(0, &count);
	return count;
}

uint32_t
summed(const uint8_t *at, size_t bytes, uint32_t sum)
{
	for (size_t i = 0; i < bytes; i++) {
		sum += i % 2 == 0 ? (uint32_t)at[i] << 8 : at[i];
		sum = (sum & 0xffff) + (sum >> 16);
	}
	return sum;
}

uint32_t
transport_sum(const uint8_t *frame, size_t network, size_t transport, size_t end, uint8_t protocol)
{
	uint32_t sum = (uint32_t)(end - transport) + protocol;

	sum = frame[network] >> 4 == 4 ? summed(frame + network + 12, 8, sum)
				       : summed(frame + network + 8, 32, sum);
	return summed(frame + transport, end - transport, sum);
}

struct weir_stamp
stamp_of(uint16_t epoch, uint32_t sequence)
{
	struct weir_stamp stamp = {.epoch = epoch, .sequence = sequence, .tx_tsc = 0x123456789};

	stamp.check = weir_stamp_check(&stamp);
	return stamp;
}

uint16_t
stamped_frame(const struct weir_template *template, uint16_t frame_bytes, struct weir_stamp stamp,
	      uint8_t *bytes)
{
	struct weir_frame frame;

	weir_frame_build(template, frame_bytes, &frame);
	memset(bytes, 0, frame.length);
	memcpy(bytes, frame.head, RTE_MIN(frame.length, (uint16_t)WEIR_HEAD_BYTES));
	memcpy(bytes + weir_frame_offsets(template).stamp, &stamp, sizeof(stamp));
	return frame.length;
}
