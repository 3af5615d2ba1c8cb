/** Sockets for datagrams, bound to queue pairs. */
export { type DatagramEvents, DatagramSocket, type DatagramSocketOptions } from './datagram-socket.js';
export type { Arrival } from './arrivals.js';
export type { Peer } from './peers.js';
