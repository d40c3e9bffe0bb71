/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a fuzz target once on every file of a directory: what fuzzing found stays found, without
 * libFuzzer. usage: TARGET_replay DIRECTORY */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void
replay(const char *path)
{
	FILE *file = fopen(path, "rb");
	uint8_t *bytes = NULL;
	long size;

	if (file == NULL || fseek(file, 0, SEEK_END) < 0 || (size = ftell(file)) < 0)
		abort();
	rewind(file);
	/* Of just that size: whoever reads behind it is seen. */
	bytes = malloc(size > 0 ? size : 1);
	if (bytes == NULL || fread(bytes, 1, size, file) != (size_t)size)
		abort();
	fclose(file);
	LLVMFuzzerTestOneInput(bytes, size);
	free(bytes);
}

int
main(int argc, char **argv)
{
	struct dirent **found;
	char path[4096];
	int count = argc == 2 ? scandir(argv[1], &found, NULL, alphasort) : -1;
	unsigned int inputs = 0;

	if (count < 0) {
		fprintf(stderr, "usage: %s DIRECTORY\n", argv[0]);
		return 2;
	}
	LLVMFuzzerInitialize(&argc, &argv);
	for (int i = 0; i < count; i++) {
		if (found[i]->d_name[0] != '.') {
			snprintf(path, sizeof(path), "%s/%s", argv[1], found[i]->d_name);
			replay(path);
			inputs++;
		}
		free(found[i]);
	}
	free(found);
	printf("%u inputs\n", inputs);
	return inputs > 0 ? 0 : 1;
}
