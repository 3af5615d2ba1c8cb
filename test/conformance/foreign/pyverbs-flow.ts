import { casesOf } from './types.js';

// Raw packet QPs on Ethernet with CAP_NET_RAW: a flow on the receiver steers whole frames to it, 10 of them, SUCCESS
// and byte for byte as sent. Skipped where flows are not supported.
export const pyverbsFlow = casesOf('pyverbs', 'tests/test_flow.py', {
  'FlowTest.test_eth_spec_flow_traffic': 'Flow on destination and source MAC and EtherType IPv4.',
  'FlowTest.test_ipv4_spec_flow_traffic': 'Flow on IPv4 source, destination and protocol UDP.',
  'FlowTest.test_ipv6_spec_flow_traffic': 'Flow on MACs plus IPv6 source, destination and next header UDP.',
  'FlowTest.test_udp_spec_flow_traffic': 'Flow on MACs, IPv4 addresses and UDP source and destination port.',
  'FlowTest.test_tcp_spec_flow_traffic': 'Flow on MACs, IPv6 addresses and TCP source and destination port.',
});
