/* What the parts of `signals` about librdmacm have in common. */
#ifndef SIGNALS_CM_H
#define SIGNALS_CM_H

#include <arpa/inet.h>
#include <poll.h>
#include <rdma/rdma_verbs.h>

struct rdma_event_channel *new_channel(void);
void nothing_more(struct rdma_event_channel *channel);
/* The device's address, with that port. */
struct sockaddr_in own_address(uint16_t port);

#endif
