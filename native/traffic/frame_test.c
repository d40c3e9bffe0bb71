/* SPDX-License-Identifier: Apache-2.0 */
/* The smallest frames, and where the stamp stands. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "fixtures_test.h"
#include "frame.h"

static void
the_smallest_frame_holds_headers_and_stamp(void **state)
{
	static const uint16_t expected[2][2][2] = {{{64, 68}, {76, 80}}, {{84, 88}, {96, 100}}};

	(void)state;
	for (int v6 = 0; v6 < 2; v6++)
		for (int tcp = 0; tcp < 2; tcp++)
			for (int tagged = 0; tagged < 2; tagged++) {
				struct weir_template template = template_of(v6, tcp, tagged);

				assert_int_equal(weir_frame_minimum(&template),
						 expected[v6][tcp][tagged]);
			}
}

static void
the_stamp_ends_within_the_smallest_frame(void **state)
{
	(void)state;
	for (int kind = 0; kind < 8; kind++) {
		struct weir_template template = template_of(kind & 1, kind & 2, kind & 4);

		assert_in_range(weir_frame_offsets(&template).stamp + sizeof(struct weir_stamp), 1,
				weir_frame_minimum(&template) - RTE_ETHER_CRC_LEN);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_smallest_frame_holds_headers_and_stamp),
		cmocka_unit_test(the_stamp_ends_within_the_smallest_frame),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
