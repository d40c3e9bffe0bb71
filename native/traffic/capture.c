/* SPDX-License-Identifier: Apache-2.0 */
#include "capture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <netinet/in.h>
#include <pcap/pcap.h>

#include "parser.h"
#include "pcap_fcs.h"

#define WHERE "capture.path"
#define WHERE_FILTER "capture.filter"
#define SECONDS_MAX (1ll << 33) /* in nanoseconds it fits 63 bits */
#define FRAME_BYTES_MIN 14	/* an Ethernet header */

static int
no_memory(const char *path, struct weir_error *error)
{
	return weir_fail(error, "no_memory", WHERE, NULL, "replay a part of it",
			 "no memory for the frames of %s", path);
}

static bool
grow(struct weir_capture *capture, uint32_t length)
{
	uint64_t size = capture->count > 0 ? capture->offset[capture->count] : 0;

	if (capture->count == capture->capacity) {
		uint32_t capacity = capture->capacity == 0 ? 1024 : 2 * capture->capacity;
		uint64_t *offset =
			realloc(capture->offset, (capacity + 1ULL) * sizeof(*capture->offset));
		double *gap_ns;

		if (offset == NULL)
			return false;
		capture->offset = offset;
		gap_ns = realloc(capture->gap_ns, capacity * sizeof(*capture->gap_ns));
		if (gap_ns == NULL)
			return false;
		capture->gap_ns = gap_ns;
		capture->capacity = capacity;
	}
	if (size + length > capture->room) {
		uint64_t room = 2 * (size + length);
		uint8_t *bytes = realloc(capture->bytes, room);

		if (bytes == NULL)
			return false;
		capture->bytes = bytes;
		capture->room = room;
	}
	return true;
}

/* `number`: from 1, as Wireshark counts. */
static int
check_frame(const struct pcap_pkthdr *header, const struct weir_capture *capture,
	    const struct weir_capture_wanted *wanted, const char *path, struct weir_error *error)
{
	uint32_t number = capture->frames_read, most = wanted->frame_bytes_max - RTE_ETHER_CRC_LEN;
	uint64_t size = capture->count > 0 ? capture->offset[capture->count] : 0;

	if (header->caplen < header->len)
		return weir_fail(error, "bad_argument", WHERE, "frames that were captured whole",
				 "capture with a larger snapshot length: tcpdump -s 0",
				 "frame %u of %s has %u of its %u bytes", number, path,
				 header->caplen, header->len);
	if (header->caplen > header->len || header->len < FRAME_BYTES_MIN || header->len > most)
		return weir_fail(
			error, "bad_argument", WHERE,
			"frames from 14 bytes up to what the ports carry",
			"capture without segmentation offload (ethtool -K DEVICE gro off), or "
			"leave such frames out by `filter`: less 1514",
			"frame %u of %s has %u bytes, of %u at most without FCS", number, path,
			header->caplen > header->len ? header->caplen : header->len, most);
	if (header->ts.tv_sec < 0 || header->ts.tv_sec > SECONDS_MAX)
		return weir_fail(error, "bad_argument", WHERE,
				 "seconds since 1970: below 2^31 in a pcap, 2^33 in a pcapng", NULL,
				 "frame %u of %s has a time that cannot be", number, path);
	if (capture->count == WEIR_CAPTURE_FRAMES_MAX ||
	    size + header->len > WEIR_CAPTURE_BYTES_MAX)
		return weir_fail(error, "bad_argument", WHERE,
				 "4,194,304 frames and 512 MiB at most",
				 "replay a part of it: editcap -r",
				 "%s is too long: from frame %u on there is no room", path, number);
	return 0;
}

static int64_t
ns_of(const struct pcap_pkthdr *header)
{
	/* A time that cannot be is refused if its frame is sent, and else of no account. */
	const int64_t seconds = RTE_MAX(0, RTE_MIN(header->ts.tv_sec, SECONDS_MAX));

	/* By the precision that was asked for, tv_usec holds nanoseconds. */
	return seconds * 1000000000 + header->ts.tv_usec;
}

/* Files of several interfaces are out of order by a little: such a frame is due with the one before
 * it. */
static int
read_frames(pcap_t *file, const char *path, const struct weir_capture_wanted *wanted,
	    const struct bpf_program *filter, struct weir_capture *capture,
	    struct weir_error *error)
{
	const uint32_t fcs_bytes = weir_pcap_fcs_bytes(file);
	struct pcap_pkthdr *found;
	const u_char *data;
	int64_t latest_ns = 0, first_ns = 0, begin_ns = 0;
	int status;

	while ((status = pcap_next_ex(file, &found, &data)) == 1) {
		const struct pcap_pkthdr header = weir_pcap_without_fcs(found, fcs_bytes);
		uint64_t at = capture->count > 0 ? capture->offset[capture->count] : 0;
		int64_t now_ns = ns_of(&header);

		if (capture->frames_read++ == 0)
			begin_ns = now_ns;
		if (pcap_offline_filter(filter, &header, data) == 0)
			continue;
		if (check_frame(&header, capture, wanted, path, error) < 0)
			return -1;
		if (!grow(capture, header.len))
			return no_memory(path, error);
		if (capture->count == 0)
			first_ns = latest_ns = now_ns;
		memcpy(capture->bytes + at, data, header.len);
		capture->gap_ns[capture->count] =
			now_ns > latest_ns ? (double)(now_ns - latest_ns) : 0;
		latest_ns = now_ns > latest_ns ? now_ns : latest_ns;
		capture->offset[capture->count++] = at;
		capture->offset[capture->count] = at + header.len;
	}
	if (status == PCAP_ERROR)
		return weir_fail(error, "bad_argument", WHERE, "a whole capture file", NULL,
				 "%s cannot be read behind its frame %u: %s", path,
				 capture->frames_read, pcap_geterr(file));
	if (capture->frames_read == 0)
		return weir_fail(error, "bad_argument", WHERE, "a capture with frames", NULL,
				 "%s has no frame", path);
	if (capture->count == 0)
		return weir_fail(error, "bad_argument", WHERE_FILTER, "a filter that some pass",
				 NULL, "none of the %u frames of %s passes '%s'",
				 capture->frames_read, path, wanted->filter);
	if (capture->count > 1)
		capture->mean_gap_ns =
			(double)(latest_ns - first_ns) / (double)(capture->count - 1);
	capture->gap_ns[0] = capture->mean_gap_ns;
	capture->lead_ns = first_ns > begin_ns ? (double)(first_ns - begin_ns) : 0;
	return 0;
}

static void
put16(uint8_t *at, uint16_t value)
{
	memcpy(at, &value, sizeof(value));
}

/* The checksum of UDP or TCP over a frame whose stamp is still to be written: its sum is a
 * constant. UDP over IPv4 without a checksum stays so (RFC 768). */
static void
complete_checksum(uint8_t *frame, const struct weir_payload *payload)
{
	bool v4 = frame[payload->network] >> 4 == 4, tcp = payload->protocol == IPPROTO_TCP;
	uint8_t *transport = frame + payload->transport;
	uint8_t *field = transport + (tcp ? 16 : 6);
	uint16_t length = payload->end - payload->transport, checksum;
	uint64_t sum;

	if (v4 && !tcp && field[0] == 0 && field[1] == 0)
		return;
	put16(field, 0);
	sum = v4 ? weir_sum(frame + payload->network + 12, 8)
		 : weir_sum(frame + payload->network + 8, 32);
	sum += htons(length) + (uint64_t)htons(payload->protocol) + WEIR_STAMP_SUM;
	sum += weir_sum(transport, length);
	checksum = ~weir_sum_fold(sum);
	put16(field, checksum != 0 ? checksum : 0xffff);
}

/* Room for a stamp, zero as yet, in every frame. */
static int
make_stamps(const char *path, struct weir_capture *capture, struct weir_error *error)
{
	capture->stamp_at = calloc(capture->count, sizeof(*capture->stamp_at));
	if (capture->stamp_at == NULL)
		return no_memory(path, error);
	for (uint32_t i = 0; i < capture->count; i++) {
		uint8_t *frame = capture->bytes + capture->offset[i];
		size_t length = capture->offset[i + 1] - capture->offset[i];
		struct weir_payload payload;

		if (!weir_parse_payload(frame, length, length, &payload) ||
		    payload.at + sizeof(struct weir_stamp) > WEIR_PARSER_BYTES ||
		    payload.end - payload.at < sizeof(struct weir_stamp))
			return weir_fail(
				error, "bad_argument", WHERE,
				"with `stamp`, whole UDP or TCP packets with 18 bytes of payload",
				"leave `stamp` out: frames are then counted, not recognised",
				"frame %u of those of %s that are sent has no room for Weir's "
				"stamp",
				i + 1, path);
		memset(frame + payload.at, 0, sizeof(struct weir_stamp));
		complete_checksum(frame, &payload);
		capture->stamp_at[i] = payload.at;
	}
	return 0;
}

static void
rewrite(const struct weir_capture_wanted *wanted, struct weir_capture *capture)
{
	for (uint32_t i = 0; i < capture->count; i++) {
		uint8_t *frame = capture->bytes + capture->offset[i];

		if (wanted->dst_mac != NULL)
			memcpy(frame, wanted->dst_mac, RTE_ETHER_ADDR_LEN);
		if (wanted->src_mac != NULL)
			memcpy(frame + RTE_ETHER_ADDR_LEN, wanted->src_mac, RTE_ETHER_ADDR_LEN);
		if (wanted->map_count > 0)
			weir_address_maps_apply(wanted->maps, wanted->map_count, frame,
						capture->offset[i + 1] - capture->offset[i]);
	}
}

static int
read_all(pcap_t *file, const char *path, const struct weir_capture_wanted *wanted,
	 struct weir_capture *capture, struct weir_error *error)
{
	const char *filter = wanted->filter != NULL ? wanted->filter : "";
	struct bpf_program program;
	int status;

	if (pcap_datalink(file) != DLT_EN10MB)
		return weir_fail(error, "bad_argument", WHERE, "frames of Ethernet",
				 "capture on an Ethernet interface, not on `any`",
				 "%s holds frames of %s", path,
				 pcap_datalink_val_to_description_or_dlt(pcap_datalink(file)));
	if (pcap_compile(file, &program, filter, 1, PCAP_NETMASK_UNKNOWN) != 0)
		return weir_fail(error, "bad_argument", WHERE_FILTER,
				 "a filter as tcpdump takes it, such as 'src net 192.0.2.0/24'",
				 NULL, "'%s' is no filter: %s", filter, pcap_geterr(file));
	status = read_frames(file, path, wanted, &program, capture, error);
	pcap_freecode(&program);
	if (status < 0)
		return -1;
	rewrite(wanted, capture);
	return wanted->stamp ? make_stamps(path, capture, error) : 0;
}

int
weir_capture_read(FILE *file, const char *path, const struct weir_capture_wanted *wanted,
		  struct weir_capture *capture, struct weir_error *error)
{
	char reason[PCAP_ERRBUF_SIZE];
	pcap_t *pcap =
		pcap_fopen_offline_with_tstamp_precision(file, PCAP_TSTAMP_PRECISION_NANO, reason);
	int status;

	memset(capture, 0, sizeof(*capture));
	if (pcap == NULL) {
		fclose(file);
		return weir_fail(error, "bad_argument", WHERE,
				 "a pcap or pcapng file, as of tcpdump or Wireshark", NULL,
				 "%s is no capture: %s", path, reason);
	}
	status = read_all(pcap, path, wanted, capture, error);
	pcap_close(pcap);
	if (status < 0)
		weir_capture_free(capture);
	return status;
}

int
weir_capture_open(const char *path, const struct weir_capture_wanted *wanted,
		  struct weir_capture *capture, struct weir_error *error)
{
	FILE *file = fopen(path, "rb");

	memset(capture, 0, sizeof(*capture));
	if (file == NULL)
		return weir_fail(error, "bad_argument", WHERE, "a file that can be read", NULL,
				 "%s: %s", path, strerror(errno));
	return weir_capture_read(file, path, wanted, capture, error);
}

void
weir_capture_free(struct weir_capture *capture)
{
	free(capture->offset);
	free(capture->bytes);
	free(capture->gap_ns);
	free(capture->stamp_at);
	memset(capture, 0, sizeof(*capture));
}
