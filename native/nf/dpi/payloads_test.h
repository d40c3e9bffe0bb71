/* SPDX-License-Identifier: Apache-2.0 */
/* What applications send first, made by hand. */
#ifndef WEIR_NF_DPI_PAYLOADS_TEST_H
#define WEIR_NF_DPI_PAYLOADS_TEST_H

#include <stdint.h>

#define HTTP_GET                                                                                   \
	"GET /index.html HTTP/1.1\r\nHost: www.example.org\r\n"                                    \
	"User-Agent: curl/8.5.0\r\nAccept: */*\r\n\r\n"
#define HTTP_ANSWER                                                                                \
	"HTTP/1.1 200 OK\r\nServer: Apache\r\nContent-Type: text/html\r\n"                         \
	"Content-Length: 5\r\n\r\nhello"

/* RFC 1035: a question for www.example.org, type A. */
static const uint8_t dns_query[] = {
	0x12, 0x34, 0x01, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 3,    'w',  'w',	'w',  7,    'e',  'x',	'a',  'm',  'p',
	'l',  'e',  3,	  'o',	'r',  'g',  0,	  0x00, 0x01, 0x00, 0x01,
};

/* RFC 8446, section 4.1.2: a ClientHello with the server's name (RFC 6066). */
static const uint8_t tls_hello[] = {
	0x16, 0x03, 0x01, 0x00, 0x5b, /* record: handshake, 91 bytes */
	0x01, 0x00, 0x00, 0x57,	      /* ClientHello, 87 bytes */
	0x03, 0x03,		      /* TLS 1.2 */
	1,    2,    3,	  4,	5,    6,    7,	  8,	9,    10,  11,	12,
	13,   14,   15,	  16,	17,   18,   19,	  20,	21,   22,  23,	24,
	25,   26,   27,	  28,	29,   30,   31,	  32, /* random */
	0x00,					      /* no session */
	0x00, 0x04, 0x13, 0x01, 0xc0, 0x2f,	      /* two cipher suites */
	0x01, 0x00,				      /* no compression */
	0x00, 0x2a,				      /* extensions, 42 bytes */
	0x00, 0x00, 0x00, 0x14, 0x00, 0x12, 0x00, 0x00, 0x0f, 'w', 'w', 'w',
	'.',  'e',  'x',  'a',	'm',  'p',  'l',  'e',	'.',  'o', 'r', 'g', /* server_name */
	0x00, 0x0a, 0x00, 0x04, 0x00, 0x02, 0x00, 0x1d, /* supported_groups: x25519 */
	0x00, 0x0b, 0x00, 0x02, 0x01, 0x00,		/* ec_point_formats */
	0x00, 0x23, 0x00, 0x00,				/* session_ticket */
};

#endif
