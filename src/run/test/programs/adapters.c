/* What passes on a software NIC and fails on an adapter, by the word that is given; and a datagram without room for its GRH. */
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct ibv_context *ctx;
static struct ibv_pd *pd;
static struct ibv_cq *cq;

static struct ibv_qp *make(enum ibv_qp_type type) {
  struct ibv_qp_init_attr init = { .send_cq = cq, .recv_cq = cq, .qp_type = type,
    .cap = { .max_send_wr = 16, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 } };
  return ibv_create_qp(pd, &init);
}

static void join(struct ibv_qp *qp, struct ibv_qp *peer) {
  struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = IBV_ACCESS_REMOTE_WRITE };
  ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
  attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = peer->qp_num,
    .min_rnr_timer = 1, .ah_attr = { .port_num = 1, .is_global = 1, .grh = { .hop_limit = 1 } } };
  ibv_query_gid(ctx, 1, 0, &attr.ah_attr.grh.dgid);
  ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
    IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
  attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7 };
  ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
    IBV_QP_MAX_QP_RD_ATOMIC);
}

static struct ibv_wc completion(void) {
  struct ibv_wc wc;
  while (ibv_poll_cq(cq, 1, &wc) == 0) ;
  return wc;
}

/* WRITEs, of which one of each `often` is signaled, and polled. */
static void writes(int count, int often) {
  struct ibv_qp *from = make(IBV_QPT_RC), *to = make(IBV_QPT_RC);
  char *memory = aligned_alloc(4096, 4096);
  struct ibv_mr *mr = ibv_reg_mr(pd, memory, 4096, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
  struct ibv_sge sge = { (uintptr_t)memory, 8, mr->lkey };
  join(from, to), join(to, from);
  for (int i = 1; i <= count; i++) {
    struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_WRITE, .sg_list = &sge, .num_sge = 1,
      .send_flags = i % often == 0 ? IBV_SEND_SIGNALED : 0, .wr.rdma = { (uintptr_t)memory + 64, mr->rkey } }, *bad;
    while (ibv_post_send(from, &wr, &bad) != 0) ;
    if (i % often == 0) completion();
  }
}

static void datagram(void) {
  struct ibv_qp *qp = make(IBV_QPT_UD);
  char *memory = aligned_alloc(4096, 4096);
  struct ibv_mr *mr = ibv_reg_mr(pd, memory, 4096, IBV_ACCESS_LOCAL_WRITE);
  struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 7 };
  ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
  attr.qp_state = IBV_QPS_RTR, ibv_modify_qp(qp, &attr, IBV_QP_STATE);
  attr.qp_state = IBV_QPS_RTS, ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN);
  struct ibv_ah_attr to = { .port_num = 1, .is_global = 1, .grh = { .hop_limit = 1 } };
  ibv_query_gid(ctx, 1, 0, &to.grh.dgid);
  struct ibv_sge room = { (uintptr_t)memory, 64, mr->lkey }, data = { (uintptr_t)memory + 64, 64, mr->lkey };
  struct ibv_recv_wr receive = { .sg_list = &room, .num_sge = 1 }, *bad_receive;
  ibv_post_recv(qp, &receive, &bad_receive);
  struct ibv_send_wr wr = { .opcode = IBV_WR_SEND, .sg_list = &data, .num_sge = 1, .send_flags = IBV_SEND_SIGNALED,
    .wr.ud = { ibv_create_ah(pd, &to), qp->qp_num, 7 } }, *bad;
  ibv_post_send(qp, &wr, &bad);
  completion();
}

int main(int argc, char **argv) {
  ctx = ibv_open_device(ibv_get_device_list(0)[0]);
  pd = ibv_alloc_pd(ctx);
  cq = ibv_create_cq(ctx, 64, 0, 0, 0);
  if (strcmp(argv[1], "unsignaled") == 0) writes(100, 101);
  if (strcmp(argv[1], "signaled now and then") == 0) writes(100, 16);
  if (strcmp(argv[1], "datagram") == 0) datagram();
  if (strcmp(argv[1], "memory") == 0) ibv_reg_mr(pd, aligned_alloc(4096, 1 << 21), 1 << 21, 0);
  ibv_query_device(ctx, &(struct ibv_device_attr){ 0 });
  return 0;
}
