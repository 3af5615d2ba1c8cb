export const Verb = { SEND: 'send', WRITE: 'write', READ: 'read', ATOMIC: 'atomic' } as const;
export type Verb = (typeof Verb)[keyof typeof Verb];

/** Whether a test measures bandwidth or latency. */
export type Measure = 'bw' | 'lat';

/** Kinds of queue pairs, by the names that the C tools have for them. */
export const CONNECTIONS = ['RC', 'UC', 'UD', 'XRC'] as const;
export type Connection = (typeof CONNECTIONS)[number];

/** Whether what is lost on the way is sent again. */
export function isReliable(connection: Connection): boolean {
  return connection === 'RC' || connection === 'XRC';
}

/** When it is that both sides wait for each other: `both` means only when both sides send. */
type When = 'always' | 'both' | 'never';

/**
 * Where the two sides of a test wait for each other beyond the exchange of keys, which all of them do twice. Each wait is
 * an exchange of keys as well, so a side that has one too many or too few waits for ever.
 */
export interface Handshakes {
  readonly beforeKeys: boolean;
  /** Between the first exchange and the second: the queue pairs are connected. */
  readonly connected: boolean;
  readonly afterKeys: boolean;
  readonly beforeRun: When;
  /** Only with -a, after each size. */
  readonly afterSize: When;
  /** The passive side is told when the run is over, and its result. */
  readonly beforeReport: boolean;
  readonly atEnd: boolean;
}

export interface PerfTest {
  readonly name: string;
  readonly summary: string;
  readonly verb: Verb;
  readonly measure: Measure;
  readonly title: string;
  readonly connections: readonly Connection[];
  readonly sizeBytes: number;
  readonly iterations: number;
  readonly handshakes: Handshakes;
}

const SIZE_BW = 65536;
const SIZE_LAT = 2;
export const SIZE_ATOMIC = 8;
const ITERATIONS = 1000;
const ITERATIONS_WRITE_BW = 5000;

const SENDING: Handshakes = {
  beforeKeys: false,
  connected: true,
  afterKeys: false,
  beforeRun: 'always',
  afterSize: 'never',
  beforeReport: false,
  atEnd: true,
};
const STREAMING: Handshakes = {
  beforeKeys: false,
  connected: false,
  afterKeys: true,
  beforeRun: 'both',
  afterSize: 'both',
  beforeReport: true,
  atEnd: true,
};
const ASKING: Handshakes = {
  beforeKeys: true,
  connected: false,
  afterKeys: true,
  beforeRun: 'never',
  afterSize: 'never',
  beforeReport: false,
  atEnd: true,
};

const SEND = { verb: Verb.SEND, title: 'Send', connections: CONNECTIONS };
const WRITE = { verb: Verb.WRITE, title: 'RDMA_Write', connections: ['RC', 'UC', 'XRC'] } as const;
const READ = { verb: Verb.READ, title: 'RDMA_Read', connections: ['RC', 'XRC'] } as const;
const ATOMIC = { verb: Verb.ATOMIC, title: 'Atomic', connections: ['RC', 'XRC'] } as const;
const BW = { measure: 'bw', sizeBytes: SIZE_BW, iterations: ITERATIONS } as const;
const LAT = { measure: 'lat', sizeBytes: SIZE_LAT, iterations: ITERATIONS } as const;

/** The tests, by the names of the C tools. */
export const PERF_TESTS: readonly PerfTest[] = [
  {
    name: 'ib_send_bw',
    summary: 'measure the bandwidth of SEND',
    ...SEND,
    ...BW,
    handshakes: { ...SENDING, afterSize: 'always' },
  },
  { name: 'ib_send_lat', summary: 'measure the latency of SEND', ...SEND, ...LAT, handshakes: SENDING },
  {
    name: 'ib_write_bw',
    summary: 'measure the bandwidth of RDMA WRITE',
    ...WRITE,
    ...BW,
    iterations: ITERATIONS_WRITE_BW,
    handshakes: STREAMING,
  },
  {
    name: 'ib_write_lat',
    summary: 'measure the latency of RDMA WRITE',
    ...WRITE,
    ...LAT,
    // Each side sees for itself when the run is over.
    handshakes: { ...ASKING, atEnd: false },
  },
  {
    name: 'ib_read_bw',
    summary: 'measure the bandwidth of RDMA READ',
    ...READ,
    ...BW,
    handshakes: STREAMING,
  },
  { name: 'ib_read_lat', summary: 'measure the latency of RDMA READ', ...READ, ...LAT, handshakes: ASKING },
  {
    name: 'ib_atomic_bw',
    summary: 'measure the rate of atomic operations',
    ...ATOMIC,
    ...BW,
    sizeBytes: SIZE_ATOMIC,
    handshakes: STREAMING,
  },
  {
    name: 'ib_atomic_lat',
    summary: 'measure the latency of atomic operations',
    ...ATOMIC,
    ...LAT,
    sizeBytes: SIZE_ATOMIC,
    handshakes: ASKING,
  },
];
