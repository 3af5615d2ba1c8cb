import { type Mapping, testsOf } from './types.js';

const connections = testsOf('rdmacm-connections', 'connections by the events of a channel');
const external = testsOf('rdmacm-external-qp', 'queue pairs that were made elsewhere');
const datagrams = testsOf('rdmacm-datagrams', 'datagrams of the port space UDP');
const groups = testsOf('rdmacm-groups', 'multicast groups');
const synchronous = testsOf('rdmacm-sync', 'synchronous identifiers');

const joined = (way: string): string => groups(`that are joined by ${way} carry datagrams to their members`);
const left = (way: string): string => groups(`that were joined by ${way} carry nothing any more to who has left`);
const EX = 'rdma_join_multicast_ex, as a full member';

export const mapping: Mapping = {
  'CMTestCase.test_rdmacm_sync_traffic': {
    test: synchronous('connect, talk and disconnect without a channel'),
    note: 'The two sides are two threads with a device each, since either blocks its thread.',
  },
  'CMTestCase.test_rdmacm_async_traffic': {
    test: [
      connections('carry messages both ways'),
      connections('lead from a device back to it'),
      connections('have the ACK timeout that was set'),
      connections('end on both sides when one side ends them'),
    ],
  },
  'CMTestCase.test_rdmacm_async_reject_traffic': {
    test: connections('that are refused say so with what the other side has to say'),
  },
  'CMTestCase.test_rdmacm_async_multicast_traffic': { test: joined('rdma_join_multicast') },
  'CMTestCase.test_rdmacm_async_ex_multicast_traffic': { test: joined(EX) },
  'CMTestCase.test_rdmacm_async_ex_leave_multicast_traffic': {
    test: [left('rdma_join_multicast'), left(EX)],
    note: 'One that stays in the group tells that the message has been there: nothing has to hang.',
  },
  'CMTestCase.test_rdmacm_async_traffic_external_qp': {
    test: external('are connected with the attributes that the identifiers give'),
    note: 'Without ECE, which this device does not have.',
  },
  'CMTestCase.test_rdmacm_async_udp_traffic': {
    test: datagrams('reach the queue pair that the event names, and answers the one that the completion names'),
  },
  'CMTestCase.test_rdmacm_async_read': { test: connections("let one side read the other's memory") },
  'CMTestCase.test_rdmacm_async_write': { test: connections("let one side write the other's memory") },
  'CMTestCase.test_rdmacm_async_resolve_addrinfo': {
    test: datagrams('reach an address that the identifiers have looked up'),
  },
};
