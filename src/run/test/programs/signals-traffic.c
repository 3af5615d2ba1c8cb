/* Requests of every kind, on queue pairs of every type, and the events that objects raise. */
#include "signals.h"
#include <poll.h>

#define BYTES 512
#define ROUNDS 4
#define Q_KEY 0x1234
#define GRH_BYTES 40

/* What requests read and write: each side has a part, and a word for atomics. */
static struct {
	char local[BYTES], remote[BYTES], datagram[GRH_BYTES + BYTES];
	uint64_t returned __attribute__((aligned(8))), word;
} memory __attribute__((aligned(4096)));

static struct {
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_comp_channel *channel;
	struct ibv_cq *send_cq, *recv_cq;
	struct ibv_srq *srq;
	/* The last two take their receive requests from a shared queue. */
	struct ibv_qp *rc[2], *uc[2], *ud[2], *shared[2];
	struct ibv_ah *ah;
} our;

#define ACCESS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND)

void to_rts(struct ibv_qp *qp, uint32_t peer)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = Q_KEY };
	int type = qp->qp_type, rc = type == IBV_QPT_RC;

	attr.qp_access_flags = rc ? IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC : IBV_ACCESS_REMOTE_WRITE;
	ZERO(ibv_modify_qp(qp, &attr,
			   IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | (type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS)));
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
			   IBV_QP_STATE | (type == IBV_QPT_UD ? 0 : IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN) |
				   (rc ? IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER : 0)));
	attr.qp_state = IBV_QPS_RTS;
	attr.timeout = 14;
	attr.retry_cnt = 7;
	attr.rnr_retry = 7;
	attr.max_rd_atomic = 1;
	ZERO(ibv_modify_qp(qp, &attr,
			   IBV_QP_STATE | IBV_QP_SQ_PSN |
				   (rc ? IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC : 0)));
}

static void found(struct ibv_wc *wc, struct ibv_cq *cq, enum ibv_wc_status status)
{
	int count;

	do {
		count = ibv_poll_cq(cq, 1, wc);
		if (count < 0)
			fault("ibv_poll_cq", errno);
	} while (count == 0);
	if (wc->status != status)
		fault(ibv_wc_status_str(wc->status), wc->status);
	completed++;
}

void complete(struct ibv_cq *cq, int count)
{
	struct ibv_wc wc;

	for (; count > 0; count--)
		found(&wc, cq, IBV_WC_SUCCESS);
	note("ibv_poll_cq");
}

static void make_pair(struct ibv_qp **pair, enum ibv_qp_type type, struct ibv_srq *srq)
{
	struct ibv_qp_init_attr init;
	int i;

	for (i = 0; i < 2; i++) {
		memset(&init, 0, sizeof(init));
		init.send_cq = our.send_cq;
		init.recv_cq = our.recv_cq;
		init.cap.max_send_wr = init.cap.max_recv_wr = 32;
		init.cap.max_send_sge = init.cap.max_recv_sge = 1;
		init.qp_type = type;
		init.srq = srq;
		MADE(pair[i], ibv_create_qp(our.pd, &init));
	}
	to_rts(pair[0], pair[1]->qp_num);
	to_rts(pair[1], pair[0]->qp_num);
}

static void set_up(void)
{
	struct ibv_ah_attr ah = { .is_global = 1, .port_num = 1, .grh = { .dgid = gid, .hop_limit = 64 } };
	struct ibv_srq_init_attr srq = { .attr = { .max_wr = 16, .max_sge = 1 } };

	memset(&memory, 0, sizeof(memory));
	MADE(our.pd, ibv_alloc_pd(device));
	MADE(our.mr, ibv_reg_mr(our.pd, &memory, sizeof(memory), ACCESS));
	MADE(our.channel, ibv_create_comp_channel(device));
	MADE(our.send_cq, ibv_create_cq(device, 64, NULL, NULL, 0));
	MADE(our.recv_cq, ibv_create_cq(device, 64, NULL, our.channel, 0));
	MADE(our.srq, ibv_create_srq(our.pd, &srq));
	MADE(our.ah, ibv_create_ah(our.pd, &ah));
	make_pair(our.rc, IBV_QPT_RC, NULL);
	make_pair(our.uc, IBV_QPT_UC, NULL);
	make_pair(our.ud, IBV_QPT_UD, NULL);
	make_pair(our.shared, IBV_QPT_RC, our.srq);
}

static void tear_down(void)
{
	struct ibv_qp **pairs[] = { our.rc, our.uc, our.ud, our.shared };
	int i;

	for (i = 0; i < 8; i++)
		ZERO(ibv_destroy_qp(pairs[i / 2][i % 2]));
	ZERO(ibv_destroy_ah(our.ah));
	ZERO(ibv_destroy_srq(our.srq));
	ZERO(ibv_destroy_cq(our.send_cq));
	ZERO(ibv_destroy_cq(our.recv_cq));
	ZERO(ibv_destroy_comp_channel(our.channel));
	ZERO(ibv_dereg_mr(our.mr));
	ZERO(ibv_dealloc_pd(our.pd));
}

/* A kind of request: what carries it, and what it does. */
static const struct kind {
	struct ibv_qp **pair;
	enum ibv_wr_opcode opcode;
	int receives;
} kinds[] = {
	{ our.rc, IBV_WR_SEND, 1 },
	{ our.rc, IBV_WR_SEND_WITH_IMM, 1 },
	{ our.rc, IBV_WR_RDMA_WRITE, 0 },
	{ our.rc, IBV_WR_RDMA_WRITE_WITH_IMM, 1 },
	{ our.rc, IBV_WR_RDMA_READ, 0 },
	{ our.rc, IBV_WR_ATOMIC_FETCH_AND_ADD, 0 },
	{ our.rc, IBV_WR_ATOMIC_CMP_AND_SWP, 0 },
	{ our.uc, IBV_WR_SEND, 1 },
	{ our.uc, IBV_WR_RDMA_WRITE, 0 },
	{ our.uc, IBV_WR_RDMA_WRITE_WITH_IMM, 1 },
	{ our.shared, IBV_WR_SEND, 1 },
	{ our.shared, IBV_WR_RDMA_WRITE_WITH_IMM, 1 },
	{ our.ud, IBV_WR_SEND, 1 },
	{ our.ud, IBV_WR_SEND_WITH_IMM, 1 },
};

static void post_receive(const struct kind *kind)
{
	int is_datagram = kind->pair == our.ud;
	struct ibv_sge in = { (uintptr_t)(is_datagram ? memory.datagram : memory.remote), is_datagram ? sizeof(memory.datagram) : BYTES,
			      our.mr->lkey };
	struct ibv_recv_wr recv = { .sg_list = &in, .num_sge = 1 }, *bad;

	ZERO(ibv_req_notify_cq(our.recv_cq, 0));
	if (kind->pair == our.shared)
		ZERO(ibv_post_srq_recv(our.srq, &recv, &bad));
	else
		ZERO(ibv_post_recv(kind->pair[1], &recv, &bad));
	posted++;
}

static void await_receive(const struct kind *kind)
{
	struct ibv_ah_attr attr;
	struct ibv_cq *cq;
	struct ibv_ah *ah;
	struct ibv_wc wc;
	void *context;

	WAITS(ibv_get_cq_event(our.channel, &cq, &context));
	PLAIN(ibv_ack_cq_events(cq, 1));
	found(&wc, our.recv_cq, IBV_WC_SUCCESS);
	if (kind->pair != our.ud)
		return;
	ZERO(ibv_init_ah_from_wc(device, 1, &wc, (struct ibv_grh *)memory.datagram, &attr));
	MADE(ah, ibv_create_ah_from_wc(our.pd, &wc, (struct ibv_grh *)memory.datagram, 1));
	ZERO(ibv_destroy_ah(ah));
}

static void request(const struct kind *kind, int round)
{
	int atomic = kind->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD || kind->opcode == IBV_WR_ATOMIC_CMP_AND_SWP;
	struct ibv_sge out = { (uintptr_t)(atomic ? (char *)&memory.returned : memory.local), atomic ? 8 : BYTES, our.mr->lkey };
	struct ibv_send_wr send = { .sg_list = &out, .num_sge = 1, .opcode = kind->opcode, .send_flags = IBV_SEND_SIGNALED }, *bad;
	uint64_t before = memory.word;

	memset(memory.local, round + 1, BYTES);
	memset(memory.remote, round + 101, BYTES);
	memset(memory.datagram, 0, sizeof(memory.datagram));
	if (kind->receives)
		post_receive(kind);
	if (kind->pair == our.ud) {
		send.wr.ud.ah = our.ah;
		send.wr.ud.remote_qpn = our.ud[1]->qp_num;
		send.wr.ud.remote_qkey = Q_KEY;
	} else if (atomic) {
		send.wr.atomic.remote_addr = (uintptr_t)&memory.word;
		send.wr.atomic.rkey = our.mr->rkey;
		send.wr.atomic.compare_add = kind->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ? 1 : before;
		send.wr.atomic.swap = before + 7;
	} else {
		send.wr.rdma.remote_addr = (uintptr_t)memory.remote;
		send.wr.rdma.rkey = our.mr->rkey;
	}
	ZERO(ibv_post_send(kind->pair[0], &send, &bad));
	posted++;
	complete(our.send_cq, 1);
	if (kind->receives)
		await_receive(kind);
	/* Nothing answers a WRITE on UC: the next message of that queue pair shows that it has arrived. */
	if (kind->pair == our.uc && kind->opcode == IBV_WR_RDMA_WRITE)
		return;
	if (atomic && (memory.returned != before || memory.word != before + (kind->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ? 1 : 7)))
		fault("an atomic has not taken effect once", kind->opcode);
	if (!atomic && memcmp(memory.local, kind->pair == our.ud ? memory.datagram + GRH_BYTES : memory.remote, BYTES) != 0)
		fault("the data has changed on its way", kind->opcode);
}

static void post_on(struct ibv_qp *qp, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	wr->send_flags = IBV_SEND_SIGNALED;
	ZERO(ibv_post_send(qp, wr, &bad));
	posted++;
	complete(our.send_cq, 1);
}

static void write_by(uint32_t rkey)
{
	struct ibv_sge out = { (uintptr_t)memory.local, BYTES, our.mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &out, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE };

	wr.wr.rdma.remote_addr = (uintptr_t)memory.remote;
	wr.wr.rdma.rkey = rkey;
	post_on(our.rc[0], &wr);
}

static void windows(void)
{
	struct ibv_mw_bind_info info = { our.mr, (uintptr_t)memory.remote, BYTES, IBV_ACCESS_REMOTE_WRITE };
	struct ibv_mw_bind bind = { .send_flags = IBV_SEND_SIGNALED, .bind_info = info };
	static const struct kind receive = { our.rc, IBV_WR_SEND_WITH_INV, 1 };
	struct ibv_mw *one, *two;
	int i;

	MADE(one, ibv_alloc_mw(our.pd, IBV_MW_TYPE_1));
	ZERO(ibv_bind_mw(our.rc[1], one, &bind));
	posted++;
	complete(our.send_cq, 1);
	write_by(one->rkey);
	ZERO(ibv_dealloc_mw(one));
	MADE(two, ibv_alloc_mw(our.pd, IBV_MW_TYPE_2));
	for (i = 0; i < 2; i++) {
		struct ibv_send_wr wr = { .opcode = IBV_WR_BIND_MW };

		wr.bind_mw.mw = two;
		wr.bind_mw.rkey = ibv_inc_rkey(two->rkey);
		wr.bind_mw.bind_info = info;
		post_on(our.rc[1], &wr);
		two->rkey = wr.bind_mw.rkey;
		write_by(two->rkey);
		memset(&wr, 0, sizeof(wr));
		wr.opcode = i == 0 ? IBV_WR_LOCAL_INV : IBV_WR_SEND_WITH_INV;
		wr.invalidate_rkey = two->rkey;
		if (i == 1)
			post_receive(&receive);
		post_on(our.rc[i == 0], &wr);
		if (i == 1)
			await_receive(&receive);
	}
	ZERO(ibv_dealloc_mw(two));
}

/* The queues are changed while there is something in them. */
static void resized(void)
{
	static const struct kind kind = { our.shared, IBV_WR_SEND, 1 };
	struct ibv_srq_attr attr = { .max_wr = 40 };
	struct ibv_send_wr send = { .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED }, *bad;
	int i;

	for (i = 0; i < 3; i++)
		post_receive(&kind);
	ZERO(ibv_modify_srq(our.srq, &attr, IBV_SRQ_MAX_WR));
	for (i = 0; i < 3; i++) {
		ZERO(ibv_post_send(our.shared[0], &send, &bad));
		posted++;
	}
	ZERO(ibv_resize_cq(our.send_cq, 64 + connections % 3 * 50));
	complete(our.send_cq, 3);
	ZERO(ibv_resize_cq(our.recv_cq, 64 + connections % 3 * 50));
	for (i = 0; i < 3; i++) {
		if (i == 0)
			await_receive(&kind);
		else
			complete(our.recv_cq, 1);
	}
}

static void nothing_left(void)
{
	struct ibv_wc wc;

	if (ibv_poll_cq(our.recv_cq, 1, &wc) != 0 || ibv_poll_cq(our.send_cq, 1, &wc) != 0)
		fault("more completions than requests", 0);
}

void traffic(void)
{
	unsigned i, round;

	set_up();
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		for (round = 0; round < ROUNDS; round++)
			request(&kinds[i], round);
	windows();
	resized();
	nothing_left();
	tear_down();
}

static void expect_event(enum ibv_event_type type, void *element)
{
	struct ibv_async_event event;

	WAITS(ibv_get_async_event(device, &event));
	if (event.event_type != type)
		fault(ibv_event_type_str(event.event_type), event.event_type);
	if ((void *)event.element.qp != element)
		fault("an event is about another object", type);
	PLAIN(ibv_ack_async_event(&event));
}

static void to_state(struct ibv_qp *qp, enum ibv_qp_state state, int more)
{
	struct ibv_qp_attr attr = { .qp_state = state, .en_sqd_async_notify = 1 };

	ZERO(ibv_modify_qp(qp, &attr, IBV_QP_STATE | more));
}

void device_events(void)
{
	static const struct kind shared = { our.shared, IBV_WR_SEND, 1 };
	struct pollfd fd = { device->async_fd, POLLIN, 0 };
	struct ibv_srq_attr limit = { .srq_limit = 1 };
	struct ibv_send_wr send = { .opcode = IBV_WR_SEND };
	struct ibv_sge out = { (uintptr_t)memory.local, BYTES, 0 };
	struct ibv_send_wr wrong = { .sg_list = &out, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED }, *bad;
	struct ibv_wc wc;

	set_up();
	post_receive(&shared);
	ZERO(ibv_modify_srq(our.srq, &limit, IBV_SRQ_LIMIT));
	post_on(our.shared[0], &send);
	await_receive(&shared);
	expect_event(IBV_EVENT_SRQ_LIMIT_REACHED, our.srq);
	to_state(our.shared[1], IBV_QPS_ERR, 0);
	expect_event(IBV_EVENT_QP_LAST_WQE_REACHED, our.shared[1]);
	to_state(our.rc[1], IBV_QPS_SQD, IBV_QP_EN_SQD_ASYNC_NOTIFY);
	expect_event(IBV_EVENT_SQ_DRAINED, our.rc[1]);
	to_state(our.rc[1], IBV_QPS_RTS, 0);
	/* A key that is no more: an error on both sides. */
	out.lkey = our.mr->lkey;
	wrong.wr.rdma.remote_addr = 64;
	wrong.wr.rdma.rkey = our.mr->rkey;
	ZERO(ibv_post_send(our.rc[0], &wrong, &bad));
	posted++;
	found(&wc, our.send_cq, IBV_WC_REM_ACCESS_ERR);
	expect_event(IBV_EVENT_QP_ACCESS_ERR, our.rc[1]);
	if (poll(&fd, 1, 0) > 0)
		fault("an event too many", 0);
	nothing_left();
	tear_down();
}
