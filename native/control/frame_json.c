/* SPDX-License-Identifier: Apache-2.0 */
#include "frame_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRAME_BYTES_MAX 2048

static int
nibble(char digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	if (digit >= 'a' && digit <= 'f')
		return digit - 'a' + 10;
	return -1;
}

/* Bytes of a hexadecimal text, or -1. */
static int
bytes_of(const char *text, uint8_t *bytes)
{
	size_t digits = strlen(text);

	if (digits % 2 != 0 || digits / 2 > FRAME_BYTES_MAX)
		return -1;
	for (size_t i = 0; i < digits; i += 2) {
		int high = nibble(text[i]), low = nibble(text[i + 1]);

		if (high < 0 || low < 0)
			return -1;
		bytes[i / 2] = high << 4 | low;
	}
	return digits / 2;
}

int
weir_frames_check(const json_t *frames, size_t max, const char *where, struct weir_error *error)
{
	uint8_t bytes[FRAME_BYTES_MAX];
	char expected[32];
	size_t index;
	json_t *frame;

	snprintf(expected, sizeof(expected), "at most %zu frames", max);
	if (json_array_size(frames) > max)
		return weir_fail(error, "bad_argument", where, expected, NULL, "too many frames");
	json_array_foreach((json_t *)frames, index, frame)
	{
		if (!json_is_string(frame) || bytes_of(json_string_value(frame), bytes) < 0)
			return weir_fail(
				error, "bad_argument", where,
				"small hexadecimal digits, 2048 bytes at most, without FCS", NULL,
				"frame %zu cannot be read", index);
	}
	return 0;
}

struct rte_mbuf *
weir_frame_from_json(const json_t *frame, struct rte_mempool *pool)
{
	struct rte_mbuf *packet = rte_pktmbuf_alloc(pool);
	uint8_t bytes[FRAME_BYTES_MAX];
	int count = bytes_of(json_string_value(frame), bytes);

	if (packet == NULL || count > rte_pktmbuf_tailroom(packet)) {
		rte_pktmbuf_free(packet);
		return NULL;
	}
	memcpy(rte_pktmbuf_append(packet, count), bytes, count);
	return packet;
}

json_t *
weir_frame_to_json(const struct rte_mbuf *packet)
{
	static const char digits[] = "0123456789abcdef";
	const uint8_t *bytes = rte_pktmbuf_mtod(packet, const uint8_t *);
	/* What comes back may be longer than what a request can say: a tunnel is put around it, or
	 * it came from outside. */
	char *text = malloc(2 * (size_t)packet->data_len + 1);
	json_t *frame;

	if (text == NULL)
		return NULL;
	for (uint16_t i = 0; i < packet->data_len; i++) {
		text[2 * i] = digits[bytes[i] >> 4];
		text[2 * i + 1] = digits[bytes[i] & 0xf];
	}
	frame = json_stringn(text, 2 * (size_t)packet->data_len);
	free(text);
	return frame;
}
