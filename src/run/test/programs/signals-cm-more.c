/* The rest of librdmacm: queue pairs that the program changes itself, datagrams, groups, and calls that wait for their events. */
#include "signals.h"
#include "signals-cm.h"
#include <pthread.h>

#define BYTES 256

struct sockaddr_in own_address(uint16_t port)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = port };

	memcpy(&address.sin_addr, gid.raw + 12, 4);
	return address;
}

static struct rdma_cm_id *listener(struct rdma_event_channel *channel, enum rdma_port_space space, struct sockaddr_in *address)
{
	struct rdma_cm_id *id;

	*address = own_address(0);
	ZERO(rdma_create_id(channel, &id, NULL, space));
	ZERO(rdma_bind_addr(id, (struct sockaddr *)address));
	ZERO(rdma_listen(id, 4));
	address->sin_port = rdma_get_src_port(id);
	note("rdma_get_src_port");
	return id;
}

static struct rdma_cm_id *resolved(struct rdma_event_channel *channel, enum rdma_port_space space, struct sockaddr_in *address)
{
	struct rdma_cm_id *id;

	ZERO(rdma_create_id(channel, &id, NULL, space));
	ZERO(rdma_resolve_addr(id, NULL, (struct sockaddr *)address, 2000));
	expect(channel, RDMA_CM_EVENT_ADDR_RESOLVED);
	ZERO(rdma_resolve_route(id, 2000));
	expect(channel, RDMA_CM_EVENT_ROUTE_RESOLVED);
	if (rdma_get_dst_port(id) != address->sin_port)
		fault("rdma_get_dst_port", rdma_get_dst_port(id));
	note("rdma_get_dst_port");
	PLAIN(rdma_get_local_addr(id));
	PLAIN(rdma_get_peer_addr(id));
	return id;
}

static void move_to(struct rdma_cm_id *id, struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };
	int mask;

	ZERO(rdma_init_qp_attr(id, &attr, &mask));
	ZERO(ibv_modify_qp(qp, &attr, mask));
}

/* The program leads its queue pairs through their states, and says itself that they are ready. */
void external(void)
{
	struct rdma_event_channel *passive = new_channel(), *active = new_channel();
	struct ibv_qp_init_attr init = { .cap = { 4, 4, 1, 1, 0 }, .qp_type = IBV_QPT_RC };
	struct rdma_conn_param param = { .retry_count = 7, .rnr_retry_count = 7 };
	struct sockaddr_in address;
	struct rdma_cm_id *listening = listener(passive, RDMA_PS_TCP, &address), *client, *server;
	struct ibv_ece ece = { .vendor_id = 1 };
	struct ibv_qp *qps[3];
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	uint8_t timeout = 14;
	int i, one = 1;

	client = resolved(active, RDMA_PS_TCP, &address);
	ZERO(rdma_set_option(client, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout, sizeof(timeout)));
	REFUSED(rdma_set_option(client, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &one, sizeof(one)));
	MADE(pd, ibv_alloc_pd(client->verbs));
	MADE(cq, ibv_create_cq(client->verbs, 16, NULL, NULL, 0));
	init.send_cq = init.recv_cq = cq;
	for (i = 0; i < 3; i++)
		MADE(qps[i], ibv_create_qp(pd, &init));
	param.qp_num = qps[0]->qp_num;
	ZERO(rdma_set_local_ece(client, &ece));
	ZERO(rdma_connect(client, &param));
	server = expect(passive, RDMA_CM_EVENT_CONNECT_REQUEST);
	PLAIN(rdma_get_remote_ece(server, &ece));
	param.qp_num = qps[1]->qp_num;
	for (i = IBV_QPS_INIT; i <= IBV_QPS_RTS; i++)
		move_to(server, qps[1], i);
	ZERO(rdma_accept(server, &param));
	expect(active, RDMA_CM_EVENT_CONNECT_RESPONSE);
	for (i = IBV_QPS_INIT; i <= IBV_QPS_RTS; i++)
		move_to(client, qps[0], i);
	ZERO(rdma_establish(client));
	expect(passive, RDMA_CM_EVENT_ESTABLISHED);
	REFUSED(rdma_notify(server, IBV_EVENT_COMM_EST));
	ZERO(rdma_disconnect(server));
	expect(active, RDMA_CM_EVENT_DISCONNECTED);
	ZERO(rdma_disconnect(client));
	expect(passive, RDMA_CM_EVENT_DISCONNECTED);
	ZERO(rdma_destroy_id(client));
	ZERO(rdma_destroy_id(server));
	/* A second client, which is refused. The numbers of the others wait for late packets. */
	param.qp_num = qps[2]->qp_num;
	client = resolved(active, RDMA_PS_TCP, &address);
	ZERO(rdma_connect(client, &param));
	server = expect(passive, RDMA_CM_EVENT_CONNECT_REQUEST);
	ZERO(rdma_reject_ece(server, "no", 2));
	expect(active, RDMA_CM_EVENT_REJECTED);
	ZERO(rdma_destroy_id(client));
	ZERO(rdma_destroy_id(server));
	ZERO(rdma_destroy_id(listening));
	for (i = 0; i < 3; i++)
		ZERO(ibv_destroy_qp(qps[i]));
	ZERO(ibv_destroy_cq(cq));
	ZERO(ibv_dealloc_pd(pd));
	nothing_more(active);
	nothing_more(passive);
	PLAIN(rdma_destroy_event_channel(active));
	PLAIN(rdma_destroy_event_channel(passive));
}

static void arrives(struct rdma_cm_id *from, struct rdma_cm_id *to, struct ibv_ah *ah, uint32_t qpn, struct ibv_mr *mr)
{
	char *memory = mr->addr;
	struct ibv_wc wc;
	int count;

	memset(memory, (int)(calls % 100) + 1, BYTES);
	memset(memory + BYTES, 0, BYTES + 40);
	ZERO(rdma_post_recv(to, NULL, memory + BYTES, BYTES + 40, mr));
	ZERO(rdma_post_ud_send(from, NULL, memory, BYTES, mr, IBV_SEND_SIGNALED, ah, qpn));
	posted += 2;
	COUNT(count, rdma_get_send_comp(from, &wc));
	COUNT(count, rdma_get_recv_comp(to, &wc));
	if (count != 1 || wc.status != IBV_WC_SUCCESS || memcmp(memory, memory + BYTES + 40, BYTES) != 0)
		fault("a datagram", wc.status);
	completed += 2;
}

static void group(struct rdma_event_channel *channel, struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_mr *mr, int extended)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr = { htonl(0xefff0101) } };
	struct rdma_cm_join_mc_attr_ex attr = { .comp_mask = RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS,
						.join_flags = RDMA_MC_JOIN_FLAG_FULLMEMBER,
						.addr = (struct sockaddr *)&address };
	struct rdma_cm_event *event;
	struct ibv_ah *ah;
	uint32_t qpn;

	if (extended)
		ZERO(rdma_join_multicast_ex(id, &attr, NULL));
	else
		ZERO(rdma_join_multicast(id, (struct sockaddr *)&address, NULL));
	WAITS(rdma_get_cm_event(channel, &event));
	if (event->event != RDMA_CM_EVENT_MULTICAST_JOIN)
		fault(rdma_event_str(event->event), event->status);
	MADE(ah, ibv_create_ah(pd, &event->param.ud.ah_attr));
	qpn = event->param.ud.qp_num;
	ZERO(rdma_ack_cm_event(event));
	arrives(id, id, ah, qpn, mr);
	ZERO(ibv_destroy_ah(ah));
	ZERO(rdma_leave_multicast(id, (struct sockaddr *)&address));
}

/* Datagrams to a peer whose queue pair rdma_cm finds out, and to a group. */
void datagrams(void)
{
	static char memory[2 * BYTES + 40] __attribute__((aligned(4096)));
	struct rdma_event_channel *passive = new_channel(), *active = new_channel();
	struct ibv_qp_init_attr init = { .cap = { 4, 4, 1, 1, 0 }, .qp_type = IBV_QPT_UD }, init_server = init;
	struct rdma_conn_param param = { .private_data = "hello", .private_data_len = 5 };
	struct sockaddr_in address;
	struct rdma_cm_id *listening = listener(passive, RDMA_PS_UDP, &address), *client, *server, *member;
	struct rdma_cm_event *event;
	struct ibv_mr *mr;
	struct ibv_ah *ah;
	uint32_t qpn;

	client = resolved(active, RDMA_PS_UDP, &address);
	ZERO(rdma_create_qp(client, NULL, &init));
	ZERO(rdma_connect(client, &param));
	server = expect(passive, RDMA_CM_EVENT_CONNECT_REQUEST);
	ZERO(rdma_create_qp(server, NULL, &init_server));
	param.qp_num = server->qp->qp_num;
	ZERO(rdma_accept(server, &param));
	WAITS(rdma_get_cm_event(active, &event));
	if (event->event != RDMA_CM_EVENT_ESTABLISHED)
		fault(rdma_event_str(event->event), event->status);
	MADE(ah, ibv_create_ah(client->pd, &event->param.ud.ah_attr));
	qpn = event->param.ud.qp_num;
	ZERO(rdma_ack_cm_event(event));
	MADE(mr, rdma_reg_msgs(client, memory, sizeof(memory)));
	arrives(client, server, ah, qpn, mr);
	ZERO(rdma_dereg_mr(mr));
	ZERO(ibv_destroy_ah(ah));
	PLAIN(rdma_destroy_qp(client));
	PLAIN(rdma_destroy_qp(server));
	ZERO(rdma_destroy_id(client));
	ZERO(rdma_destroy_id(server));
	ZERO(rdma_destroy_id(listening));
	address = own_address(0);
	memset(&init, 0, sizeof(init));
	init.cap = init_server.cap;
	init.qp_type = IBV_QPT_UD;
	ZERO(rdma_create_id(active, &member, NULL, RDMA_PS_UDP));
	ZERO(rdma_bind_addr(member, (struct sockaddr *)&address));
	ZERO(rdma_create_qp(member, NULL, &init));
	MADE(mr, rdma_reg_msgs(member, memory, sizeof(memory)));
	group(active, member, member->pd, mr, 0);
	group(active, member, member->pd, mr, 1);
	ZERO(rdma_dereg_mr(mr));
	PLAIN(rdma_destroy_qp(member));
	ZERO(rdma_destroy_id(member));
	nothing_more(active);
	nothing_more(passive);
	PLAIN(rdma_destroy_event_channel(active));
	PLAIN(rdma_destroy_event_channel(passive));
}

static struct rdma_addrinfo *info_of(uint16_t port, int flags)
{
	struct rdma_addrinfo hints = { .ai_flags = flags | RAI_NUMERICHOST, .ai_port_space = RDMA_PS_TCP }, *info;
	struct sockaddr_in address = own_address(port);
	char service[8];

	snprintf(service, sizeof(service), "%d", ntohs(port));
	ZERO(rdma_getaddrinfo(inet_ntoa(address.sin_addr), service, &hints, &info));
	return info;
}

static char memories[2][2 * BYTES] __attribute__((aligned(4096)));
/* Halves of the server's memory. */
static struct ibv_mr *readable, *writable;

static void one(struct rdma_cm_id *id, int receives)
{
	struct ibv_wc wc;
	int count;

	if (receives)
		COUNT(count, rdma_get_recv_comp(id, &wc));
	else
		COUNT(count, rdma_get_send_comp(id, &wc));
	if (count != 1 || wc.status != IBV_WC_SUCCESS)
		fault("a request of an endpoint", wc.status);
	__atomic_add_fetch(&completed, 1, __ATOMIC_RELAXED);
}

#define POST(call)                                                                                                             \
	do {                                                                                                                   \
		ZERO(call);                                                                                                    \
		__atomic_add_fetch(&posted, 1, __ATOMIC_RELAXED);                                                              \
	} while (0)

/* The other side: calls that cannot be continued after EINTR. */
static void *serve(void *listening)
{
	struct ibv_sge sge;
	struct rdma_cm_id *id;
	struct ibv_mr *mr;

	hold_signals();
	ZERO(rdma_get_request(listening, &id));
	MADE(mr, rdma_reg_msgs(id, memories[1], sizeof(memories[1])));
	MADE(readable, rdma_reg_read(id, memories[1], BYTES));
	MADE(writable, rdma_reg_write(id, memories[1] + BYTES, BYTES));
	sge = (struct ibv_sge){ (uintptr_t)memories[1], BYTES, mr->lkey };
	POST(rdma_post_recvv(id, NULL, &sge, 1));
	ZERO(rdma_accept(id, NULL));
	release_signals();
	one(id, 1);
	POST(rdma_post_sendv(id, NULL, &sge, 1, IBV_SEND_SIGNALED));
	one(id, 0);
	hold_signals();
	/* The peer ends the connection. */
	PLAIN(rdma_disconnect(id));
	ZERO(rdma_dereg_mr(mr));
	ZERO(rdma_dereg_mr(readable));
	ZERO(rdma_dereg_mr(writable));
	PLAIN(rdma_destroy_ep(id));
	release_signals();
	return NULL;
}

/* READs and WRITEs of what the server has registered. */
static void one_sided(struct rdma_cm_id *id, struct ibv_mr *mr)
{
	struct ibv_sge in = { (uintptr_t)memories[0] + BYTES, BYTES, mr->lkey }, out = { (uintptr_t)memories[0], BYTES, mr->lkey };
	uint64_t from = (uintptr_t)memories[1], to = from + BYTES;
	int vectors;

	for (vectors = 0; vectors < 2; vectors++) {
		memset(memories[0], 11 + vectors, BYTES);
		memset(memories[1], 22 + vectors, BYTES);
		if (vectors) {
			POST(rdma_post_writev(id, NULL, &out, 1, IBV_SEND_SIGNALED, to, writable->rkey));
			one(id, 0);
			POST(rdma_post_readv(id, NULL, &in, 1, IBV_SEND_SIGNALED, from, readable->rkey));
		} else {
			POST(rdma_post_write(id, NULL, memories[0], BYTES, mr, IBV_SEND_SIGNALED, to, writable->rkey));
			one(id, 0);
			POST(rdma_post_read(id, NULL, memories[0] + BYTES, BYTES, mr, IBV_SEND_SIGNALED, from, readable->rkey));
		}
		one(id, 0);
		if (memcmp(memories[0], memories[1] + BYTES, BYTES) != 0 || memcmp(memories[0] + BYTES, memories[1], BYTES) != 0)
			fault("a READ or a WRITE of an endpoint", vectors);
	}
}

/* Endpoints: librdmacm waits for the events itself. */
void endpoints(void)
{
	struct ibv_qp_init_attr init = { .cap = { 8, 8, 1, 1, 0 }, .qp_type = IBV_QPT_RC, .sq_sig_all = 0 };
	struct ibv_srq_init_attr srq = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ibv_srq_init_attr_ex srq_ex = { .attr = { .max_wr = 4, .max_sge = 1 }, .srq_type = IBV_SRQT_BASIC,
					       .comp_mask = IBV_SRQ_INIT_ATTR_TYPE };
	struct ibv_qp_init_attr_ex init_ex = { .cap = { 4, 4, 1, 1, 0 }, .qp_type = IBV_QPT_RC };
	struct rdma_addrinfo *info;
	struct ibv_context **devices;
	struct rdma_cm_id *listening, *id;
	struct ibv_mr *mr;
	pthread_t server;
	int count;

	MADE(devices, rdma_get_devices(&count));
	if (count != 1)
		fault("rdma_get_devices has not found the one device", count);
	PLAIN(rdma_free_devices(devices));
	info = info_of(0, RAI_PASSIVE);
	ZERO(rdma_create_ep(&listening, info, NULL, &init));
	PLAIN(rdma_freeaddrinfo(info));
	ZERO(rdma_listen(listening, 2));
	info = info_of(rdma_get_src_port(listening), 0);
	ZERO(pthread_create(&server, NULL, serve, listening));
	hold_signals();
	ZERO(rdma_create_ep(&id, info, NULL, &init));
	MADE(mr, rdma_reg_msgs(id, memories[0], sizeof(memories[0])));
	ZERO(rdma_connect(id, NULL));
	release_signals();
	one_sided(id, mr);
	POST(rdma_post_recv(id, NULL, memories[0] + BYTES, BYTES, mr));
	memset(memories[0], 7, BYTES);
	POST(rdma_post_send(id, NULL, memories[0], BYTES, mr, IBV_SEND_SIGNALED));
	one(id, 0);
	one(id, 1);
	if (memcmp(memories[0], memories[0] + BYTES, BYTES) != 0)
		fault("the data has changed on its way", 0);
	hold_signals();
	ZERO(rdma_disconnect(id));
	release_signals();
	ZERO(pthread_join(server, NULL));
	ZERO(rdma_dereg_mr(mr));
	PLAIN(rdma_destroy_ep(id));
	/* What an endpoint may have instead: a shared queue, and a queue pair of the extended call. */
	hold_signals();
	ZERO(rdma_create_ep(&id, info, NULL, NULL));
	release_signals();
	ZERO(rdma_create_srq(id, NULL, &srq));
	PLAIN(rdma_destroy_srq(id));
	srq_ex.pd = id->pd;
	PLAIN(rdma_create_srq_ex(id, &srq_ex));
	if (id->srq != NULL)
		PLAIN(rdma_destroy_srq(id));
	init_ex.pd = id->pd;
	init_ex.comp_mask = id->pd == NULL ? 0 : IBV_QP_INIT_ATTR_PD;
	ZERO(rdma_create_qp_ex(id, &init_ex));
	PLAIN(rdma_destroy_qp(id));
	PLAIN(rdma_destroy_ep(id));
	PLAIN(rdma_freeaddrinfo(info));
	PLAIN(rdma_destroy_ep(listening));
}
