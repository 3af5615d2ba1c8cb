/** Sockets for datagrams, bound to queue pairs. */
export { type Arrival, type DatagramEvents, DatagramSocket, type DatagramSocketOptions } from './datagram-socket.js';
export type { Peer } from './peers.js';
