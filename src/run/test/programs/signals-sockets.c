/* Every call of rsockets: a server in a thread echoes what a client sends. */
#include "signals.h"
#include "signals-cm.h"
#include <fcntl.h>
#include <pthread.h>
#include <rdma/rsocket.h>
#include <sys/mman.h>
#include <sys/uio.h>

#define BYTES 3000
#define MAPPED 4096

static struct sockaddr_in served;
static char mapped[MAPPED] __attribute__((aligned(4096)));
static off_t offset;

/* All of it, by that kind of call. */
static void send_all(int fd, char *from, int kind)
{
	int sent = 0, count = 0;

	while (sent < BYTES) {
		struct iovec piece = { from + sent, BYTES - sent };
		struct msghdr message = { .msg_iov = &piece, .msg_iovlen = 1 };

		switch (kind) {
		case 0:
			COUNT(count, rsend(fd, from + sent, BYTES - sent, 0));
			break;
		case 1:
			COUNT(count, rsendto(fd, from + sent, BYTES - sent, 0, NULL, 0));
			break;
		case 2:
			COUNT(count, rsendmsg(fd, &message, 0));
			break;
		case 3:
			COUNT(count, rwrite(fd, from + sent, BYTES - sent));
			break;
		default:
			COUNT(count, rwritev(fd, &piece, 1));
		}
		sent += count;
	}
}

static int receive_some(int fd, char *to, int most, int kind)
{
	struct iovec piece = { to, most };
	struct msghdr message = { .msg_iov = &piece, .msg_iovlen = 1 };
	int count;

	switch (kind) {
	case 0:
		COUNT(count, rrecv(fd, to, most, 0));
		break;
	case 1:
		COUNT(count, rrecvfrom(fd, to, most, 0, NULL, NULL));
		break;
	case 2:
		COUNT(count, rrecvmsg(fd, &message, 0));
		break;
	case 3:
		COUNT(count, rread(fd, to, most));
		break;
	default:
		COUNT(count, rreadv(fd, &piece, 1));
	}
	return count;
}

static void receive_all(int fd, char *to, int kind)
{
	int received = 0, count;

	for (; received < BYTES; received += count) {
		count = receive_some(fd, to + received, BYTES - received, kind);
		if (count == 0)
			fault("a socket has ended early", received);
	}
}

/*
 * librdmacm starts threads that serve its sockets, and these take an interrupted poll(2) for an event: signals must be blocked
 * where they start, also with SA_RESTART. The calls that connect cannot be continued after EINTR either.
 */
static void *echo(void *listening)
{
	static char memory[BYTES];
	int fd, kind;

	block_signals();
	COUNT(fd, raccept(*(int *)listening, NULL, NULL));
	unblock_signals();
	offset = riomap(fd, mapped, sizeof(mapped), PROT_WRITE, 0, -1);
	note("riomap");
	if (offset == -1)
		fault("riomap", errno);
	for (kind = 0; kind < 5; kind++) {
		receive_all(fd, memory, kind);
		send_all(fd, memory, kind);
	}
	if (receive_some(fd, memory, 1, 0) != 0)
		fault("more than was sent", 0);
	if (mapped[0] != 5 || mapped[BYTES - 1] != 5)
		fault("riowrite", mapped[0]);
	ZERO(riounmap(fd, mapped, sizeof(mapped)));
	block_signals();
	PLAIN(rclose(fd));
	unblock_signals();
	return NULL;
}

static void until_readable(int fd, int selects)
{
	struct pollfd entry = { fd, POLLIN, 0 };
	int count;

	if (selects) {
		fd_set set;

		/* After EINTR the set is empty: librdmacm clears it first. */
		do {
			FD_ZERO(&set);
			FD_SET(fd, &set);
			count = rselect(fd + 1, &set, NULL, NULL, NULL);
			MADE_CALL("rselect");
		} while (count == 0 || (count < 0 && errno == EINTR));
		if (count < 0)
			fault("rselect", errno);
		return;
	}
	do
		COUNT_POLLED(count, rpoll(&entry, 1, 1000));
	while (count == 0);
}

void sockets(void)
{
	static char out[BYTES], in[BYTES];
	struct sockaddr_in name;
	socklen_t length = sizeof(name);
	pthread_t server;
	int listening, fd, kind, one = 1, value;

	COUNT(listening, rsocket(AF_INET, SOCK_STREAM, 0));
	ZERO(rsetsockopt(listening, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)));
	served = own_address(0);
	ZERO(rbind(listening, (struct sockaddr *)&served, sizeof(served)));
	block_signals();
	ZERO(rlisten(listening, 4));
	unblock_signals();
	ZERO(rgetsockname(listening, (struct sockaddr *)&served, &length));
	ZERO(pthread_create(&server, NULL, echo, &listening));
	COUNT(fd, rsocket(AF_INET, SOCK_STREAM, 0));
	ZERO(rsetsockopt(fd, SOL_RDMA, RDMA_IOMAPSIZE, &one, sizeof(one)));
	block_signals();
	ZERO(rconnect(fd, (struct sockaddr *)&served, sizeof(served)));
	unblock_signals();
	length = sizeof(name);
	ZERO(rgetpeername(fd, (struct sockaddr *)&name, &length));
	length = sizeof(value);
	ZERO(rgetsockopt(fd, SOL_SOCKET, SO_ERROR, &value, &length));
	COUNT(value, rfcntl(fd, F_GETFL));
	for (kind = 0; kind < 5; kind++) {
		memset(out, kind + 1, BYTES);
		if (kind == 4) {
			ssize_t written;

			COUNT(written, riowrite(fd, out, BYTES, offset, 0));
			if (written != BYTES)
				fault("riowrite", errno);
		}
		send_all(fd, out, kind);
		until_readable(fd, kind % 2);
		receive_all(fd, in, kind);
		if (memcmp(out, in, BYTES) != 0)
			fault("the data has changed on its way", kind);
	}
	block_signals();
	ZERO(rshutdown(fd, SHUT_RDWR));
	ZERO(pthread_join(server, NULL));
	PLAIN(rclose(fd));
	PLAIN(rclose(listening));
	unblock_signals();
}
