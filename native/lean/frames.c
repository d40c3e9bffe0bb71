/* SPDX-License-Identifier: Apache-2.0 */
#include "frames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pcap/pcap.h>

#include "port/port.h"
#include "traffic/capture.h"
#include "traffic/pcap_fcs.h"

#define FRAME_BYTES_MIN 14 /* an Ethernet header */

static int
no_memory(struct weir_frames *frames, struct weir_error *error)
{
	weir_frames_free(frames);
	return weir_fail(error, "no_memory", "traffic", NULL, "take fewer flows or a shorter file",
			 "no memory for the frames");
}

static bool
grow(struct weir_frames *frames, uint16_t length)
{
	if (frames->count == frames->capacity) {
		uint32_t capacity = frames->capacity == 0 ? 4096 : 2 * frames->capacity;
		uint64_t *offset = realloc(frames->offset, (capacity + 1ULL) * sizeof(*offset));

		if (offset == NULL)
			return false;
		frames->offset = offset;
		frames->capacity = capacity;
	}
	if (frames->size + length > frames->room) {
		uint64_t room = 2 * (frames->size + length);
		uint8_t *bytes = realloc(frames->bytes, room);

		if (bytes == NULL)
			return false;
		frames->bytes = bytes;
		frames->room = room;
	}
	return true;
}

static void
add(void *argument, const uint8_t *frame, uint16_t length)
{
	struct weir_frames *frames = argument;

	if (frames->no_memory || !grow(frames, length)) {
		frames->no_memory = true;
		return;
	}
	frames->offset[frames->count++] = frames->size;
	memcpy(frames->bytes + frames->size, frame, length);
	frames->size += length;
	frames->offset[frames->count] = frames->size;
}

int
weir_frames_from_stream(const struct weir_stream_config *config, uint32_t count,
			struct weir_frames *frames, struct weir_error *error)
{
	memset(frames, 0, sizeof(*frames));
	if (weir_stream_sample(config, count, add, frames, error) < 0) {
		weir_frames_free(frames);
		return -1;
	}
	return frames->no_memory ? no_memory(frames, error) : 0;
}

static int
read_all(pcap_t *file, const char *path, struct weir_frames *frames, struct weir_error *error)
{
	const uint32_t fcs_bytes = weir_pcap_fcs_bytes(file);
	struct pcap_pkthdr *found;
	const u_char *data;
	unsigned int room_bytes = weir_ports_room_bytes();
	char expected[64];
	int status;

	if (pcap_datalink(file) != DLT_EN10MB)
		return weir_fail(error, "bad_argument", "traffic.pcap", "frames of Ethernet",
				 "capture on an Ethernet interface", "%s holds frames of %s", path,
				 pcap_datalink_val_to_description_or_dlt(pcap_datalink(file)));
	while ((status = pcap_next_ex(file, &found, &data)) == 1) {
		const struct pcap_pkthdr header = weir_pcap_without_fcs(found, fcs_bytes);

		if (header.caplen != header.len || header.len > room_bytes ||
		    header.len < FRAME_BYTES_MIN)
			frames->left_out++;
		else if (frames->count == WEIR_CAPTURE_FRAMES_MAX ||
			 frames->size + header.len > WEIR_CAPTURE_BYTES_MAX)
			/* Memory for more may be promised and not there when it is written. */
			return weir_fail(error, "bad_argument", "traffic.pcap",
					 "4,194,304 frames and 512 MiB at most",
					 "take a part of it: editcap -r",
					 "%s is too long: from frame %u on there is no room", path,
					 frames->count + frames->left_out + 1);
		else
			add(frames, data, header.len);
	}
	if (status == PCAP_ERROR)
		return weir_fail(error, "bad_argument", "traffic.pcap", "a whole capture file",
				 NULL, "%s cannot be read to its end: %s", path, pcap_geterr(file));
	if (frames->count > 0)
		return 0;
	snprintf(expected, sizeof(expected), "frames of %d to %u bytes, captured whole",
		 FRAME_BYTES_MIN, room_bytes);
	return weir_fail(error, "bad_argument", "traffic.pcap", expected,
			 "capture with a larger snapshot length", "%s has no such frame", path);
}

int
weir_frames_from_pcap(const char *path, struct weir_frames *frames, struct weir_error *error)
{
	char reason[PCAP_ERRBUF_SIZE];
	pcap_t *file = pcap_open_offline(path, reason);
	int status;

	memset(frames, 0, sizeof(*frames));
	if (file == NULL)
		return weir_fail(error, "bad_argument", "traffic.pcap",
				 "a file of tcpdump or Wireshark", NULL, "%s", reason);
	status = read_all(file, path, frames, error);
	pcap_close(file);
	if (status == 0 && frames->no_memory)
		return no_memory(frames, error);
	if (status < 0)
		weir_frames_free(frames);
	return status;
}

void
weir_frames_free(struct weir_frames *frames)
{
	free(frames->offset);
	free(frames->bytes);
	memset(frames, 0, sizeof(*frames));
}
