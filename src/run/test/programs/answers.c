/* Calls verbs with arguments that the kernel refuses or ignores, and prints what each came to: `NAME RESULT` a line. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <linux/capability.h>

#define PAGE 4096UL
static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_cq *cq;

static void *map(size_t bytes, int protection)
{
	return mmap(NULL, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void reg(const char *name, void *at, size_t bytes, int access)
{
	errno = 0;
	struct ibv_mr *mr = ibv_reg_mr(pd, at, bytes, access);
	printf("%s %d\n", name, mr ? 0 : errno);
	if (mr)
		ibv_dereg_mr(mr);
}

static int file_of(size_t bytes, int flags, const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || ftruncate(fd, bytes) || close(fd))
		exit(2);
	fd = open(path, flags);
	unlink(path);
	return fd;
}

static void memory(void)
{
	const int W = IBV_ACCESS_LOCAL_WRITE;
	char *two = map(2 * PAGE, PROT_READ | PROT_WRITE);
	char *none = map(PAGE, PROT_NONE), *ro = map(PAGE, PROT_READ), *gone = map(PAGE, PROT_READ | PROT_WRITE);
	char path[64];
	snprintf(path, sizeof path, "/tmp/verbena-answers-%d", getpid());
	char *shared = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, file_of(PAGE, O_RDONLY, path), 0);
	char *past = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file_of(PAGE, O_RDWR, path), 0);

	munmap(two + PAGE, PAGE);
	munmap(gone, PAGE);
	reg("mapped", two, PAGE, W);
	reg("half", two, 2 * PAGE, W);
	reg("half-unaligned", two + 100, PAGE, W);
	reg("unmapped", gone, PAGE, W);
	reg("unmapped-read", gone, PAGE, 0);
	reg("null", (void *)100, 100, W);
	reg("kernel", (void *)0xffff800000000000, 100, W);
	reg("wrap", (void *)-4096L, 8192, W);
	reg("huge", two, 1UL << 63, W);
	reg("none", none, PAGE, W);
	reg("none-read", none, PAGE, IBV_ACCESS_REMOTE_READ);
	reg("ro-read", ro, 100, IBV_ACCESS_REMOTE_READ);
	reg("ro-write", ro, 100, W);
	reg("ro-remote-write", ro, 100, W | IBV_ACCESS_REMOTE_WRITE);
	reg("ro-atomic", ro, 100, W | IBV_ACCESS_REMOTE_ATOMIC);
	reg("ro-bind", ro, 100, IBV_ACCESS_MW_BIND);
	reg("text-write", (void *)reg, 100, W);
	reg("text-read", (void *)reg, 100, 0);
	reg("shared-ro-write", shared, PAGE, W);
	reg("shared-ro-read", shared, PAGE, 0);
	reg("file-within", past, PAGE, W);
	reg("file-past-end", past, 2 * PAGE, W);
	reg("stack", path, sizeof path, W);
	reg("zero-aligned", two, 0, W);
	reg("zero-unaligned", two + 8, 0, W);
	reg("zero-unmapped", gone + 8, 0, W);
	reg("on-demand", two, PAGE, W | IBV_ACCESS_ON_DEMAND);
	reg("hugetlb", two, PAGE, W | IBV_ACCESS_HUGETLB);
	reg("unknown-flag", two, PAGE, W | 1 << 15);
	reg("remote-without-local", two, PAGE, IBV_ACCESS_REMOTE_WRITE);
	reg("zero-based", two + 64, 256, W | IBV_ACCESS_ZERO_BASED | IBV_ACCESS_REMOTE_WRITE);
	errno = 0;
	printf("iova-offset %d\n", ibv_reg_mr_iova(pd, two + 64, 100, 0x10000, W) ? 0 : errno);
	printf("iova-same-offset %d\n", ibv_reg_mr_iova(pd, two + 64, 100, 0x10040, W) ? 0 : errno);
	/* Parts with rights of their own are mappings of their own. */
	char *many = map(64 * PAGE, PROT_READ | PROT_WRITE);
	for (int i = 0; i < 64; i += 2)
		mprotect(many + i * PAGE, PAGE, PROT_READ);
	reg("many-read", many, 64 * PAGE, 0);
	reg("many-write", many, 64 * PAGE, W);
}

static struct ibv_qp *make_qp(struct ibv_srq *srq, enum ibv_qp_type type, int recv_wr, int recv_sge)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = cq, .recv_cq = cq, .srq = srq, .qp_type = type, .sq_sig_all = 1,
		.cap = { .max_send_wr = 4, .max_recv_wr = recv_wr, .max_send_sge = 1, .max_recv_sge = recv_sge },
	};
	errno = 0;
	return ibv_create_qp(pd, &attr);
}

static void to_rts(struct ibv_qp *qp, unsigned peer)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1,
		.qp_access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ };
	ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
	attr.qp_state = IBV_QPS_RTR;
	attr.path_mtu = IBV_MTU_1024;
	attr.dest_qp_num = peer;
	attr.max_dest_rd_atomic = attr.max_rd_atomic = 1;
	attr.min_rnr_timer = 12;
	attr.ah_attr.is_global = 1;
	attr.ah_attr.port_num = 1;
	attr.ah_attr.grh.hop_limit = 64;
	ibv_query_gid(context, 1, 0, &attr.ah_attr.grh.dgid);
	ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			  IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
	attr.qp_state = IBV_QPS_RTS;
	attr.timeout = 14;
	attr.retry_cnt = attr.rnr_retry = 7;
	ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			  IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

static int completes(struct ibv_qp *qp, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;
	struct ibv_wc wc;
	if (ibv_post_send(qp, wr, &bad))
		return -1;
	while (ibv_poll_cq(cq, 1, &wc) == 0)
		;
	return wc.status;
}

static void windows(void)
{
	struct ibv_qp *a = make_qp(NULL, IBV_QPT_RC, 4, 1), *b = make_qp(NULL, IBV_QPT_RC, 4, 1);
	static char region[256] = "from", target[256];
	int all = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_MW_BIND;
	struct ibv_mr *source = ibv_reg_mr(pd, region, sizeof region, all), *mr = ibv_reg_mr(pd, target, sizeof target, all);
	to_rts(a, b->qp_num);
	to_rts(b, a->qp_num);
	unsigned keys[] = { 0x400, 17, 0xbadd0ba };
	for (int i = 0; i < 3; i++) {
		struct ibv_mw *mw = ibv_alloc_mw(pd, IBV_MW_TYPE_2);
		struct ibv_send_wr bind = { .opcode = IBV_WR_BIND_MW, .bind_mw = { .mw = mw, .rkey = keys[i],
			.bind_info = { .mr = mr, .addr = (uintptr_t)target, .length = sizeof target,
				       .mw_access_flags = IBV_ACCESS_REMOTE_WRITE } } };
		printf("bind-%x %d\n", keys[i], completes(b, &bind));
		struct ibv_sge sge = { (uintptr_t)region, 5, source->lkey };
		struct ibv_send_wr write = { .opcode = IBV_WR_RDMA_WRITE, .sg_list = &sge, .num_sge = 1,
			.wr.rdma = { (uintptr_t)target, (mw->rkey & ~0xffU) | (keys[i] & 0xff) } };
		target[0] = 0;
		printf("write-%x %d %s\n", keys[i], completes(a, &write), target);
		ibv_dealloc_mw(mw);
	}
	struct ibv_mr *zero = ibv_reg_mr(pd, target + 16, 64, all | IBV_ACCESS_ZERO_BASED);
	struct ibv_sge sge = { (uintptr_t)region, 5, source->lkey };
	struct ibv_send_wr write = { .opcode = IBV_WR_RDMA_WRITE, .sg_list = &sge, .num_sge = 1,
		.wr.rdma = { 8, zero ? zero->rkey : 0 } };
	printf("zero-based-write %d", completes(a, &write));
	printf(" %s\n", target + 24);
}

static void privileged(const char *name)
{
	struct ibv_qp *ud = make_qp(NULL, IBV_QPT_UD, 4, 1);
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 0x80000001 };
	int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY;
	printf("%s-qkey %d\n", name, ibv_modify_qp(ud, &attr, mask));
	attr.qkey = 1;
	printf("%s-plain-qkey %d\n", name, ibv_modify_qp(ud, &attr, mask) && ud->state != IBV_QPS_INIT);
	/* rxe's provider sends what it does not have itself. */
	printf("%s-raw %d\n", name, make_qp(NULL, IBV_QPT_RAW_PACKET, 4, 1) ? 0 : errno);
}

static void drop_capabilities(void)
{
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct data[2];
	memset(data, 0, sizeof data);
	syscall(SYS_capset, &header, data);
}

static int has_net_raw(void)
{
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct data[2];
	syscall(SYS_capget, &header, data);
	return data[0].effective >> CAP_NET_RAW & 1;
}

static void handles(void)
{
	struct ibv_srq_init_attr init = { .attr = { 4, 1, 0xdeadbeef } };
	struct ibv_srq *srq = ibv_create_srq(pd, &init);
	printf("srq-limit %d\n", srq ? 0 : errno);
	printf("with-srq %d\n", make_qp(srq, IBV_QPT_RC, 100000, 100) ? 0 : errno);
	printf("without-srq %d\n", make_qp(NULL, IBV_QPT_RC, 100000, 1) ? 0 : errno);
	struct ibv_pd *other = ibv_alloc_pd(context);
	unsigned right = other->handle;
	other->handle = 0x7777;
	printf("dealloc-unknown %d\n", ibv_dealloc_pd(other));
	other->handle = srq->handle;
	printf("dealloc-other-kind %d\n", ibv_dealloc_pd(other));
	other->handle = right;
	printf("dealloc %d\n", ibv_dealloc_pd(other));
}

/* Registers often: this must not take long where many mappings exist. */
static void often(void)
{
	struct timespec from, to;
	char *large = map(1UL << 30, PROT_READ | PROT_WRITE);
	clock_gettime(CLOCK_MONOTONIC, &from);
	for (int i = 0; i < 1000; i++)
		ibv_dereg_mr(ibv_reg_mr(pd, large, i % 2 ? 1UL << 30 : 64, IBV_ACCESS_LOCAL_WRITE));
	clock_gettime(CLOCK_MONOTONIC, &to);
	fprintf(stderr, "%.1f us each\n", ((to.tv_sec - from.tv_sec) * 1e9 + to.tv_nsec - from.tv_nsec) / 1e6);
}

int main(int count, char **words)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	if (!list || !list[0] || !(context = ibv_open_device(list[0])))
		return 2;
	pd = ibv_alloc_pd(context);
	cq = ibv_create_cq(context, 64, NULL, NULL, 0);
	const char *what = count > 1 ? words[1] : "";
	if (!strcmp(what, "memory"))
		memory();
	if (!strcmp(what, "handles"))
		handles();
	if (!strcmp(what, "windows"))
		windows();
	if (!strcmp(what, "often"))
		often();
	if (!strcmp(what, "privileged")) {
		if (has_net_raw())
			privileged("root");
		drop_capabilities();
		privileged("nobody");
	}
	return 0;
}
