/* What the handler of the signals does: it posts on a queue pair of its own, and polls its completions. */
#include "signals.h"

static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_qp *qps[2];
static struct ibv_mr *mr;
/* What the atomics add to, and what they return. */
static uint64_t words[2] __attribute__((aligned(4096)));
static long requests, completions;
static int busy, is_ready;

void handler_start(void)
{
	struct ibv_qp_init_attr init = { .cap = { 32, 1, 1, 1, 0 }, .qp_type = IBV_QPT_RC };
	int i;

	MADE(pd, ibv_alloc_pd(device));
	MADE(cq, ibv_create_cq(device, 64, NULL, NULL, 0));
	MADE(mr, ibv_reg_mr(pd, words, sizeof(words), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_ATOMIC));
	init.send_cq = init.recv_cq = cq;
	for (i = 0; i < 2; i++)
		MADE(qps[i], ibv_create_qp(pd, &init));
	to_rts(qps[0], qps[1]->qp_num);
	to_rts(qps[1], qps[0]->qp_num);
	__atomic_store_n(&is_ready, 1, __ATOMIC_RELEASE);
}

static void poll(void)
{
	struct ibv_wc wc[4];
	int i, found = ibv_poll_cq(cq, 4, wc);

	if (found < 0)
		fault("ibv_poll_cq in a handler", found);
	for (i = 0; i < found; i++) {
		if (wc[i].status != IBV_WC_SUCCESS)
			fault(ibv_wc_status_str(wc[i].status), wc[i].status);
		if (wc[i].wr_id != (uint64_t)completions)
			fault("completions of a handler's requests are out of order", (int)wc[i].wr_id);
		completions++;
	}
}

void handler_turn(void)
{
	struct ibv_sge sge = { (uintptr_t)&words[1], 8, 0 };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD, .send_flags = IBV_SEND_SIGNALED };
	struct ibv_send_wr *bad;
	int result;

	/* Another handler, which this one has interrupted or another thread runs, has the queues. */
	if (!__atomic_load_n(&is_ready, __ATOMIC_ACQUIRE) || __atomic_exchange_n(&busy, 1, __ATOMIC_ACQUIRE))
		return;
	poll();
	if (requests - completions < 32) {
		sge.lkey = mr->lkey;
		wr.wr_id = requests;
		wr.wr.atomic.remote_addr = (uintptr_t)&words[0];
		wr.wr.atomic.rkey = mr->rkey;
		wr.wr.atomic.compare_add = 1;
		result = ibv_post_send(qps[0], &wr, &bad);
		if (result != 0)
			fault("ibv_post_send in a handler", result);
		requests++;
	}
	__atomic_store_n(&busy, 0, __ATOMIC_RELEASE);
}

void handler_end(void)
{
	int i;

	__atomic_store_n(&is_ready, 0, __ATOMIC_RELEASE);
	while (completions < requests)
		poll();
	if (words[0] != (uint64_t)requests)
		fault("an atomic of a handler has not taken effect once", (int)words[0]);
	for (i = 0; i < 2; i++)
		ZERO(ibv_destroy_qp(qps[i]));
	ZERO(ibv_dereg_mr(mr));
	ZERO(ibv_destroy_cq(cq));
	ZERO(ibv_dealloc_pd(pd));
}

long handler_requests(void)
{
	return requests;
}
