/* The extended calls, which need no system call but the doorbell: completions read field by field, requests built one by one. */
#include "signals.h"

#define BYTES 256

static struct {
	char local[BYTES], remote[BYTES];
	uint64_t returned, word;
} memory __attribute__((aligned(4096)));

static struct ibv_cq_ex *cq;

/* Polls so many completions, of that status. */
static void poll_some(int count)
{
	struct ibv_poll_cq_attr attr = { 0 };
	int result;

	while (count > 0) {
		result = ibv_start_poll(cq, &attr);
		if (result == ENOENT)
			continue;
		if (result != 0)
			fault("ibv_start_poll", result);
		do {
			if (cq->status != IBV_WC_SUCCESS)
				fault(ibv_wc_status_str(cq->status), cq->status);
			PLAIN(ibv_wc_read_opcode(cq));
			PLAIN(ibv_wc_read_byte_len(cq));
			PLAIN(ibv_wc_read_qp_num(cq));
			PLAIN(ibv_wc_read_wc_flags(cq));
			PLAIN(ibv_wc_read_vendor_err(cq));
			PLAIN(ibv_wc_read_imm_data(cq));
			completed++;
		} while (--count > 0 && ibv_next_poll(cq) == 0);
		PLAIN(ibv_end_poll(cq));
	}
	note("ibv_start_poll");
	note("ibv_next_poll");
}

static void rung(struct ibv_qp_ex *qp, int receives)
{
	ZERO(ibv_wr_complete(qp));
	posted++;
	poll_some(1 + receives);
}

static void receive(struct ibv_qp *qp, uint32_t lkey)
{
	struct ibv_sge in = { (uintptr_t)memory.remote, BYTES, lkey };
	struct ibv_recv_wr wr = { .sg_list = &in, .num_sge = 1 }, *bad;

	ZERO(ibv_post_recv(qp, &wr, &bad));
	posted++;
}

#define BEGIN()                                                                                                                \
	do {                                                                                                                   \
		memset(memory.remote, 0, BYTES);                                                                               \
		PLAIN(ibv_wr_start(qp));                                                                                       \
		qp->wr_id = calls;                                                                                             \
		qp->wr_flags = IBV_SEND_SIGNALED;                                                                              \
	} while (0)

static void same(const char *what)
{
	if (memcmp(memory.local, memory.remote, BYTES) != 0)
		fault(what, 0);
}

void extended(void)
{
	struct ibv_cq_init_attr_ex cq_init = { .cqe = 64, .wc_flags = IBV_WC_STANDARD_FLAGS };
	struct ibv_qp_init_attr_ex init = { .cap = { 16, 16, 1, 1, BYTES }, .qp_type = IBV_QPT_RC };
	struct ibv_qp *qps[2];
	struct ibv_qp_ex *qp;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_sge out = { (uintptr_t)memory.local, BYTES, 0 };
	int i;

	MADE(pd, ibv_alloc_pd(device));
	MADE(mr, ibv_reg_mr(pd, &memory, sizeof(memory),
			    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC));
	MADE(cq, ibv_create_cq_ex(device, &cq_init));
	init.send_cq = init.recv_cq = ibv_cq_ex_to_cq(cq);
	init.pd = pd;
	init.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	init.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_SEND |
			      IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
			      IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD;
	for (i = 0; i < 2; i++)
		MADE(qps[i], ibv_create_qp_ex(device, &init));
	to_rts(qps[0], qps[1]->qp_num);
	to_rts(qps[1], qps[0]->qp_num);
	MADE(qp, ibv_qp_to_qp_ex(qps[0]));
	memset(memory.local, (int)(calls % 200) + 1, BYTES);
	out.lkey = mr->lkey;

	BEGIN();
	PLAIN(ibv_wr_rdma_write(qp, mr->rkey, (uintptr_t)memory.remote));
	PLAIN(ibv_wr_set_sge(qp, mr->lkey, (uintptr_t)memory.local, BYTES));
	rung(qp, 0);
	same("ibv_wr_rdma_write");
	receive(qps[1], mr->lkey);
	BEGIN();
	PLAIN(ibv_wr_send(qp));
	PLAIN(ibv_wr_set_sge_list(qp, 1, &out));
	rung(qp, 1);
	same("ibv_wr_send");
	receive(qps[1], mr->lkey);
	BEGIN();
	/* rxe's provider does not set the flag itself. */
	qp->wr_flags |= IBV_SEND_INLINE;
	PLAIN(ibv_wr_send_imm(qp, 7));
	PLAIN(ibv_wr_set_inline_data(qp, memory.local, BYTES));
	rung(qp, 1);
	same("ibv_wr_send_imm");
	receive(qps[1], mr->lkey);
	BEGIN();
	/* Not ibv_wr_set_inline_data_list: rxe's provider of rdma-core 44 gives the request a length of 0. */
	PLAIN(ibv_wr_rdma_write_imm(qp, mr->rkey, (uintptr_t)memory.remote, 7));
	PLAIN(ibv_wr_set_sge(qp, mr->lkey, (uintptr_t)memory.local, BYTES));
	rung(qp, 1);
	same("ibv_wr_rdma_write_imm");
	memset(memory.remote, 9, BYTES);
	PLAIN(ibv_wr_start(qp));
	qp->wr_flags = IBV_SEND_SIGNALED;
	PLAIN(ibv_wr_rdma_read(qp, mr->rkey, (uintptr_t)memory.remote));
	PLAIN(ibv_wr_set_sge(qp, mr->lkey, (uintptr_t)memory.local, BYTES));
	rung(qp, 0);
	same("ibv_wr_rdma_read");
	memory.word = 5;
	BEGIN();
	PLAIN(ibv_wr_atomic_fetch_add(qp, mr->rkey, (uintptr_t)&memory.word, 2));
	PLAIN(ibv_wr_set_sge(qp, mr->lkey, (uintptr_t)&memory.returned, 8));
	rung(qp, 0);
	BEGIN();
	PLAIN(ibv_wr_atomic_cmp_swp(qp, mr->rkey, (uintptr_t)&memory.word, 7, 11));
	PLAIN(ibv_wr_set_sge(qp, mr->lkey, (uintptr_t)&memory.returned, 8));
	rung(qp, 0);
	if (memory.word != 11 || memory.returned != 7)
		fault("an atomic has not taken effect once", (int)memory.word);
	BEGIN();
	PLAIN(ibv_wr_send(qp));
	PLAIN(ibv_wr_abort(qp));
	for (i = 0; i < 2; i++)
		ZERO(ibv_destroy_qp(qps[i]));
	ZERO(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)));
	note("ibv_cq_ex_to_cq");
	ZERO(ibv_dereg_mr(mr));
	ZERO(ibv_dealloc_pd(pd));
}
