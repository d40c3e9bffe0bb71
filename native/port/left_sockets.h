/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sockets that a driver left open. DPDK's virtio-user (22.11), as a server whose client goes before
 * it has answered, frees the device and neither closes the socket at which it listened nor that of
 * the client. A client that comes back meanwhile is connected to the first of these, where nobody
 * will ever accept it.
 */
#ifndef WEIR_PORT_LEFT_SOCKETS_H
#define WEIR_PORT_LEFT_SOCKETS_H

/* Closes each socket of this process that is bound to `path`, and those that it accepted there: who
 * is connected to one is hung up on. The file stays. To be called where no other thread opens
 * sockets. */
void weir_close_left_sockets(const char *path);

#endif
