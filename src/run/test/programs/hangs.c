/* Waits that end, or do not, by the word that is given: what a hang report is about. */
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct ibv_context *ctx;
static struct ibv_pd *pd;
static struct ibv_comp_channel *channel;
static struct ibv_cq *sent, *received;
static struct ibv_qp *from, *to;
static struct ibv_mr *mr;
static char *memory;

static struct ibv_qp *make(struct ibv_cq *cq) {
  struct ibv_qp_init_attr init = { .send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC, .sq_sig_all = 1,
    .cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 } };
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

static void open_all(void) {
  ctx = ibv_open_device(ibv_get_device_list(0)[0]);
  pd = ibv_alloc_pd(ctx);
  channel = ibv_create_comp_channel(ctx);
  sent = ibv_create_cq(ctx, 8, 0, 0, 0);
  received = ibv_create_cq(ctx, 8, 0, channel, 0);
  from = make(sent), to = make(received);
  join(from, to), join(to, from);
  memory = aligned_alloc(4096, 4096);
  mr = ibv_reg_mr(pd, memory, 4096, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
}

static void receive(void) {
  struct ibv_sge sge = { (uintptr_t)memory, 64, mr->lkey };
  struct ibv_recv_wr wr = { .wr_id = 1, .sg_list = &sge, .num_sge = 1 }, *bad;
  ibv_post_recv(to, &wr, &bad);
}

static void sends(enum ibv_wr_opcode opcode) {
  struct ibv_sge sge = { (uintptr_t)memory + 64, 8, mr->lkey };
  struct ibv_send_wr wr = { .opcode = opcode, .sg_list = &sge, .num_sge = 1,
    .wr.rdma = { (uintptr_t)memory + 128, mr->rkey } }, *bad;
  ibv_post_send(from, &wr, &bad);
}

static void wait_for_event(void) {
  struct ibv_cq *cq;
  void *context;
  ibv_get_cq_event(channel, &cq, &context);
}

static void rejected(const char *host) {
  struct rdma_event_channel *events = rdma_create_event_channel();
  struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(1) };
  struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_RC, .cap = { 1, 1, 1, 1, 0 } };
  struct rdma_conn_param param = { 0 };
  struct rdma_cm_event *event;
  struct rdma_cm_id *id;
  inet_pton(AF_INET, host, &address.sin_addr);
  rdma_create_id(events, &id, 0, RDMA_PS_TCP);
  rdma_resolve_addr(id, 0, (void *)&address, 500), rdma_get_cm_event(events, &event), rdma_ack_cm_event(event);
  rdma_resolve_route(id, 500), rdma_get_cm_event(events, &event), rdma_ack_cm_event(event);
  rdma_create_qp(id, 0, &init);
  rdma_connect(id, &param), rdma_get_cm_event(events, &event);
  rdma_destroy_qp(id);
  rdma_destroy_id(id);
}

int main(int argc, char **argv) {
  if (strcmp(argv[1], "rejected") == 0) return rejected(argv[2]), 0;
  open_all();
  receive();
  if (strcmp(argv[1], "healthy") == 0) ibv_req_notify_cq(received, 0), wait_for_event();
  if (strcmp(argv[1], "never armed") == 0) sends(IBV_WR_SEND), wait_for_event();
  if (strcmp(argv[1], "armed once") == 0) {
    ibv_req_notify_cq(received, 0), sends(IBV_WR_SEND), wait_for_event(), ibv_ack_cq_events(received, 1), wait_for_event();
  }
  if (strcmp(argv[1], "not acknowledged") == 0) {
    ibv_req_notify_cq(received, 0), sends(IBV_WR_SEND), wait_for_event();
    ibv_destroy_qp(to), ibv_destroy_cq(received);
  }
  if (strcmp(argv[1], "write") == 0) ibv_req_notify_cq(received, 0), sends(IBV_WR_RDMA_WRITE), wait_for_event();
  return 0;
}
