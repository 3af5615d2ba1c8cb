/* Connections by librdmacm, whose events come by channels. */
#include "signals.h"
#include "signals-cm.h"
#include <pthread.h>
#include <time.h>
#include <unistd.h>

struct rdma_cm_id *expect(struct rdma_event_channel *channel, enum rdma_cm_event_type type)
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

void nothing_more(struct rdma_event_channel *channel)
{
	struct pollfd fd = { channel->fd, POLLIN, 0 };

	if (poll(&fd, 1, 0) > 0)
		fault("an event too many", 0);
}

struct rdma_event_channel *new_channel(void)
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
void waiting(void)
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
	PLAIN(rdma_destroy_event_channel(channel));
	PLAIN(rdma_destroy_event_channel(shared));
}

void connection(void)
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
	PLAIN(address.sin_port = rdma_get_src_port(listener));
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
	if (connections % 4 == 1) {
		ZERO(rdma_reject(server, NULL, 0));
		expect(active, RDMA_CM_EVENT_REJECTED);
		PLAIN(rdma_destroy_qp(client));
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
		PLAIN(rdma_destroy_qp(client));
		PLAIN(rdma_destroy_qp(server));
		ZERO(rdma_destroy_id(server));
	}
	ZERO(rdma_destroy_id(client));
	ZERO(rdma_destroy_id(listener));
	nothing_more(active);
	nothing_more(passive);
	nothing_more(third);
	PLAIN(rdma_destroy_event_channel(third));
	PLAIN(rdma_destroy_event_channel(active));
	PLAIN(rdma_destroy_event_channel(passive));
	connections++;
}


/* The command of rdma_get_cm_event alone: that function has memory allocated, which no handler may leave by siglongjmp. */
static void get_event(void *channel)
{
	static char event[512];
	struct {
		uint32_t command;
		uint16_t in, out;
		uint64_t response;
	} command = { 12, 8, sizeof(event), (uintptr_t)event };

	if (write(((struct rdma_event_channel *)channel)->fd, &command, sizeof(command)) < 0)
		fault("GET_EVENT", errno);
}

static void get_cq_event(void *channel)
{
	struct ibv_cq *cq;
	void *context;

	ibv_get_cq_event(channel, &cq, &context);
}

/* Handlers leave calls that wait by siglongjmp; what the calls waited for comes later, once. */
void leaving(void)
{
	struct rdma_event_channel *channel = new_channel();
	struct ibv_comp_channel *completions;
	struct rdma_cm_id *id;
	int i;

	MADE(completions, ibv_create_comp_channel(device));
	for (i = 0; i < 3; i++) {
		jump_out_of(get_event, channel);
		jump_out_of(get_cq_event, completions);
	}
	ZERO(ibv_destroy_comp_channel(completions));
	ZERO(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	resolve_later(id);
	expect(channel, RDMA_CM_EVENT_ADDR_RESOLVED);
	nothing_more(channel);
	ZERO(rdma_destroy_id(id));
	PLAIN(rdma_destroy_event_channel(channel));
}
