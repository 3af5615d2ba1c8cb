import { isIP } from 'node:net';
import { lookUpFrom } from '../../api/provider/index.js';
import { connectStream, listenStreams } from '../rsocket/index.js';
import type { Transport } from './transport.js';

/** Streams of rsockets. */
export const rsockets: Transport = {
  resolve: async (host, family, context) => {
    const found = await lookUpFrom(context, 'rdma_getaddrinfo', host, family);
    // That of IPv6 loopback is one only, which somebody may have already.
    return [...found].sort((a, b) => isIP(a) - isIP(b));
  },
  connect: connectStream,
  listen: listenStreams,
};
