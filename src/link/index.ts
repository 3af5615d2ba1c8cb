/** Where packets go: the links of a NIC. */
export type { Link, PacketReceiver, PacketSink } from './link.js';
export { LinkError } from './link-error.js';
export * from './simulated.js';
export { UdpLink, type UdpLinkOptions } from './udp-link.js';
