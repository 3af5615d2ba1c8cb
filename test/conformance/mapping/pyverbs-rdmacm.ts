import type { Mapping } from './types.js';

const reason =
  'It belongs to the connection manager (librdmacm), a layer above verbs that exchanges messages of its own; this package exports verbs.';

export const mapping: Mapping = {
  'CMTestCase.test_rdmacm_sync_traffic': { reason },
  'CMTestCase.test_rdmacm_async_traffic': { reason },
  'CMTestCase.test_rdmacm_async_reject_traffic': { reason },
  'CMTestCase.test_rdmacm_async_multicast_traffic': { reason },
  'CMTestCase.test_rdmacm_async_ex_multicast_traffic': { reason },
  'CMTestCase.test_rdmacm_async_ex_leave_multicast_traffic': { reason },
  'CMTestCase.test_rdmacm_async_traffic_external_qp': { reason },
  'CMTestCase.test_rdmacm_async_udp_traffic': { reason },
  'CMTestCase.test_rdmacm_async_read': { reason },
  'CMTestCase.test_rdmacm_async_write': { reason },
  'CMTestCase.test_rdmacm_async_resolve_addrinfo': { reason },
};
