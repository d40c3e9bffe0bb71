/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target of the receiver's parser: any bytes, at any cut, are foreign, malformed or a stamp;
 * never a crash. */
#include <stdlib.h>

#include "parser.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	size_t head = size < WEIR_PARSER_BYTES ? size : WEIR_PARSER_BYTES;
	/* A copy of just that size: reading one byte too far is seen by AddressSanitizer. */
	uint8_t *copy = malloc(head != 0 ? head : 1);
	struct weir_payload payload;
	struct weir_stamp stamp;

	if (copy == NULL)
		return 0;
	memcpy(copy, bytes, head);
	if (weir_parse(copy, head, size, &stamp) == WEIR_PARSED_STAMP && !weir_stamp_valid(&stamp))
		abort();
	if (weir_parse_payload(copy, head, size, &payload) &&
	    (payload.at > payload.end || payload.end > size))
		abort();
	if (weir_parse_signal(copy, head, size) &&
	    weir_parse(copy, head, size, &stamp) == WEIR_PARSED_MALFORMED)
		abort();
	free(copy);
	return 0;
}
