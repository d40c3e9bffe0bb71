/* SPDX-License-Identifier: Apache-2.0 */
#include "packet.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_tcp.h>
#include <rte_udp.h>

#include "eal.h"

#define FRAME_BYTES_MIN 60
#define TCP_ACK 0x10

static uint16_t
sum_of(const uint8_t *bytes, size_t count, uint32_t sum)
{
	for (size_t i = 0; i + 1 < count; i += 2)
		sum += bytes[i] << 8 | bytes[i + 1];
	if (count % 2 != 0)
		sum += bytes[count - 1] << 8;
	while (sum > 0xffff)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

static void
put(uint8_t *at, uint16_t value)
{
	at[0] = value >> 8;
	at[1] = value & 0xff;
}

static uint16_t
get(const uint8_t *at)
{
	return at[0] << 8 | at[1];
}

/* The sum over an L4 header with its data and the pseudo header of `ip`. */
static uint16_t
l4_sum(const uint8_t *ip, const uint8_t *l4, size_t bytes)
{
	uint32_t pseudo = sum_of(ip + 12, 8, ip[9] + (uint32_t)bytes);

	return sum_of(l4, bytes, pseudo);
}

static size_t
put_l4(const struct weir_test_ipv4 *what, uint8_t protocol, uint8_t *l4)
{
	size_t header = 0;

	if (what->fragment_offset_bytes == 0 && protocol == IPPROTO_UDP) {
		header = 8;
		put(l4 + 4, header + what->payload_bytes);
	} else if (what->fragment_offset_bytes == 0 && protocol == IPPROTO_TCP) {
		header = 20;
		put(l4 + 4, what->tcp_seq >> 16);
		put(l4 + 6, what->tcp_seq & 0xffff);
		l4[12] = 5 << 4;
		l4[13] = what->tcp_flags != 0 ? what->tcp_flags : TCP_ACK;
		put(l4 + 14, 0xffff);
	} else if (what->fragment_offset_bytes == 0 && protocol == IPPROTO_ICMP) {
		header = 8;
		l4[0] = what->icmp_type != 0 ? what->icmp_type : 8;
		l4[1] = what->icmp_code;
		put(l4 + 4, what->src_port);
	}
	if (header != 0 && protocol != IPPROTO_ICMP) {
		put(l4, what->src_port != 0 ? what->src_port : 1024);
		put(l4 + 2, what->dst_port != 0 ? what->dst_port : 80);
	}
	if (what->payload_bytes > 0 && what->payload != NULL)
		memcpy(l4 + header, what->payload, what->payload_bytes);
	return header + what->payload_bytes;
}

static void
put_l4_checksum(const struct weir_test_ipv4 *what, const uint8_t *ip, uint8_t *l4, size_t bytes)
{
	uint16_t checksum;

	if (what->fragment_offset_bytes != 0)
		return;
	switch (ip[9]) {
	case IPPROTO_UDP:
		checksum = ~l4_sum(ip, l4, bytes);
		if (!what->no_udp_checksum)
			put(l4 + 6, checksum != 0 ? checksum : 0xffff);
		break;
	case IPPROTO_TCP:
		put(l4 + 16, ~l4_sum(ip, l4, bytes));
		break;
	case IPPROTO_ICMP:
		put(l4 + 2, ~sum_of(l4, bytes, 0));
		break;
	default:
		break;
	}
}

size_t
weir_test_ipv4_frame(const struct weir_test_ipv4 *what, uint8_t *frame)
{
	static const uint8_t macs[12] = {2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1};
	size_t ip_at = what->tagged ? 18 : 14;
	size_t header = 20 + what->option_bytes;
	uint8_t *ip = frame + ip_at;
	size_t l4_bytes, bytes;

	memset(frame, 0, WEIR_TEST_FRAME_BYTES);
	memcpy(frame, macs, sizeof(macs));
	if (what->tagged) {
		put(frame + 12, 0x8100);
		put(frame + 14, 100);
	}
	put(ip - 2, 0x0800);
	ip[0] = 0x40 | header / 4;
	put(ip + 4, what->identification);
	put(ip + 6, what->fragment_offset_bytes / 8 | (what->more_fragments ? 0x2000 : 0));
	ip[8] = what->ttl != 0 ? what->ttl : 64;
	ip[9] = what->protocol != 0 ? what->protocol : IPPROTO_UDP;
	inet_pton(AF_INET, what->src != NULL ? what->src : "192.0.2.1", ip + 12);
	inet_pton(AF_INET, what->dst != NULL ? what->dst : "198.51.100.1", ip + 16);
	memset(ip + 20, 1, what->option_bytes);
	l4_bytes = put_l4(what, ip[9], ip + header);
	put(ip + 2, header + l4_bytes);
	put(ip + 10, ~sum_of(ip, header, 0));
	put_l4_checksum(what, ip, ip + header, l4_bytes);
	bytes = ip_at + header + l4_bytes;
	return bytes < FRAME_BYTES_MIN ? FRAME_BYTES_MIN : bytes;
}

size_t
weir_test_icmp_error_frame(const struct weir_test_icmp_error *what, uint8_t *frame)
{
	uint8_t inside[WEIR_TEST_FRAME_BYTES];
	size_t ip_at = what->inside.tagged ? 18 : 14;

	weir_test_ipv4_frame(&what->inside, inside);
	return weir_test_ipv4_frame(
		&(struct weir_test_ipv4){
			.src = what->src,
			.dst = what->dst,
			.protocol = IPPROTO_ICMP,
			.icmp_type = what->type != 0 ? what->type : 3,
			.icmp_code = what->code,
			.payload = inside + ip_at,
			.payload_bytes = what->inside_bytes != 0 ? what->inside_bytes
								 : get(inside + ip_at + 2),
		},
		frame);
}

struct rte_mbuf *
weir_test_packet(const void *frame, size_t bytes)
{
	struct rte_mbuf *packet = rte_pktmbuf_alloc(weir_test_pool());

	assert_non_null(packet);
	memcpy(rte_pktmbuf_append(packet, bytes), frame, bytes);
	return packet;
}

struct rte_mbuf *
weir_test_ipv4_packet(const struct weir_test_ipv4 *what)
{
	uint8_t frame[WEIR_TEST_FRAME_BYTES];
	size_t bytes = weir_test_ipv4_frame(what, frame);

	return weir_test_packet(frame, bytes);
}

bool
weir_test_checksums_right(const uint8_t *frame, size_t bytes)
{
	size_t ip_at = get(frame + 12) == 0x8100 ? 18 : 14;
	const uint8_t *ip = frame + ip_at;
	size_t header, l4_bytes;

	if (bytes < ip_at + 20 || get(ip - 2) != 0x0800)
		return true;
	header = (ip[0] & 0xf) * 4;
	if (sum_of(ip, header, 0) != 0xffff)
		return false;
	if ((get(ip + 6) & 0x3fff) != 0)
		return true;
	l4_bytes = get(ip + 2) - header;
	switch (ip[9]) {
	case IPPROTO_UDP:
		return l4_bytes < 8 || get(ip + header + 6) == 0 ||
		       l4_sum(ip, ip + header, l4_bytes) == 0xffff;
	case IPPROTO_TCP:
		return l4_bytes < 20 || l4_sum(ip, ip + header, l4_bytes) == 0xffff;
	case IPPROTO_ICMP:
		return sum_of(ip + header, l4_bytes, 0) == 0xffff;
	default:
		return true;
	}
}

struct weir_test_outcome
weir_test_run(const struct weir_nf *nf, void *state, enum weir_direction direction,
	      struct rte_mbuf *packet, uint64_t now_tsc)
{
	struct weir_stage stage = {.nf = nf, .state = state};
	struct weir_batch batch = {
		.count = 1,
		.direction = direction,
		.now_tsc = now_tsc,
		.packet = {packet},
	};
	struct weir_test_outcome outcome = {0};

	weir_stage_run(&stage, &batch);
	if (batch.count == 1) {
		outcome.packet = batch.packet[0];
		outcome.egress = batch.egress[0];
		return outcome;
	}
	for (unsigned int i = 0; i < nf->drop_reason_count; i++) {
		if (stage.ledger.drops[i] == 1)
			outcome.drop_reason = nf->drop_reasons[i].symbol;
	}
	if (stage.ledger.held == 1)
		outcome.drop_reason = "held";
	assert_non_null(outcome.drop_reason); /* a packet went and was not counted */
	return outcome;
}

static unsigned int
values_of(const char *const (*pairs)[2], struct weir_option_value *values, unsigned int room)
{
	unsigned int count = 0;

	for (; pairs != NULL && pairs[count][0] != NULL; count++) {
		assert_true(count < room);
		values[count] = (struct weir_option_value){pairs[count][0], pairs[count][1]};
	}
	return count;
}

void *
weir_test_state(const struct weir_nf *nf, const char *const (*options)[2])
{
	struct weir_option_value values[32];
	unsigned int count = values_of(options, values, 32);
	struct weir_error error = {0};
	void *state = weir_nf_create(nf, values, count, "options", &error);

	if (state == NULL)
		fail_msg("%s: %s; expected %s", nf->name, error.message, error.expected);
	return state;
}

const char *
weir_test_command(const struct weir_nf *nf, void *state, const char *name,
		  const char *const (*arguments)[2])
{
	return weir_test_command_beside(nf, state, name, arguments, NULL);
}

const char *
weir_test_command_beside(const struct weir_nf *nf, void *state, const char *name,
			 const char *const (*arguments)[2], struct weir_flow_cache *cache)
{
	static struct weir_error error;
	struct weir_option_value values[32];
	unsigned int count = values_of(arguments, values, 32);
	const struct weir_command *command = nf->commands;
	void *parsed, *prepared = NULL;
	int status;

	while (command < nf->commands + nf->command_count && strcmp(command->name, name) != 0)
		command++;
	if (command == nf->commands + nf->command_count)
		fail_msg("%s has no command %s", nf->name, name);
	parsed = calloc(1, command->arguments_size + 1);
	assert_non_null(parsed);
	status = weir_options_parse(name, command->options, command->option_count, values, count,
				    parsed, "args", &error);
	if (status == 0)
		status = command->prepare(state, parsed, "args", &prepared, &error);
	free(parsed);
	if (status < 0)
		return error.message;
	command->commit(state, prepared, cache);
	if (command->release != NULL)
		command->release(prepared);
	return NULL;
}
