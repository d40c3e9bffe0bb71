/* SPDX-License-Identifier: Apache-2.0 */
#include "imix.h"

#include <stddef.h>

int
weir_imix_sizes(const char *genome, uint16_t *sizes, unsigned int max, const char *where,
		struct weir_error *error)
{
	static const uint16_t bytes_of[] = {64, 128, 256, 512, 1024, 1280, 1518};
	static const char expected[] = "letters of RFC 6985: a=64 b=128 c=256 d=512 e=1024 f=1280 "
				       "g=1518, such as aaaaaaaddddg";
	unsigned int count = 0;

	for (; genome[count] != '\0'; count++) {
		char letter = genome[count];

		if (count == max)
			return weir_fail(error, "bad_argument", where, "at most 64 letters", NULL,
					 "the IMIX genome is too long");
		if (letter < 'a' || letter > 'g')
			return weir_fail(
				error, "bad_argument", where, expected,
				"h and above are jumbo frames or depend on the MTU: leave them out",
				"'%c' is no frame size here", letter);
		sizes[count] = bytes_of[letter - 'a'];
	}
	if (count == 0)
		return weir_fail(error, "bad_argument", where, expected, NULL,
				 "the IMIX genome is empty");
	return (int)count;
}
