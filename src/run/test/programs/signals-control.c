/* Makes, queries, changes and ends every kind of object of libibverbs; asks for what the device lacks; and reads its texts. */
#include "signals.h"
#include <sys/mman.h>
#include <unistd.h>

/* Exported for providers and librdmacm: no header of the package declares them. */
int ibv_read_sysfs_file(const char *dir, const char *file, char *text, size_t size);
const char *ibv_get_sysfs_path(void);
int ibv_dontfork_range(void *base, size_t size);
int ibv_dofork_range(void *base, size_t size);

#define BYTES 8192

static char memory[BYTES] __attribute__((aligned(4096)));

static void device_queries(void)
{
	struct ibv_device_attr attr;
	struct ibv_device_attr_ex attr_ex;
	struct ibv_port_attr port;
	struct ibv_gid_entry entries[4];
	struct ibv_device **list;
	struct ibv_context *other;
	struct ibv_ah_attr ah = { .is_global = 1, .port_num = 1 };
	uint8_t mac[6];
	uint16_t pkey, vid;
	int count;

	ZERO(ibv_query_device(device, &attr));
	ZERO(ibv_query_device_ex(device, NULL, &attr_ex));
	ZERO(ibv_query_port(device, 1, &port));
	ZERO(ibv_query_gid(device, 1, 0, &gid));
	ZERO(ibv_query_gid_ex(device, 1, 0, entries, 0));
	COUNT(count, ibv_query_gid_table(device, entries, 4, 0));
	if (count < 1 || attr.max_qp < 1 || attr_ex.orig_attr.max_qp != attr.max_qp || port.state != IBV_PORT_ACTIVE)
		fault("the device's attributes are wrong", count);
	ZERO(ibv_query_pkey(device, 1, 0, &pkey));
	COUNT(count, ibv_get_pkey_index(device, 1, pkey));
	ah.grh.dgid = gid;
	PLAIN(ibv_resolve_eth_l2_from_gid(device, &ah, mac, &vid));
	MADE(list, ibv_get_device_list(&count));
	if (count != 1)
		fault("ibv_get_device_list has not found the one device", count);
	PLAIN(ibv_get_device_name(list[0]));
	PLAIN(ibv_get_device_guid(list[0]));
	PLAIN(ibv_get_device_index(list[0]));
	MADE(other, ibv_open_device(list[0]));
	PLAIN(ibv_free_device_list(list));
	ZERO(ibv_close_device(other));
}

static void memory_objects(struct ibv_pd *pd)
{
	struct ibv_mr *mr;
	struct ibv_mw *mw;
	int i, all = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;

	for (i = 0; i < 2; i++) {
		if (i == 0)
			MADE(mr, ibv_reg_mr(pd, memory, BYTES, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND));
		else
			MADE(mr, ibv_reg_mr_iova(pd, memory, BYTES, 0x10000, all));
		if (mr->lkey == 0)
			fault("a region without a key", 0);
		ZERO(ibv_dereg_mr(mr));
	}
	for (i = IBV_MW_TYPE_1; i <= IBV_MW_TYPE_2; i++) {
		MADE(mw, ibv_alloc_mw(pd, i));
		if (mw->rkey == 0)
			fault("a window without a key", 0);
		ZERO(ibv_dealloc_mw(mw));
	}
}

static void queues(struct ibv_pd *pd)
{
	struct ibv_srq_init_attr srq_init = { .attr = { .max_wr = 16, .max_sge = 1 } };
	struct ibv_srq_init_attr_ex srq_ex = { .attr = { .max_wr = 16, .max_sge = 1 }, .pd = pd, .comp_mask = IBV_SRQ_INIT_ATTR_PD };
	struct ibv_srq_attr srq_attr = { .srq_limit = 4 };
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq, *other;
	struct ibv_srq *srq;

	MADE(channel, ibv_create_comp_channel(device));
	MADE(cq, ibv_create_cq(device, 64, NULL, channel, 0));
	MADE(other, ibv_create_cq(device, 1, NULL, channel, 0));
	ZERO(ibv_resize_cq(cq, 100));
	if (cq->cqe < 100)
		fault("a queue was not resized", cq->cqe);
	ZERO(ibv_req_notify_cq(cq, 0));
	ZERO(ibv_destroy_cq(other));
	ZERO(ibv_destroy_cq(cq));
	ZERO(ibv_destroy_comp_channel(channel));
	MADE(srq, ibv_create_srq(pd, &srq_init));
	ZERO(ibv_modify_srq(srq, &srq_attr, IBV_SRQ_LIMIT));
	srq_attr.max_wr = 40;
	ZERO(ibv_modify_srq(srq, &srq_attr, IBV_SRQ_MAX_WR));
	ZERO(ibv_query_srq(srq, &srq_attr));
	if (srq_attr.max_wr < 40 || srq_attr.srq_limit != 4)
		fault("a shared queue was not changed", srq_attr.max_wr);
	ZERO(ibv_destroy_srq(srq));
	MADE(srq, ibv_create_srq_ex(device, &srq_ex));
	ZERO(ibv_destroy_srq(srq));
}

static void queue_pairs(struct ibv_pd *pd)
{
	static const enum ibv_qp_type types[] = { IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD };
	struct ibv_ah_attr ah_attr = { .is_global = 1, .port_num = 1, .grh = { .dgid = gid, .hop_limit = 64 } };
	union ibv_gid group = { .raw = { [10] = 0xff, 0xff, 239, 1, 1, 1 } };
	struct ibv_qp_init_attr init;
	struct ibv_qp_init_attr_ex init_ex;
	struct ibv_qp_attr attr;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_ah *ah;
	int i;

	MADE(cq, ibv_create_cq(device, 64, NULL, NULL, 0));
	for (i = 0; i < 3; i++) {
		memset(&init, 0, sizeof(init));
		init.send_cq = init.recv_cq = cq;
		init.cap.max_send_wr = init.cap.max_recv_wr = 32;
		init.cap.max_send_sge = init.cap.max_recv_sge = 1;
		init.qp_type = types[i];
		MADE(qp, ibv_create_qp(pd, &init));
		ZERO(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init));
		if (attr.qp_state != IBV_QPS_RESET)
			fault("a new queue pair is not in RESET", attr.qp_state);
		PLAIN(ibv_query_qp_data_in_order(qp, IBV_WR_RDMA_WRITE, 0));
		if (types[i] == IBV_QPT_UD) {
			ZERO(ibv_attach_mcast(qp, &group, 0));
			ZERO(ibv_detach_mcast(qp, &group, 0));
			REFUSED(ibv_detach_mcast(qp, &group, 0));
		}
		ZERO(ibv_destroy_qp(qp));
	}
	memset(&init_ex, 0, sizeof(init_ex));
	init_ex.send_cq = init_ex.recv_cq = cq;
	init_ex.cap = init.cap;
	init_ex.qp_type = IBV_QPT_RC;
	init_ex.comp_mask = IBV_QP_INIT_ATTR_PD;
	init_ex.pd = pd;
	MADE(qp, ibv_create_qp_ex(device, &init_ex));
	ZERO(ibv_destroy_qp(qp));
	ZERO(ibv_destroy_cq(cq));
	MADE(ah, ibv_create_ah(pd, &ah_attr));
	ZERO(ibv_destroy_ah(ah));
}

void control(void)
{
	struct ibv_pd *pd;

	device_queries();
	MADE(pd, ibv_alloc_pd(device));
	memory_objects(pd);
	queues(pd);
	queue_pairs(pd);
	ZERO(ibv_dealloc_pd(pd));
}

/* What rxe's provider, or the device, does not have. */
static void missing(struct ibv_pd *pd, struct ibv_cq *cq, struct ibv_qp *qp, struct ibv_mr *mr)
{
	struct ibv_alloc_dm_attr dm = { .length = 64 };
	struct ibv_td_init_attr td = { 0 };
	struct ibv_parent_domain_init_attr parent = { .pd = pd };
	struct ibv_modify_cq_attr modify_cq = { 0 };
	struct ibv_xrcd_init_attr xrcd = { .fd = -1, .oflags = 0100, .comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS };
	struct ibv_wq_init_attr wq = { .max_wr = 1, .max_sge = 1, .pd = pd, .cq = cq };
	struct ibv_rwq_ind_table_init_attr table = { 0 };
	struct ibv_counters_init_attr counters = { 0 };
	struct ibv_flow_attr flow = { .type = IBV_FLOW_ATTR_NORMAL, .size = sizeof(flow), .port = 1 };
	struct ibv_flow_action_esp_attr esp = { 0 };
	struct ibv_qp_open_attr open = { .qp_num = 1 };
	struct ibv_qp_rate_limit_attr rate = { .rate_limit = 1 };
	struct ibv_values_ex values = { .comp_mask = 1 };
	struct ibv_sge sge = { (uintptr_t)memory, 64, mr->lkey };
	struct ibv_ece ece = { 0 };

	NONE(ibv_alloc_dm(device, &dm));
	NONE(ibv_alloc_null_mr(pd));
	NONE(ibv_alloc_td(device, &td));
	NONE(ibv_alloc_parent_domain(device, &parent));
	REFUSED(ibv_modify_cq(cq, &modify_cq));
	NONE(ibv_open_xrcd(device, &xrcd));
	NONE(ibv_create_wq(device, &wq));
	NONE(ibv_create_rwq_ind_table(device, &table));
	NONE(ibv_create_counters(device, &counters));
	NONE(ibv_create_flow(qp, &flow));
	NONE(ibv_create_flow_action_esp(device, &esp));
	NONE(ibv_open_qp(device, &open));
	REFUSED(ibv_modify_qp_rate_limit(qp, &rate));
	REFUSED(ibv_query_rt_values_ex(device, &values));
	REFUSED(ibv_advise_mr(pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, &sge, 1));
	NONE(ibv_reg_dmabuf_mr(pd, 0, 64, 0, 0, IBV_ACCESS_LOCAL_WRITE));
	REFUSED(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, IBV_ACCESS_LOCAL_WRITE) ? -1 : 0);
	NONE(ibv_import_pd(device, pd->handle));
	NONE(ibv_import_mr(pd, mr->handle));
	NONE(ibv_import_dm(device, 1));
	REFUSED(ibv_set_ece(qp, &ece));
	REFUSED(ibv_query_ece(qp, &ece));
	NONE(ibv_qp_to_qp_ex(qp));
}

void refusals(void)
{
	struct ibv_qp_init_attr init = { .cap = { 4, 4, 1, 1, 0 }, .qp_type = IBV_QPT_RC };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS };
	struct ibv_ah_attr ah_attr = { .is_global = 1, .port_num = 9, .grh = { .dgid = gid } };
	struct ibv_port_attr port;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	void *hole;
	int fd;

	MADE(pd, ibv_alloc_pd(device));
	MADE(cq, ibv_create_cq(device, 8, NULL, NULL, 0));
	init.send_cq = init.recv_cq = cq;
	MADE(qp, ibv_create_qp(pd, &init));
	MADE(mr, ibv_reg_mr(pd, memory, BYTES, IBV_ACCESS_LOCAL_WRITE));
	missing(pd, cq, qp, mr);
	/* What may not be ended yet, is not there, or is wrong. */
	REFUSED(ibv_destroy_cq(cq));
	REFUSED(ibv_dealloc_pd(pd));
	REFUSED(ibv_modify_qp(qp, &attr, IBV_QP_STATE));
	REFUSED(ibv_query_port(device, 9, &port));
	REFUSED(ibv_resize_cq(cq, 1 << 30));
	NONE(ibv_create_ah(pd, &ah_attr));
	NONE(ibv_create_cq(device, 1 << 30, NULL, NULL, 0));
	NONE(ibv_reg_mr(pd, memory, BYTES, IBV_ACCESS_REMOTE_WRITE));
	hole = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	NONE(ibv_reg_mr(pd, hole, 4096, IBV_ACCESS_LOCAL_WRITE));
	munmap(hole, 4096);
	init.cap.max_send_wr = 1 << 30;
	NONE(ibv_create_qp(pd, &init));
	fd = dup(device->cmd_fd);
	NONE(ibv_import_device(fd));
	close(fd);
	ZERO(ibv_destroy_qp(qp));
	ZERO(ibv_dereg_mr(mr));
	ZERO(ibv_destroy_cq(cq));
	ZERO(ibv_dealloc_pd(pd));
}

/* They make no system call but to read files. */
void texts(void)
{
	static const char *const directory = "/sys/class/infiniband/rxe0";
	char text[64];
	int length;

	COUNT(length, ibv_read_sysfs_file(directory, "node_type", text, sizeof(text)));
	if (length <= 0 || text[0] != '1')
		fault("node_type", length);
	PLAIN(ibv_get_sysfs_path());
	PLAIN(ibv_event_type_str(IBV_EVENT_CQ_ERR));
	PLAIN(ibv_node_type_str(IBV_NODE_CA));
	PLAIN(ibv_port_state_str(IBV_PORT_ACTIVE));
	PLAIN(ibv_wc_status_str(IBV_WC_SUCCESS));
	PLAIN(ibv_rate_to_mbps(IBV_RATE_100_GBPS));
	PLAIN(ibv_rate_to_mult(IBV_RATE_10_GBPS));
	PLAIN(mbps_to_ibv_rate(10000));
	PLAIN(mult_to_ibv_rate(4));
	PLAIN(ibv_is_fork_initialized());
	PLAIN(ibv_fork_init());
	PLAIN(ibv_dontfork_range(memory, 4096));
	PLAIN(ibv_dofork_range(memory, 4096));
	PLAIN(rdma_event_str(RDMA_CM_EVENT_REJECTED));
}
