import { getAddrInfo } from '../../api/rdmacm/index.js';
import { connectStream, listenStreams } from '../rsocket/index.js';
import type { Transport } from './transport.js';

/** Streams of rsockets. */
export const rsockets: Transport = {
  resolve: async (host, family) => {
    const found = await getAddrInfo(host, undefined, family === undefined ? {} : { family });
    // That of IPv6 loopback is one only, which somebody may have already.
    return found.sort((a, b) => a.family - b.family).map(({ dst }) => dst.host);
  },
  connect: connectStream,
  listen: listenStreams,
};
