/** Where packets go: the links of a NIC. */
export type { Link, PacketReceiver, PacketSink } from './link.js';
export * from './simulated.js';
