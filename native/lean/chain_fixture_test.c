/* SPDX-License-Identifier: Apache-2.0 */
#include "lean/chain_fixture_test.h"

#include <string.h>

#include "testing/eal.h"

static const struct weir_drop_reason reasons[] = {{"odd", "It stood at an odd place."}};

static void
drop_odd(void *state, const struct weir_batch *batch, struct weir_action *actions)
{
	(void)state;
	for (uint16_t i = 1; i < batch->count; i += 2)
		actions[i].verdict = WEIR_DROP;
}

static const struct weir_nf halver = {
	.name = "halver",
	.drop_reasons = reasons,
	.drop_reason_count = 1,
	.returns = true,
	.state_size = 64,
	.decide = drop_odd,
};

struct weir_frames frames;
struct weir_lean lean;

int
begin(void **state)
{
	static const struct weir_stream_config config = {
		.frame_count = 1,
		.frame_bytes = {64},
		.template = {.ip_version = 4, .src_ip = {198, 18, 0, 1}, .dst_ip = {198, 19, 0, 1}},
		.flow_count = 100,
		.vary = WEIR_VARY_SRC_PORT,
		.seed = 1,
	};
	struct weir_error error;
	struct weir_chain *chain = weir_chain_create("chain", 0, true);

	(void)state;
	chain->path_count = 1;
	chain->paths[0].stage_count = 2;
	for (unsigned int i = 0; i < 2; i++) {
		chain->paths[0].stages[i].nf = &halver;
		chain->paths[0].stages[i].state = weir_nf_create(&halver, NULL, 0, "", &error);
	}
	strcpy(chain->paths[0].stages[1].name, "second");
	if (weir_chain_complete(chain, 0, &error) < 0 ||
	    weir_frames_from_stream(&config, 1024, &frames, &error) < 0)
		return -1;
	return weir_lean_open(&lean, chain, &chain->paths[0], &frames, weir_test_pool(), &error);
}

int
end(void **state)
{
	(void)state;
	weir_lean_close(&lean);
	weir_chain_destroy(lean.chain);
	weir_frames_free(&frames);
	return 0;
}
