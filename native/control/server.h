/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEIR_CONTROL_SERVER_H
#define WEIR_CONTROL_SERVER_H

#include "engine/error.h"

/*
 * Listens on `path` and answers until `quit` or a signal. Returns 0, or -1 with `error` when the
 * socket cannot be made. The socket file is removed at the end.
 */
int weir_serve(const char *path, struct weir_error *error);

#endif
