/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture_test.h"

#include <rte_cycles.h>

#include "testing/file.h"
#include "testing/report.h"

void *dpi;
double now_s;

int
dpi_stop(void **state)
{
	if (dpi != NULL)
		weir_nf_destroy(&weir_nf_dpi, dpi);
	dpi = NULL;
	return weir_test_file_remove(state);
}

void
dpi_start(const char *rules, const char *const (*options)[2])
{
	const char *all[6][2] = {{"rules_file", weir_test_file(rules)}};

	for (unsigned int i = 0; options[i][0] != NULL; i++) {
		all[i + 1][0] = options[i][0];
		all[i + 1][1] = options[i][1];
	}
	if (dpi != NULL)
		weir_nf_destroy(&weir_nf_dpi, dpi);
	dpi = weir_test_state(&weir_nf_dpi, all);
	now_s = 1000;
}

const char *
dpi_load(const char *rules)
{
	const char *const arguments[][2] = {{"rules_file", weir_test_file(rules)}, {NULL, NULL}};

	return weir_test_command(&weir_nf_dpi, dpi, "rules-load", arguments);
}

const char *
dpi_pass(enum weir_direction direction, const struct weir_test_ipv4 *what)
{
	struct weir_test_outcome outcome =
		weir_test_run(&weir_nf_dpi, dpi, direction, weir_test_ipv4_packet(what),
			      now_s * rte_get_tsc_hz());

	if (outcome.packet == NULL)
		return outcome.drop_reason;
	rte_pktmbuf_free(outcome.packet);
	return "forwarded";
}

static struct weir_test_ipv4
segment(enum weir_direction direction, uint16_t port)
{
	bool outbound = direction == WEIR_OUTBOUND;

	return (struct weir_test_ipv4){
		.src = outbound ? SUBSCRIBER : SERVER,
		.dst = outbound ? SERVER : SUBSCRIBER,
		.protocol = IPPROTO_TCP,
		.src_port = outbound ? port : 80,
		.dst_port = outbound ? 80 : port,
	};
}

static const char *
send_text(enum weir_direction direction, uint16_t port, uint32_t seq, const char *text)
{
	struct weir_test_ipv4 what = segment(direction, port);

	what.tcp_seq = seq;
	what.payload = text;
	what.payload_bytes = strlen(text);
	return dpi_pass(direction, &what);
}

const char *
dpi_say(uint16_t port, uint32_t seq, const char *text)
{
	return send_text(WEIR_OUTBOUND, port, seq, text);
}

const char *
dpi_answer(uint16_t port, uint32_t seq, const char *text)
{
	return send_text(WEIR_INBOUND, port, seq, text);
}

const char *
dpi_tcp(enum weir_direction direction, uint16_t port, uint8_t flags)
{
	struct weir_test_ipv4 what = segment(direction, port);

	what.tcp_flags = flags;
	return dpi_pass(direction, &what);
}

const char *
dpi_datagram(uint16_t port, uint16_t server_port, const void *bytes, size_t size)
{
	const struct weir_test_ipv4 what = {
		.src = SUBSCRIBER,
		.dst = SERVER,
		.src_port = port,
		.dst_port = server_port,
		.payload = bytes,
		.payload_bytes = size,
	};

	return dpi_pass(WEIR_OUTBOUND, &what);
}

void
dpi_sweep(void)
{
	for (unsigned int i = 0; i < 1100; i++)
		weir_nf_dpi.tick(dpi, now_s * rte_get_tsc_hz(), NULL);
}

void
dpi_wait_s(unsigned int seconds)
{
	for (unsigned int i = 0; i < seconds; i++) {
		now_s++;
		dpi_sweep();
	}
}

struct weir_counter
dpi_charged(const char *subscriber, const char *rule, const char *application)
{
	const char *given[] = {subscriber, rule, application};
	const char *texts[RTE_DIM(given) + 1] = {NULL};
	unsigned int count = 0;

	for (unsigned int i = 0; i < RTE_DIM(given); i++) {
		if (given[i] != NULL)
			texts[count++] = given[i];
	}
	return weir_test_counted(&weir_nf_dpi, dpi, texts);
}

uint64_t
dpi_figure(const char *name)
{
	return weir_test_figure(&weir_nf_dpi, dpi, name);
}
