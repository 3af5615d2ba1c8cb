/** The flame graphs that the bench draws. */
import type { Profiled } from '../measure/rdma.js';

export const FLAMES: readonly (Profiled & { readonly file: string; readonly title: string })[] = [
  {
    file: 'flame-latency.svg',
    title: 'A ping-pong of 64 bytes, inline, UDP: where the time of one side goes',
    way: { host: 'inline', link: 'udp' },
    what: 'ping',
    bytes: 64,
  },
  {
    file: 'flame-bandwidth.svg',
    title: 'WRITEs of 1 MiB, inline, UDP: where the time of the sender goes',
    way: { host: 'inline', link: 'udp' },
    what: 'write',
    bytes: 1 << 20,
  },
];
