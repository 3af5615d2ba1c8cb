import type { Mapping } from './types.js';

const reason =
  'The device does not steer flows: deviceCapFlags is without MANAGED_FLOW_STEERING, and createFlow throws EOPNOTSUPP (device-absent checks it). A raw packet QP here receives the frames of its port.';

export const mapping: Mapping = {
  'FlowTest.test_eth_spec_flow_traffic': { reason },
  'FlowTest.test_ipv4_spec_flow_traffic': { reason },
  'FlowTest.test_ipv6_spec_flow_traffic': { reason },
  'FlowTest.test_udp_spec_flow_traffic': { reason },
  'FlowTest.test_tcp_spec_flow_traffic': { reason },
};
