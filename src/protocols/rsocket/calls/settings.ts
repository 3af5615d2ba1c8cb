import { type CmId, CmOption } from '../../../api/rdmacm/index.js';
import type { StreamOptions } from '../stream/options.js';

/** The options of a socket, as they were set. A socket that is accepted begins with those of the listener. */
export interface Settings {
  /** `RDMA_SQSIZE`, `RDMA_RQSIZE`, `RDMA_INLINE`, `RDMA_IOMAPSIZE`. */
  sqSize: number;
  rqSize: number;
  inlineBytes: number;
  iomapSize: number;
  /** As stored: double of what was set, as with sockets of the kernel. */
  sendBufferBytes: number;
  receiveBufferBytes: number;
  keepAlive: boolean;
  keepIdleSeconds: number;
  tos: number;
  reuseAddr: boolean;
  ipv6Only: boolean;
  /** Those that are kept and have no effect, by name. */
  readonly switches: Map<string, number>;
  /** `O_NONBLOCK`. */
  isNonblocking: boolean;
  descriptorFlags: number;
}

const MIN_QUEUE = 16;
const DEFAULT_QUEUE = 384;
const DEFAULT_INLINE = 64;
const DEFAULT_BUFFER = 131_072;
/** Linux's, of `/proc/sys/net/ipv4/tcp_keepalive_time`. */
const DEFAULT_KEEP_IDLE_S = 7200;

export function defaultSettings(): Settings {
  return {
    sqSize: DEFAULT_QUEUE,
    rqSize: DEFAULT_QUEUE,
    inlineBytes: DEFAULT_INLINE,
    iomapSize: 0,
    sendBufferBytes: DEFAULT_BUFFER,
    receiveBufferBytes: DEFAULT_BUFFER,
    keepAlive: false,
    keepIdleSeconds: DEFAULT_KEEP_IDLE_S,
    tos: 0,
    reuseAddr: false,
    ipv6Only: false,
    switches: new Map(),
    isNonblocking: false,
    descriptorFlags: 0,
  };
}

export function inherited(settings: Settings): Settings {
  return { ...settings, switches: new Map(settings.switches) };
}

/** What a stream is made with: queues that are too small are made larger, as in C. */
export function streamOptions(settings: Settings): StreamOptions {
  const { inlineBytes, iomapSize, sendBufferBytes, receiveBufferBytes } = settings;
  const sqSize = Math.max(MIN_QUEUE, settings.sqSize);
  const rqSize = Math.max(MIN_QUEUE, settings.rqSize);
  return { sqSize, rqSize, inlineBytes, iomapSize, sendBufferBytes, receiveBufferBytes };
}

/** Sets what an identifier has to know before it has an address. */
export function setBefore(id: CmId, { reuseAddr, ipv6Only }: Settings): void {
  id.setOption(CmOption.REUSEADDR, reuseAddr);
  id.setOption(CmOption.AFONLY, ipv6Only);
}
