/* Opens many event channels, and gets an event by each: prints how many. */
#include <arpa/inet.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int wanted = argc > 2 ? atoi(argv[2]) : 0, opened, events = 0, i;
	struct rdma_event_channel **channels = calloc(wanted, sizeof(*channels));
	struct rdma_cm_id **ids = calloc(wanted, sizeof(*ids));
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(1) };
	struct rdma_cm_event *event;

	inet_pton(AF_INET, argv[1], &address.sin_addr);
	for (opened = 0; opened < wanted; opened++) {
		channels[opened] = rdma_create_event_channel();
		if (channels[opened] == NULL || rdma_create_id(channels[opened], &ids[opened], NULL, RDMA_PS_TCP) != 0)
			break;
	}
	for (i = 0; i < opened; i++)
		if (rdma_resolve_addr(ids[i], NULL, (struct sockaddr *)&address, 2000) != 0)
			return 1;
	for (i = opened - 1; i >= 0; i--) {
		if (rdma_get_cm_event(channels[i], &event) != 0 || event->id != ids[i])
			return 1;
		events++;
		rdma_ack_cm_event(event);
		if (rdma_destroy_id(ids[i]) != 0)
			return 1;
		rdma_destroy_event_channel(channels[i]);
	}
	printf("%d channels, %d events\n", opened, events);
	return 0;
}
