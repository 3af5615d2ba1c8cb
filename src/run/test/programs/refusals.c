/* Calls that are refused, one line of standard output each: what was tried, and the errno. */
#define _GNU_SOURCE
#include <errno.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <arpa/inet.h>

static struct ibv_context *ctx;
static struct ibv_pd *pd;
static struct ibv_cq *cq;

static void tried(const char *what, int error) { printf("%s %s\n", what, strerrorname_np(error)); fflush(stdout); }

static struct ibv_qp *make(unsigned sends, unsigned pieces, unsigned inline_bytes, enum ibv_qp_type type) {
  struct ibv_qp_init_attr init = { .send_cq = cq, .recv_cq = cq, .qp_type = type,
    .cap = { .max_send_wr = sends, .max_recv_wr = 1, .max_send_sge = pieces, .max_recv_sge = 1, .max_inline_data = inline_bytes } };
  errno = 0;
  return ibv_create_qp(pd, &init);
}

static int to_init(struct ibv_qp *qp) {
  struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
  return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

static const int RTR = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
  IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;

static struct ibv_qp_attr rtr(struct ibv_qp *qp) {
  struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = qp->qp_num,
    .ah_attr = { .port_num = 1, .is_global = 1, .grh = { .hop_limit = 1 } } };
  ibv_query_gid(ctx, 1, 0, &attr.ah_attr.grh.dgid);
  return attr;
}

static void modify(const char *what, struct ibv_qp *qp, struct ibv_qp_attr attr, int mask) {
  tried(what, ibv_modify_qp(qp, &attr, mask));
}

static void verbs(void) {
  static const char constant[4096] = "constant";
  char *memory = aligned_alloc(4096, 8192);
  int none = 0;
  struct ibv_device **devices = ibv_get_device_list(&none);
  ctx = ibv_open_device(devices[0]);
  pd = ibv_alloc_pd(ctx);
  cq = ibv_create_cq(ctx, 16, 0, 0, 0);
  make(40000, 1, 0, IBV_QPT_RC), tried("max_send_wr", errno);
  make(1, 64, 0, IBV_QPT_RC), tried("max_send_sge", errno);
  make(1, 1, 4096, IBV_QPT_RC), tried("max_inline_data", errno);
  make(1, 1, 0, IBV_QPT_RAW_PACKET) ? (void)0 : tried("raw", errno == EPERM ? EPERM : EOPNOTSUPP);
  ibv_create_cq(ctx, 1 << 21, 0, 0, 0), tried("cqe", errno);
  ibv_create_cq(ctx, 1, 0, 0, 7), tried("comp_vector", errno);
  ibv_reg_mr(pd, memory, 0, 0), tried("no bytes", errno);
  ibv_reg_mr(pd, memory, 8, IBV_ACCESS_REMOTE_WRITE), tried("remote without local", errno);
  ibv_reg_mr(pd, (void *)constant, 8, IBV_ACCESS_LOCAL_WRITE), tried("constant", errno);
  ibv_reg_mr(pd, memory, 8, IBV_ACCESS_ON_DEMAND), tried("on demand", errno);
  struct ibv_srq_init_attr srq = { .attr = { .max_wr = 1 << 20, .max_sge = 1 } };
  ibv_create_srq(pd, &srq), tried("srq max_wr", errno);
  srq.attr.max_wr = 8;
  struct ibv_srq *shared = ibv_create_srq(pd, &srq);
  struct ibv_srq_attr limit = { .srq_limit = 99 };
  tried("srq_limit", ibv_modify_srq(shared, &limit, IBV_SRQ_LIMIT));
  struct ibv_ah_attr nowhere = { .port_num = 1 };
  ibv_create_ah(pd, &nowhere), tried("ah", errno);
  struct ibv_qp *qp = make(4, 1, 0, IBV_QPT_RC);
  struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
  modify("no pkey_index", qp, attr, IBV_QP_STATE | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
  attr.port_num = 2;
  modify("port 2", qp, attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
  to_init(qp);
  attr = rtr(qp), attr.ah_attr.is_global = 0;
  modify("no grh", qp, attr, RTR);
  attr = rtr(qp), attr.ah_attr.grh.sgid_index = 9;
  modify("sgid_index", qp, attr, RTR);
  modify("no min_rnr_timer", qp, rtr(qp), RTR & ~IBV_QP_MIN_RNR_TIMER);
  attr = rtr(qp), attr.path_mtu = 9;
  modify("path_mtu", qp, attr, RTR);
  attr = rtr(qp), attr.qp_state = IBV_QPS_RTS;
  modify("skips", qp, attr, IBV_QP_STATE);
  modify("to RTR", qp, rtr(qp), RTR);
  attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTS, .max_rd_atomic = 200 };
  modify("max_rd_atomic", qp, attr,
    IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC);
  union ibv_gid group = { .raw = { [10] = 0xff, [11] = 0xff, 10, 1, 2, 3 } };
  tried("attach", ibv_attach_mcast(qp, &group, 0));
  tried("busy pd", ibv_dealloc_pd(pd));
  tried("busy cq", ibv_destroy_cq(cq));
}

static void next_event(struct rdma_event_channel *channel, const char *what) {
  struct rdma_cm_event *event;
  if (rdma_get_cm_event(channel, &event) != 0) return tried(what, errno);
  printf("%s %s %d\n", what, rdma_event_str(event->event), event->status);
  fflush(stdout);
  rdma_ack_cm_event(event);
}

static struct sockaddr_in at(const char *host, int port) {
  struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port) };
  inet_pton(AF_INET, host, &address.sin_addr);
  return address;
}

static void cm(const char *own) {
  struct rdma_event_channel *channel = rdma_create_event_channel();
  struct rdma_cm_id *id, *other;
  struct sockaddr_in address;
  rdma_create_id(channel, &id, 0, RDMA_PS_TCP);
  address = at("10.1.2.3", 7471);
  tried("foreign address", rdma_bind_addr(id, (void *)&address) == 0 ? 0 : errno);
  tried("listen unbound twice", (rdma_listen(id, 1), rdma_listen(id, 1)) == 0 ? 0 : errno);
  rdma_create_id(channel, &other, 0, RDMA_PS_TCP);
  address = at(own, ntohs(rdma_get_src_port(id)));
  tried("port in use", rdma_bind_addr(other, (void *)&address) == 0 ? 0 : errno);
  struct rdma_conn_param param = { .private_data = own, .private_data_len = 200 };
  rdma_create_id(channel, &other, 0, RDMA_PS_TCP);
  address = at("192.0.2.1", 7471);
  tried("resolve", rdma_resolve_addr(other, 0, (void *)&address, 500) == 0 ? 0 : errno);
  next_event(channel, "resolved");
  rdma_create_id(channel, &other, 0, RDMA_PS_TCP);
  address = at(own, 1);
  rdma_resolve_addr(other, 0, (void *)&address, 500), next_event(channel, "resolved");
  rdma_resolve_route(other, 500), next_event(channel, "route");
  struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_RC, .cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 } };
  rdma_create_qp(other, 0, &init);
  tried("private data", rdma_connect(other, &param) == 0 ? 0 : errno);
  param.private_data_len = 0;
  tried("connect", rdma_connect(other, &param) == 0 ? 0 : errno);
  next_event(channel, "connected");
}

int main(int argc, char **argv) {
  verbs();
  cm(argv[1]);
  return 0;
}
