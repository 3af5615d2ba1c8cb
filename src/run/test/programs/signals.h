/* What the parts of the program `signals` have in common: see signals.c. */
#ifndef SIGNALS_H
#define SIGNALS_H

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

/* The handlers have SA_RESTART; the timer is a profiler's. */
extern int restarts, prof;
extern long calls, interrupted, posted, completed, connections;
extern struct ibv_context *device;
extern union ibv_gid gid;

void fault(const char *what, int error) __attribute__((noreturn));
/* A call has returned: looks whether anything writes to the stack below. */
void done(const char *what);
/* Remembers the name of a function that was called, which `what` begins with. */
void note(const char *what);
/* Blocks the signals of the timers for calls that cannot be continued after EINTR, unless handlers have SA_RESTART. */
void hold_signals(void);
void release_signals(void);
void block_signals(void);
void unblock_signals(void);
/* Waits with `jump` set for a handler to leave the call by siglongjmp; `call` waits for something that does not come. */
void jump_out_of(void (*call)(void *), void *argument);

#define MADE_CALL(text)                                                                                                        \
	do {                                                                                                                   \
		static int known_;                                                                                             \
		if (!known_) {                                                                                                 \
			known_ = 1;                                                                                            \
			note(text);                                                                                            \
		}                                                                                                              \
		done(text);                                                                                                    \
	} while (0)

/* A call whose result says nothing. */
#define PLAIN(call)                                                                                                            \
	do {                                                                                                                   \
		(void)(call);                                                                                                  \
		MADE_CALL(#call);                                                                                              \
	} while (0)

/* A call that returns an errno or -1, and that a signal never interrupts. */
#define ZERO(call)                                                                                                             \
	do {                                                                                                                   \
		int result_;                                                                                                   \
		errno = 0;                                                                                                     \
		result_ = (call);                                                                                              \
		MADE_CALL(#call);                                                                                              \
		if (result_ != 0)                                                                                              \
			fault(#call, result_ > 0 ? result_ : errno);                                                           \
	} while (0)

/* A call that fails, for the same reason as without signals: the first pass of the program has none. */
#define REFUSED(call)                                                                                                          \
	do {                                                                                                                   \
		static int first_;                                                                                             \
		int result_;                                                                                                   \
		errno = 0;                                                                                                     \
		result_ = (call);                                                                                              \
		result_ = result_ == -1 ? errno : result_ < 0 ? -result_ : result_;                                            \
		MADE_CALL(#call);                                                                                              \
		if (first_ == 0)                                                                                               \
			first_ = result_;                                                                                      \
		if (result_ == 0 || result_ == EINTR || result_ != first_)                                                     \
			fault(#call " failed for another reason", result_);                                                    \
	} while (0)

/* As REFUSED, for a call that returns NULL. */
#define NONE(call)                                                                                                             \
	do {                                                                                                                   \
		static int first_ = -1;                                                                                        \
		const void *result_;                                                                                           \
		int reason_;                                                                                                   \
		errno = 0;                                                                                                     \
		result_ = (call);                                                                                              \
		reason_ = errno;                                                                                               \
		MADE_CALL(#call);                                                                                              \
		if (first_ < 0)                                                                                                \
			first_ = reason_;                                                                                      \
		if (result_ != NULL || reason_ == EINTR || reason_ != first_)                                                  \
			fault(#call " failed for another reason", reason_);                                                    \
	} while (0)

/* A call that returns a pointer, with words of the caller around it. */
#define MADE(pointer, call)                                                                                                    \
	do {                                                                                                                   \
		volatile uint64_t canary_[4] = { 1, 2, 3, 4 };                                                                 \
		errno = 0;                                                                                                     \
		(pointer) = (call);                                                                                            \
		MADE_CALL(#call);                                                                                              \
		if ((pointer) == NULL)                                                                                         \
			fault(#call, errno);                                                                                   \
		if (canary_[0] != 1 || canary_[1] != 2 || canary_[2] != 3 || canary_[3] != 4)                                  \
			fault("the stack beside " #call " has changed", 0);                                                    \
	} while (0)

/* A call that waits: without SA_RESTART a signal interrupts it. */
#define WAITS(call)                                                                                                            \
	do {                                                                                                                   \
		int result_;                                                                                                   \
		for (;;) {                                                                                                     \
			errno = 0;                                                                                             \
			result_ = (call);                                                                                      \
			MADE_CALL(#call);                                                                                      \
			if (result_ == 0)                                                                                      \
				break;                                                                                         \
			if (errno != EINTR || restarts)                                                                        \
				fault(#call, errno);                                                                           \
			__atomic_add_fetch(&interrupted, 1, __ATOMIC_RELAXED);                                                 \
		}                                                                                                              \
	} while (0)

/* As WAITS, for a call that returns a count. poll(2) and select(2) never restart (signal(7)). */
#define COUNT_WHERE(may_interrupt, count, call)                                                                               \
	do {                                                                                                                   \
		for (;;) {                                                                                                     \
			errno = 0;                                                                                             \
			(count) = (call);                                                                                      \
			MADE_CALL(#call);                                                                                      \
			if ((count) >= 0)                                                                                      \
				break;                                                                                         \
			if (errno != EINTR || !(may_interrupt))                                                                \
				fault(#call, errno);                                                                           \
			__atomic_add_fetch(&interrupted, 1, __ATOMIC_RELAXED);                                                 \
		}                                                                                                              \
	} while (0)
#define COUNT(count, call) COUNT_WHERE(!restarts, count, call)
#define COUNT_POLLED(count, call) COUNT_WHERE(1, count, call)

/* signals-control.c */
void control(void);
void refusals(void);
void texts(void);
/* signals-traffic.c */
void to_rts(struct ibv_qp *qp, uint32_t peer);
void complete(struct ibv_cq *cq, int count);
void traffic(void);
void device_events(void);
/* signals-extended.c */
void extended(void);
/* signals-handler.c: what the handler itself does. */
void handler_start(void);
void handler_turn(void);
void handler_end(void);
long handler_requests(void);
/* signals-cm.c */
struct rdma_cm_id *expect(struct rdma_event_channel *channel, enum rdma_cm_event_type type);
void connection(void);
void waiting(void);
void leaving(void);
/* signals-cm-more.c */
void external(void);
void datagrams(void);
void endpoints(void);
/* signals-sockets.c */
void sockets(void);

#endif
