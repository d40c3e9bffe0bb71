/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dpi-bench: Hyperscan alone and dpi, side by side on the same rules and payloads.
 *
 *   dpi-bench EAL-ARGUMENTS -- EXPRESSIONS L3-L4-RULES ROUNDS
 *
 * Nine expressions in ten are literal, the tenth has classes and repeats; for every second one case
 * does not matter. 4,096 flows send four
 * segments of 1,400 bytes each, none of which matches; all of them are scanned. Each round is a
 * line of JSON with payload bytes a second, its order changing from round to round:
 *   hyperscan  hs_scan_stream() of each payload, one stream a flow
 *   content    the whole of dpi without applications: headers, flows, L3/L4 rules, scan, charges
 *   everything the same with applications
 * Before them a line with the seconds that compiling took.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_mbuf.h>
#include <rte_tcp.h>

#include "engine/stage.h"
#include "rules.h"
#include "testing/rules.h"

extern const struct weir_nf weir_nf_dpi;

#define FLOWS 4096
#define SEGMENTS 4
#define SEGMENT_BYTES 1400
#define PACKETS (FLOWS * SEGMENTS)
#define EXPRESSION_BYTES 96
#define HEADERS_BYTES (14 + 20 + 20)

struct bench {
	uint64_t random;
	uint32_t expression_count, flow_rule_count;
	char (*expressions)[EXPRESSION_BYTES];
	char path[64];
	struct dpi_rules *rules; /* held, so that each state finds them compiled */
	hs_scratch_t *scratch;
	hs_stream_t *streams[FLOWS];
	struct rte_mbuf *packets[PACKETS]; /* segment by segment, each of all flows */
	uint64_t matches;		   /* so that no result is unused */
};

static void
put_word(struct bench *bench, char *to, unsigned int bytes)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";

	for (unsigned int i = 0; i < bytes; i++)
		to[i] = letters[weir_test_random(&bench->random) % (sizeof(letters) - 1)];
	to[bytes] = '\0';
}

static void
make_expression(struct bench *bench, char *expression)
{
	static const char *const literal[] = {"%s\\.%s\\.com", "/%s/%s\\.php", "%s%s"};
	static const char *const general[] = {
		"^(GET|POST) /%s/[a-z0-9]{2,12}/%s",
		"Host: [a-z0-9.]{0,20}%s%s\\.(com|net|org)",
		"%s=[0-9a-f]{8,32}&%s",
		"User-Agent: [^\\r\\n]{0,40}%s%s",
	};
	uint64_t draw = weir_test_random(&bench->random);
	char one[16], other[16];

	put_word(bench, one, 6 + draw % 8);
	put_word(bench, other, 6 + (draw >> 8) % 8);
	snprintf(expression, EXPRESSION_BYTES,
		 (draw >> 16) % 10 == 0 ? general[(draw >> 24) % RTE_DIM(general)]
					: literal[(draw >> 24) % RTE_DIM(literal)],
		 one, other);
}

static void
write_rules(struct bench *bench)
{
	struct weir_rule *rules = malloc(bench->flow_rule_count * sizeof(*rules));
	FILE *file;

	snprintf(bench->path, sizeof(bench->path), "/tmp/dpi-bench-%d.rules", getpid());
	file = fopen(bench->path, "w");
	if (file == NULL || rules == NULL)
		rte_exit(1, "dpi-bench: cannot write %s\n", bench->path);
	for (uint32_t i = 0; i < bench->expression_count; i++)
		fprintf(file, "%u drop /%s/%s\n", i + 1, bench->expressions[i],
			i % 2 == 0 ? "i" : "");
	weir_test_rules_make(WEIR_TEST_ACL, 42, rules, bench->flow_rule_count);
	for (uint32_t i = 0; i < bench->flow_rule_count; i++) {
		fprintf(file, "%u label flow ", bench->expression_count + i + 1);
		weir_test_rule_write(file, &rules[i]);
	}
	fclose(file);
	free(rules);
}

static double
seconds_since(uint64_t begin)
{
	return (double)(rte_rdtsc_precise() - begin) / (double)rte_get_tsc_hz();
}

/* What a browser would ask, then random text of the kind that requests are made of. */
static void
make_payload(struct bench *bench, char *payload, bool first)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789 \r\n&=/.;-";
	char page[16], site[16];
	int used = 0;

	put_word(bench, page, 12);
	put_word(bench, site, 10);
	if (first)
		used = snprintf(payload, SEGMENT_BYTES,
				"POST /%s/index.html HTTP/1.1\r\nHost: www.%s.example\r\n"
				"User-Agent: Mozilla/5.0 (X11; Linux x86_64)\r\nAccept: */*\r\n"
				"Cookie: session=",
				page, site);
	for (; used < SEGMENT_BYTES; used++)
		payload[used] = letters[weir_test_random(&bench->random) % (sizeof(letters) - 1)];
}

static struct rte_mbuf *
make_packet(struct bench *bench, struct rte_mempool *pool, uint32_t flow, uint32_t segment)
{
	struct rte_mbuf *packet = rte_pktmbuf_alloc(pool);
	uint8_t *frame, *ip, *tcp;
	const uint32_t src = htonl(0x0a000000 + flow), dst = htonl(0xc6336401);
	const uint32_t sequence = htonl(1 + segment * SEGMENT_BYTES);
	const uint16_t bytes = htons(HEADERS_BYTES - 14 + SEGMENT_BYTES), port = htons(80);

	if (packet == NULL)
		rte_exit(1, "dpi-bench: no memory for packets\n");
	frame = (uint8_t *)rte_pktmbuf_append(packet, HEADERS_BYTES + SEGMENT_BYTES);
	memset(frame, 0, HEADERS_BYTES);
	frame[12] = 0x08;
	ip = frame + 14;
	ip[0] = 0x45;
	memcpy(ip + 2, &bytes, sizeof(bytes));
	ip[8] = 64;
	ip[9] = IPPROTO_TCP;
	memcpy(ip + 12, &src, sizeof(src));
	memcpy(ip + 16, &dst, sizeof(dst));
	tcp = ip + 20;
	tcp[0] = 0x40;
	memcpy(tcp + 2, &port, sizeof(port));
	memcpy(tcp + 4, &sequence, sizeof(sequence));
	tcp[12] = 5 << 4;
	tcp[13] = RTE_TCP_ACK_FLAG;
	make_payload(bench, (char *)frame + HEADERS_BYTES, segment == 0);
	return packet;
}

static int
on_match(unsigned int id, unsigned long long from, unsigned long long to, unsigned int flags,
	 void *matches)
{
	(void)id;
	(void)from;
	(void)to;
	(void)flags;
	++*(uint64_t *)matches;
	return 0;
}

static double
bytes_per_s(uint64_t begin)
{
	return (double)PACKETS * SEGMENT_BYTES / seconds_since(begin);
}

static double
time_stream(struct bench *bench)
{
	uint64_t begin = rte_rdtsc_precise();

	for (uint32_t i = 0; i < PACKETS; i++) {
		hs_stream_t *stream = bench->streams[i % FLOWS];

		if (i < FLOWS)
			hs_reset_stream(stream, 0, NULL, NULL, NULL);
		hs_scan_stream(
			stream,
			rte_pktmbuf_mtod_offset(bench->packets[i], const char *, HEADERS_BYTES),
			SEGMENT_BYTES, 0, bench->scratch, on_match, &bench->matches);
	}
	return bytes_per_s(begin);
}

/* All flows are new to it. */
static double
time_dpi(struct bench *bench, const char *applications)
{
	const struct weir_option_value values[] = {
		{"rules_file", bench->path}, {"applications", applications},
		{"packets_max", "4"},	     {"payload_bytes_max", "5600"},
		{"flows_max", "8192"},	     {"inspections_max", "4096"},
		{"charges_max", "16384"},
	};
	struct weir_error error;
	struct weir_stage stage = {.nf = &weir_nf_dpi};
	uint64_t begin;
	double rate;

	stage.state = weir_nf_create(stage.nf, values, RTE_DIM(values), "options", &error);
	if (stage.state == NULL)
		rte_exit(1, "dpi-bench: %s\n", error.message);
	begin = rte_rdtsc_precise();
	for (uint32_t i = 0; i < PACKETS; i += WEIR_BURST) {
		struct weir_batch batch = {.count = WEIR_BURST, .now_tsc = rte_rdtsc()};

		memcpy(batch.packet, bench->packets + i, sizeof(batch.packet));
		weir_stage_run(&stage, &batch);
		bench->matches += WEIR_BURST - batch.count;
	}
	rate = bytes_per_s(begin);
	weir_nf_destroy(stage.nf, stage.state);
	return rate;
}

static const char *const names[] = {"hyperscan", "content", "everything"};

static double
time_one(struct bench *bench, unsigned int which)
{
	switch (which) {
	case 0:
		return time_stream(bench);
	case 1:
		return time_dpi(bench, "false");
	default:
		return time_dpi(bench, "true");
	}
}

static void
prepare(struct bench *bench)
{
	struct rte_mempool *pool = rte_pktmbuf_pool_create(
		"bench", PACKETS, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	struct weir_error error;
	uint64_t begin;

	bench->expressions = calloc(bench->expression_count, sizeof(*bench->expressions));
	if (pool == NULL || bench->expressions == NULL)
		rte_exit(1, "dpi-bench: no memory\n");
	for (uint32_t i = 0; i < bench->expression_count; i++)
		make_expression(bench, bench->expressions[i]);
	for (uint32_t i = 0; i < PACKETS; i++)
		bench->packets[i] = make_packet(bench, pool, i % FLOWS, i / FLOWS);
	write_rules(bench);
	begin = rte_rdtsc();
	bench->rules = dpi_rules_load(bench->path, NULL, "rules", &error);
	if (bench->rules == NULL)
		rte_exit(1, "dpi-bench: %s\n", error.message);
	printf("{\"load_s\": %.1f}\n", seconds_since(begin));
	hs_alloc_scratch(bench->rules->content, &bench->scratch);
	for (uint32_t i = 0; i < FLOWS; i++)
		hs_open_stream(bench->rules->content, 0, &bench->streams[i]);
}

static void
run_rounds(struct bench *bench, unsigned int rounds)
{
	for (unsigned int round = 0; round < rounds; round++) {
		double rate[RTE_DIM(names)];

		for (unsigned int i = 0; i < RTE_DIM(names); i++) {
			unsigned int which = round % 2 == 0 ? i : RTE_DIM(names) - 1 - i;

			rate[which] = time_one(bench, which);
		}
		for (unsigned int i = 0; i < RTE_DIM(names); i++)
			printf("%s\"%s\": %.0f", i == 0 ? "{" : ", ", names[i], rate[i]);
		printf("}\n");
	}
}

int
main(int argc, char **argv)
{
	static struct bench bench = {.random = 42};
	int used = rte_eal_init(argc, argv);

	argc -= used + 1;
	argv += used + 1;
	if (used < 0 || argc != 3)
		rte_exit(2, "usage: dpi-bench EAL-ARGUMENTS -- EXPRESSIONS L3-L4-RULES ROUNDS\n");
	bench.expression_count = strtoul(argv[0], NULL, 10);
	bench.flow_rule_count = strtoul(argv[1], NULL, 10);
	prepare(&bench);
	run_rounds(&bench, strtoul(argv[2], NULL, 10));
	unlink(bench.path);
	return bench.matches > 0;
}
