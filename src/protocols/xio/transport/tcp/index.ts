import type { Transport } from '../index.js';
import { connect } from './connecting.js';
import { listen } from './listening.js';

/** Links over TCP, by node:net: for where there is no RDMA. */

/** Links over TCP: for where there is no RDMA. */
export const tcp: Transport = {
  scheme: 'tcp',
  connect,
  listen: (place, onLink) => listen(place, onLink),
};
