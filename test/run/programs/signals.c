/*
 * Makes the calls of libibverbs and librdmacm in a loop while a timer interrupts them with signals, and checks them:
 *
 *   signals INTERVAL_US restart|interrupt SECONDS [real|prof|nested]
 *
 * With "nested" a second timer interrupts handlers, which run on a stack of their own.
 *
 * - A call that Linux never interrupts must not return EINTR. A call that waits may, without SA_RESTART.
 * - As many requests complete as were posted, each event of a connection arrives once, data arrives unchanged.
 * - Nothing writes to the stack of a function that has returned.
 *
 * Prints counts, and exits with 1 at the first fault.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include <infiniband/verbs.h>

static volatile sig_atomic_t signals;
static int restarts, prof;
static long calls, interrupted, posted, completed, connections;
static const char *last = "none";

static void fault(const char *what, int error)
{
	fprintf(stderr, "FAULT: %s: %s (%d); the last call was %s; %d signals, %ld calls\n", what, strerror(error), error, last,
		(int)signals, calls);
	exit(1);
}

static void on_signal(int number)
{
	struct stat facts;
	int before = errno;

	(void)number;
	/* A call of the handler that is answered like those of the program. */
	if (signals % 16 == 0)
		stat("/sys/class/infiniband", &facts);
	signals++;
	errno = before;
}

/* Fills the stack below the caller, where the frames of the last call were, and looks whether anything writes there. */
static __attribute__((noinline)) void look_below(void)
{
	volatile uint64_t words[1024];
	int i;

	for (i = 0; i < 1024; i++)
		words[i] = 0x5a5aa5a5c3c33c3cULL + i;
	for (i = 0; i < 1024; i++)
		if (words[i] != 0x5a5aa5a5c3c33c3cULL + i)
			fault("the stack below has changed", 0);
}

static void done(const char *what)
{
	volatile int i;

	last = what;
	calls++;
	/* That timer runs only while the program does. */
	for (i = 0; prof && i < 100000; i++)
		;
	look_below();
}

/* A call that returns an errno or -1, and that a signal never interrupts. */
#define ZERO(call)                                                                                                             \
	do {                                                                                                                   \
		int result_;                                                                                                   \
		errno = 0;                                                                                                     \
		result_ = (call);                                                                                              \
		done(#call);                                                                                                   \
		if (result_ != 0)                                                                                              \
			fault(#call, result_ > 0 ? result_ : errno);                                                           \
	} while (0)

/* A call that returns a pointer, with words of the caller around it. */
#define MADE(pointer, call)                                                                                                    \
	do {                                                                                                                   \
		volatile uint64_t canary_[4] = { 1, 2, 3, 4 };                                                                 \
		errno = 0;                                                                                                     \
		(pointer) = (call);                                                                                            \
		done(#call);                                                                                                   \
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
			done(#call);                                                                                           \
			if (result_ == 0)                                                                                      \
				break;                                                                                         \
			if (errno != EINTR || restarts)                                                                        \
				fault(#call, errno);                                                                           \
			interrupted++;                                                                                         \
		}                                                                                                              \
	} while (0)

static struct ibv_context *device;
static union ibv_gid gid;

static void files(void)
{
	char text[64];
	struct stat facts;
	struct dirent *entry;
	DIR *folder;
	int fd, entries = 0;

	ZERO(stat("/sys/class/infiniband/rxe0", &facts));
	ZERO(access("/sys/class/infiniband_verbs/uverbs0/ibdev", R_OK));
	fd = open("/sys/class/infiniband/rxe0/node_type", O_RDONLY | O_CLOEXEC);
	done("open");
	if (fd < 0)
		fault("open of node_type", errno);
	if (read(fd, text, sizeof(text)) <= 0)
		fault("read of node_type", errno);
	close(fd);
	MADE(folder, opendir("/sys/class/infiniband"));
	while ((entry = readdir(folder)) != NULL)
		if (strncmp(entry->d_name, "rxe", 3) == 0)
			entries++;
	ZERO(closedir(folder));
	if (entries != 1)
		fault("readdir has not found the one device", entries);
}

static void to_rts(struct ibv_qp *qp, uint32_t peer)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT,
				    .port_num = 1,
				    .qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC };

	ZERO(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
	memset(&attr, 0, sizeof(attr));
	attr.qp_state = IBV_QPS_RTR;
	attr.path_mtu = IBV_MTU_1024;
	attr.dest_qp_num = peer;
	attr.max_dest_rd_atomic = 1;
	attr.min_rnr_timer = 12;
	attr.ah_attr.is_global = 1;
	attr.ah_attr.grh.dgid = gid;
	attr.ah_attr.grh.hop_limit = 64;
	attr.ah_attr.port_num = 1;
	ZERO(ibv_modify_qp(qp, &attr,
			   IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				   IBV_QP_MIN_RNR_TIMER));
	attr.qp_state = IBV_QPS_RTS;
	attr.timeout = 14;
	attr.retry_cnt = 7;
	attr.rnr_retry = 7;
	attr.max_rd_atomic = 1;
	ZERO(ibv_modify_qp(qp, &attr,
			   IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
				   IBV_QP_MAX_QP_RD_ATOMIC));
}

static void complete(struct ibv_cq *cq, int count)
{
	struct ibv_wc wc;
	int found;

	while (count > 0) {
		found = ibv_poll_cq(cq, 1, &wc);
		if (found < 0)
			fault("ibv_poll_cq", errno);
		if (found == 0)
			continue;
		if (wc.status != IBV_WC_SUCCESS)
			fault(ibv_wc_status_str(wc.status), 0);
		completed++;
		count--;
	}
}

#define MESSAGES 20
#define BYTES 512

static void messages(struct ibv_qp *from, struct ibv_qp *to, struct ibv_cq *send_cq, struct ibv_cq *recv_cq,
		     struct ibv_comp_channel *channel, struct ibv_mr *mr, char *memory)
{
	struct ibv_recv_wr *bad_recv;
	struct ibv_send_wr *bad_send;
	struct ibv_cq *event_cq;
	void *context;
	int i;

	for (i = 0; i < MESSAGES; i++) {
		struct ibv_sge in = { (uintptr_t)memory + BYTES, BYTES, mr->lkey };
		struct ibv_sge out = { (uintptr_t)memory, BYTES, mr->lkey };
		struct ibv_recv_wr recv = { .wr_id = i, .sg_list = &in, .num_sge = 1 };
		struct ibv_send_wr send = {
			.wr_id = i, .sg_list = &out, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED
		};

		memset(memory, i + 1, BYTES);
		memset(memory + BYTES, 0, BYTES);
		ZERO(ibv_req_notify_cq(recv_cq, 0));
		ZERO(ibv_post_recv(to, &recv, &bad_recv));
		ZERO(ibv_post_send(from, &send, &bad_send));
		posted += 2;
		WAITS(ibv_get_cq_event(channel, &event_cq, &context));
		ibv_ack_cq_events(event_cq, 1);
		complete(recv_cq, 1);
		complete(send_cq, 1);
		if (memcmp(memory, memory + BYTES, BYTES) != 0)
			fault("the data has changed on its way", 0);
	}
	if (ibv_poll_cq(recv_cq, 1, &(struct ibv_wc){ 0 }) != 0 || ibv_poll_cq(send_cq, 1, &(struct ibv_wc){ 0 }) != 0)
		fault("more completions than requests", 0);
}

static void verbs(void)
{
	static char memory[2 * BYTES] __attribute__((aligned(4096)));
	struct ibv_device_attr device_attr;
	struct ibv_port_attr port;
	struct ibv_comp_channel *channel;
	struct ibv_context *other;
	struct ibv_device **list;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_mw *mw;
	struct ibv_ah *ah;
	struct ibv_cq *send_cq, *recv_cq;
	struct ibv_srq *srq;
	struct ibv_qp *qps[3];
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	union ibv_gid group = { .raw = { [10] = 0xff, 0xff, 239, 1, 1, 1 } };
	int i, count;

	ZERO(ibv_query_device(device, &device_attr));
	ZERO(ibv_query_port(device, 1, &port));
	ZERO(ibv_query_gid(device, 1, 0, &gid));
	MADE(list, ibv_get_device_list(&count));
	if (count != 1)
		fault("ibv_get_device_list has not found the one device", count);
	MADE(other, ibv_open_device(list[0]));
	ibv_free_device_list(list);
	ZERO(ibv_close_device(other));
	MADE(pd, ibv_alloc_pd(device));
	MADE(mr, ibv_reg_mr(pd, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_MW_BIND));
	MADE(mw, ibv_alloc_mw(pd, IBV_MW_TYPE_1));
	ZERO(ibv_dealloc_mw(mw));
	MADE(channel, ibv_create_comp_channel(device));
	MADE(send_cq, ibv_create_cq(device, 64, NULL, NULL, 0));
	MADE(recv_cq, ibv_create_cq(device, 64, NULL, channel, 0));
	ZERO(ibv_resize_cq(send_cq, 100));
	{
		struct ibv_srq_init_attr srq_init = { .attr = { .max_wr = 16, .max_sge = 1 } };
		struct ibv_srq_attr srq_attr = { .srq_limit = 4 };

		MADE(srq, ibv_create_srq(pd, &srq_init));
		ZERO(ibv_modify_srq(srq, &srq_attr, IBV_SRQ_LIMIT));
		ZERO(ibv_query_srq(srq, &srq_attr));
		ZERO(ibv_destroy_srq(srq));
	}
	for (i = 0; i < 3; i++) {
		memset(&init, 0, sizeof(init));
		init.send_cq = send_cq;
		init.recv_cq = recv_cq;
		init.cap.max_send_wr = init.cap.max_recv_wr = 32;
		init.cap.max_send_sge = init.cap.max_recv_sge = 1;
		init.qp_type = i < 2 ? IBV_QPT_RC : IBV_QPT_UD;
		MADE(qps[i], ibv_create_qp(pd, &init));
	}
	{
		struct ibv_ah_attr ah_attr = { .is_global = 1, .port_num = 1, .grh = { .dgid = gid, .hop_limit = 64 } };

		MADE(ah, ibv_create_ah(pd, &ah_attr));
		ZERO(ibv_destroy_ah(ah));
	}
	to_rts(qps[0], qps[1]->qp_num);
	to_rts(qps[1], qps[0]->qp_num);
	ZERO(ibv_query_qp(qps[0], &attr, IBV_QP_STATE, &init));
	if (attr.qp_state != IBV_QPS_RTS)
		fault("a queue pair is not in RTS", attr.qp_state);
	ZERO(ibv_attach_mcast(qps[2], &group, 0));
	ZERO(ibv_detach_mcast(qps[2], &group, 0));
	messages(qps[0], qps[1], send_cq, recv_cq, channel, mr, memory);
	for (i = 0; i < 3; i++)
		ZERO(ibv_destroy_qp(qps[i]));
	ZERO(ibv_destroy_cq(send_cq));
	ZERO(ibv_destroy_cq(recv_cq));
	ZERO(ibv_destroy_comp_channel(channel));
	ZERO(ibv_dereg_mr(mr));
	ZERO(ibv_dealloc_pd(pd));
}

static struct rdma_cm_id *expect(struct rdma_event_channel *channel, enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	WAITS(rdma_get_cm_event(channel, &event));
	if (event->event != type) {
		fprintf(stderr, "expected %s, not %s\n", rdma_event_str(type), rdma_event_str(event->event));
		fault("an event", event->status);
	}
	id = event->id;
	ZERO(rdma_ack_cm_event(event));
	return id;
}

static void nothing_more(struct rdma_event_channel *channel)
{
	struct pollfd fd = { channel->fd, POLLIN, 0 };

	if (poll(&fd, 1, 0) > 0)
		fault("an event too many", 0);
}

static struct rdma_event_channel *new_channel(void)
{
	struct rdma_event_channel *channel;

	MADE(channel, rdma_create_event_channel());
	return channel;
}

#define WAITERS 2

static struct rdma_event_channel *shared;
static int waited;

static void *await(void *unused)
{
	struct rdma_cm_event *event;
	int result;

	(void)unused;
	do
		result = rdma_get_cm_event(shared, &event);
	while (result != 0 && errno == EINTR && !restarts);
	if (result != 0 || event->event != RDMA_CM_EVENT_ADDR_RESOLVED)
		fault("rdma_get_cm_event in a thread", errno);
	rdma_ack_cm_event(event);
	__atomic_add_fetch(&waited, 1, __ATOMIC_SEQ_CST);
	return NULL;
}

static void *resolve_later(void *id)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(1) };
	struct timespec left = { 0, 5000000 };

	memcpy(&address.sin_addr, gid.raw + 12, 4);
	while (nanosleep(&left, &left) != 0 && errno == EINTR)
		;
	if (rdma_resolve_addr(id, NULL, (struct sockaddr *)&address, 2000) != 0)
		fault("rdma_resolve_addr in a thread", errno);
	return NULL;
}

/* Threads wait for events that come after some signals. */
static void waiting(void)
{
	struct rdma_event_channel *channel = new_channel();
	struct rdma_cm_id *ids[WAITERS + 1];
	pthread_t waiters[WAITERS], late;
	int i;

	shared = new_channel();
	waited = 0;
	ZERO(rdma_create_id(channel, &ids[WAITERS], NULL, RDMA_PS_TCP));
	for (i = 0; i < WAITERS; i++) {
		ZERO(rdma_create_id(shared, &ids[i], NULL, RDMA_PS_TCP));
		ZERO(pthread_create(&waiters[i], NULL, await, NULL));
	}
	ZERO(pthread_create(&late, NULL, resolve_later, ids[WAITERS]));
	expect(channel, RDMA_CM_EVENT_ADDR_RESOLVED);
	ZERO(pthread_join(late, NULL));
	for (i = 0; i < WAITERS; i++)
		resolve_later(ids[i]);
	for (i = 0; i < WAITERS; i++)
		ZERO(pthread_join(waiters[i], NULL));
	if (waited != WAITERS)
		fault("threads that wait for events", waited);
	for (i = 0; i <= WAITERS; i++)
		ZERO(rdma_destroy_id(ids[i]));
	nothing_more(channel);
	nothing_more(shared);
	rdma_destroy_event_channel(channel);
	rdma_destroy_event_channel(shared);
}

static void connection(void)
{
	struct rdma_event_channel *passive = new_channel(), *active = new_channel(), *third = new_channel();
	struct rdma_cm_id *listener, *client, *server;
	/* librdmacm writes the completion queues that it makes into it. */
	struct ibv_qp_init_attr init = { .cap = { 4, 4, 1, 1, 0 }, .qp_type = IBV_QPT_RC }, init_server = init;
	struct rdma_conn_param param = { .private_data = "hello", .private_data_len = 5, .retry_count = 7, .rnr_retry_count = 7 };
	struct sockaddr_in address = { .sin_family = AF_INET };
	uint8_t tos = 8;

	memcpy(&address.sin_addr, gid.raw + 12, 4);
	ZERO(rdma_create_id(passive, &listener, NULL, RDMA_PS_TCP));
	ZERO(rdma_bind_addr(listener, (struct sockaddr *)&address));
	ZERO(rdma_listen(listener, 4));
	address.sin_port = rdma_get_src_port(listener);
	ZERO(rdma_create_id(third, &client, NULL, RDMA_PS_TCP));
	ZERO(rdma_set_option(client, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, sizeof(tos)));
	ZERO(rdma_migrate_id(client, active));
	ZERO(rdma_resolve_addr(client, NULL, (struct sockaddr *)&address, 2000));
	expect(active, RDMA_CM_EVENT_ADDR_RESOLVED);
	ZERO(rdma_resolve_route(client, 2000));
	expect(active, RDMA_CM_EVENT_ROUTE_RESOLVED);
	ZERO(rdma_create_qp(client, NULL, &init));
	ZERO(rdma_connect(client, &param));
	server = expect(passive, RDMA_CM_EVENT_CONNECT_REQUEST);
	if (connections % 4 == 3) {
		ZERO(rdma_reject(server, NULL, 0));
		expect(active, RDMA_CM_EVENT_REJECTED);
		rdma_destroy_qp(client);
		ZERO(rdma_destroy_id(server));
	} else {
		ZERO(rdma_create_qp(server, NULL, &init_server));
		ZERO(rdma_accept(server, &param));
		expect(active, RDMA_CM_EVENT_ESTABLISHED);
		expect(passive, RDMA_CM_EVENT_ESTABLISHED);
		ZERO(rdma_disconnect(client));
		expect(passive, RDMA_CM_EVENT_DISCONNECTED);
		ZERO(rdma_disconnect(server));
		expect(active, RDMA_CM_EVENT_DISCONNECTED);
		rdma_destroy_qp(client);
		rdma_destroy_qp(server);
		ZERO(rdma_destroy_id(server));
	}
	ZERO(rdma_destroy_id(client));
	ZERO(rdma_destroy_id(listener));
	nothing_more(active);
	nothing_more(passive);
	nothing_more(third);
	rdma_destroy_event_channel(third);
	rdma_destroy_event_channel(active);
	rdma_destroy_event_channel(passive);
	connections++;
}

static void nest(struct sigaction *action, long interval_us)
{
	static char memory[1 << 16];
	stack_t stack = { .ss_sp = memory, .ss_size = sizeof(memory) };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2 };
	struct itimerspec often = { { 0, interval_us * 617 }, { 0, interval_us * 617 } };
	timer_t timer;

	action->sa_flags |= SA_ONSTACK;
	if (sigaltstack(&stack, NULL) != 0 || sigaction(SIGALRM, action, NULL) != 0 || sigaction(SIGUSR2, action, NULL) != 0 ||
	    timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 || timer_settime(timer, 0, &often, NULL) != 0)
		fault("a second timer", errno);
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_signal };
	struct itimerval timer = { 0 };
	struct ibv_device **list;
	struct timespec now;
	time_t end;

	if (argc < 4)
		return 2;
	restarts = strcmp(argv[2], "restart") == 0;
	prof = argc > 4 && strcmp(argv[4], "prof") == 0;
	action.sa_flags = restarts ? SA_RESTART : 0;
	sigaction(prof ? SIGPROF : SIGALRM, &action, NULL);
	list = ibv_get_device_list(NULL);
	if (list == NULL || list[0] == NULL)
		fault("no device", errno);
	device = ibv_open_device(list[0]);
	if (device == NULL)
		fault("ibv_open_device", errno);
	ibv_free_device_list(list);
	timer.it_interval.tv_usec = timer.it_value.tv_usec = atoi(argv[1]);
	setitimer(prof ? ITIMER_PROF : ITIMER_REAL, &timer, NULL);
	clock_gettime(CLOCK_MONOTONIC, &now);
	end = now.tv_sec + atoi(argv[3]);
	if (argc > 4 && strcmp(argv[4], "nested") == 0)
		nest(&action, atoi(argv[1]));
	do {
		files();
		verbs();
		connection();
		waiting();
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec < end);
	timer.it_value.tv_usec = 0;
	timer.it_interval.tv_usec = 0;
	setitimer(prof ? ITIMER_PROF : ITIMER_REAL, &timer, NULL);
	ZERO(ibv_close_device(device));
	if (posted != completed)
		fault("not as many completions as requests", 0);
	printf("%ld calls, %d signals, %ld waiting calls interrupted, %ld requests posted, %ld completed, %ld connections\n", calls,
	       (int)signals, interrupted, posted, completed, connections);
	return 0;
}
