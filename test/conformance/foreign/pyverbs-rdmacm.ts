import { casesOf } from './types.js';

// Two processes connect by RDMA CM on one address, port 7471; ten 1024-byte SENDs then go each way with the data
// checked, unless said otherwise. "Asynchronous" steps through the event channel and expects each event in turn.
export const pyverbsRdmacm = casesOf('pyverbs', 'tests/test_rdmacm.py', {
  'CMTestCase.test_rdmacm_sync_traffic':
    'Synchronous listen, connect, get_request and accept in TCP port space; RC traffic; disconnect.',
  'CMTestCase.test_rdmacm_async_traffic':
    'Asynchronous connect (ADDR_RESOLVED, ROUTE_RESOLVED, CONNECT_REQUEST, ESTABLISHED) with option ACK_TIMEOUT 21: query_qp shows timeout 21; RC traffic; DISCONNECTED.',
  'CMTestCase.test_rdmacm_async_reject_traffic':
    'The passive side rejects with private data: the active side gets REJECTED with the same bytes first.',
  'CMTestCase.test_rdmacm_async_multicast_traffic':
    'UDP port space: both join a 230.x group (MULTICAST_JOIN), UD messages to QPN 0xffffff arrive, leave_multicast works.',
  'CMTestCase.test_rdmacm_async_ex_multicast_traffic':
    'The same multicast case joined by join_multicast_ex as full member.',
  'CMTestCase.test_rdmacm_async_ex_leave_multicast_traffic':
    'The same join; after leave_multicast further messages do not arrive (the receiver must hang).',
  'CMTestCase.test_rdmacm_async_traffic_external_qp':
    'QPs made outside the CM and modified with the attributes of rdma_init_qp_attr (CONNECT_RESPONSE, then establish; ECE exchanged if supported): RC traffic works.',
  'CMTestCase.test_rdmacm_async_udp_traffic':
    'UDP port space: UD traffic with the address and QPN of the ESTABLISHED event; replies through an address handle made from the completion.',
  'CMTestCase.test_rdmacm_async_read':
    'After connect, ten RDMA READs of the peer’s region (rkey and address passed aside): SUCCESS with the data.',
  'CMTestCase.test_rdmacm_async_write':
    'After connect, ten RDMA WRITEs to the peer’s region: SUCCESS and the data is there.',
  'CMTestCase.test_rdmacm_async_resolve_addrinfo':
    'UDP port space, addresses by rdma_resolve_addrinfo (ADDRINFO_RESOLVED) and query_addrinfo: UD traffic works.',
});
