/** What the project wants to reach, as data, and what of it is reached. */

/** The median of a row by its id, or by `ID@p99` what 99 % of its times do not exceed; undefined when it was not measured. */
export type Figures = (id: string) => number | undefined;

/** One aim: a number made of figures, and the bound that it is to keep. */
export interface Aim {
  readonly what: string;
  /** What the number is made of; it is looked up in this order. */
  readonly of: readonly string[];
  /** Default: the first figure itself. */
  readonly number?: (...figures: readonly number[]) => number;
  readonly unit: string;
  readonly bound: { readonly atMost: number } | { readonly atLeast: number };
}

export interface Standing {
  readonly aim: Aim;
  /** The number; undefined when something of it was not measured. */
  readonly reached: number | undefined;
  readonly verdict: string;
  readonly met: boolean | undefined;
}

const ratio = (a: number, b: number): number => a / b;
const difference = (a: number, b: number): number => a - b;
const UCP_SIZES = [
  ['64 KiB', 65_536],
  ['1 MiB', 1_048_576],
] as const;
const TIMES = 'times';
const SEND = 'latency.64.inline.udp';
const WRITE_64K = 'write.65536.inline.udp';
const SIZES = [
  ['64 KiB', 'write.65536'],
  ['1 MiB', 'write.1048576'],
] as const;

const ECHO_BYTES = [
  ['64 B', 'echo.64'],
  ['4 KiB', 'echo.4096'],
] as const;
const WAYS = ['inline.shm', 'inline.udp', 'thread.shm', 'thread.udp'] as const;

/** Of the key-value store: how it is asked, for what, and how often as much as Redis it is to answer. */
const KV_RATES = [
  ['alone', 'get', 'one client, GET', 5],
  ['alone', 'set', 'one client, SET', 5],
  ['crowd', 'get', '50 clients, GET', 3],
  ['crowd', 'set', '50 clients, SET', 3],
  ['pipelined', 'get', '50 clients x 16, GET', 1],
  ['pipelined', 'set', '50 clients x 16, SET', 1.5],
] as const;
const REDIS = ['redis.tcp', 'redis.unix'] as const;

export const AIMS: readonly Aim[] = [
  {
    what: 'SEND of 64 B, inline, UDP: of the bare UDP spin',
    of: [SEND, 'latency.64.bare-udp'],
    number: ratio,
    unit: TIMES,
    bound: { atMost: 1.5 },
  },
  {
    what: 'SEND of 64 B, inline, UDP: of UCX tag over TCP',
    of: [SEND, 'latency.64.ucx.tcp'],
    number: ratio,
    unit: TIMES,
    bound: { atMost: 1 },
  },
  {
    what: 'SEND of 64 B, inline, UDP: of libfabric over TCP',
    of: [SEND, 'latency.64.libfabric.tcp'],
    number: ratio,
    unit: TIMES,
    bound: { atMost: 1 },
  },
  {
    what: 'SEND of 64 B, thread, UDP: of node:net',
    of: ['latency.64.thread.udp', 'latency.64.net'],
    number: ratio,
    unit: TIMES,
    bound: { atMost: 0.25 },
  },
  ...SIZES.flatMap(([size, id]): readonly Aim[] => [
    { what: `WRITE of ${size}, inline, UDP`, of: [`${id}.inline.udp`], unit: 'GB/s', bound: { atLeast: 4 } },
    {
      what: `WRITE of ${size}, inline, UDP: of UCX put over TCP`,
      of: [`${id}.inline.udp`, `${id}.ucx.tcp`],
      number: ratio,
      unit: TIMES,
      bound: { atLeast: 2 },
    },
    {
      what: `WRITE of ${size}, inline, UDP: of libfabric over TCP`,
      of: [`${id}.inline.udp`, `${id}.libfabric.tcp`],
      number: ratio,
      unit: TIMES,
      bound: { atLeast: 1 },
    },
  ]),
  {
    what: 'READ of 64 KiB, inline, UDP: of the WRITE',
    of: ['read.65536.inline.udp', WRITE_64K],
    number: ratio,
    unit: TIMES,
    bound: { atLeast: 0.8 },
  },
  { what: 'WRITEs of 8 B in lists, inline, UDP', of: ['rate.8.inline.udp'], unit: '10^6/s', bound: { atLeast: 1 } },
  {
    what: 'WRITEs of 8 B in lists, inline, UDP: of UCX put over TCP',
    of: ['rate.8.inline.udp', 'rate.8.ucx.tcp'],
    number: ratio,
    unit: TIMES,
    bound: { atLeast: 2 },
  },
  ...(['tag', 'am'] as const).flatMap((name): readonly Aim[] => [
    {
      what: `UCP ${name} of 8 B, inline, UDP: above our SEND`,
      of: [`ucp.${name}.8.rc.inline.udp`, 'ucp.send.8.inline.udp'],
      number: difference,
      unit: 'µs',
      bound: { atMost: 1 },
    },
    {
      what: `UCP ${name} of 8 B, inline, UDP: of UCX over TCP`,
      of: [`ucp.${name}.8.rc.inline.udp`, `ucp.${name}.8.ucx.tcp`],
      number: ratio,
      unit: TIMES,
      bound: { atMost: 1 },
    },
  ]),
  ...(['put', 'get'] as const).flatMap((name) =>
    UCP_SIZES.map(([size, bytes]): Aim => ({
      what: `UCP ${name} of ${size}, inline, UDP: of UCX over TCP`,
      of: [`ucp.${name}.${bytes}.rc.inline.udp`, `ucp.${name}.${bytes}.ucx.tcp`],
      number: ratio,
      unit: TIMES,
      bound: { atLeast: 2 },
    })),
  ),
  {
    what: 'UCP active messages of 8 B, inline, UDP: of UCX over TCP',
    of: ['ucp.am-rate.8.rc.inline.udp', 'ucp.am-rate.8.ucx.tcp'],
    number: ratio,
    unit: TIMES,
    bound: { atLeast: 1 },
  },
  ...UCP_SIZES.map(([size, bytes]): Aim => ({
    what: `UCP allreduce of ${size} by 8 processes, UDP: of OpenMPI over TCP`,
    of: [`ucp.allreduce.${bytes}.udp`, `ucp.allreduce.${bytes}.mpi`],
    number: ratio,
    unit: TIMES,
    bound: { atLeast: 1 },
  })),
  { what: 'SEND of 64 B, inline, shared memory', of: ['latency.64.inline.shm'], unit: 'µs', bound: { atMost: 1 } },
  {
    what: 'WRITE of 64 KiB, inline, shared memory',
    of: ['write.65536.inline.shm'],
    unit: 'GB/s',
    bound: { atLeast: 15 },
  },
  ...(['inline', 'thread'] as const).map((host): Aim => ({
    what: `32 queue pairs, ${host}, shared memory: of UDP`,
    of: [`crowd.32.${host}.shm`, `crowd.32.${host}.udp`],
    number: ratio,
    unit: TIMES,
    bound: { atLeast: 1 },
  })),
  {
    what: '16 senders to one receiver: of one',
    of: ['incast.16', 'incast.1'],
    number: ratio,
    unit: TIMES,
    bound: { atLeast: 0.8 },
  },
  { what: '16 senders: the least of them', of: ['incast.16.least'], unit: 'of a fair share', bound: { atLeast: 0.5 } },
  {
    what: 'a WRITE on each of 10,000 queue pairs: of one',
    of: ['qps.10000', 'qps.1'],
    number: ratio,
    unit: TIMES,
    bound: { atMost: 1.2 },
  },
  ...(['inline', 'thread'] as const).map((host): Aim => ({
    what: `an idle device, ${host}`,
    of: [`idle.${host}`],
    unit: '% of a processor',
    bound: { atMost: 0.2 },
  })),
  ...ECHO_BYTES.flatMap(([size, id]): readonly Aim[] => [
    {
      what: `awaited echo of ${size}, inline, shared memory`,
      of: [`${id}.inline.shm`],
      unit: 'µs',
      bound: { atMost: 20 },
    },
    { what: `awaited echo of ${size}, inline, UDP`, of: [`${id}.inline.udp`], unit: 'µs', bound: { atMost: 30 } },
    ...(['shm', 'udp'] as const).map((link): Aim => ({
      what: `awaited echo of ${size}, thread, ${link}: of node:net`,
      of: [`${id}.thread.${link}`, `${id}.net`],
      number: ratio,
      unit: TIMES,
      bound: { atMost: 1 },
    })),
    ...WAYS.map((way): Aim => ({
      what: `awaited echo of ${size}, ${way}: 99 % of the median`,
      of: [`${id}.${way}@p99`, `${id}.${way}`],
      number: ratio,
      unit: TIMES,
      bound: { atMost: 4 },
    })),
  ]),
  ...WAYS.flatMap((way): readonly Aim[] => [
    {
      what: `awaited echo after a rest, ${way}: of node:net`,
      of: [`echo.rest.${way}`, 'echo.rest.net'],
      number: ratio,
      unit: TIMES,
      bound: { atMost: 1 },
    },
    { what: `awaiting, ${way}`, of: [`echo.idle.${way}`], unit: '% of a processor', bound: { atMost: 0.5 } },
  ]),
  ...WAYS.flatMap((way): readonly Aim[] => [
    {
      what: `awaited echo of 64 B by verbena/messages, ${way}: more than by the raw calls`,
      of: [`comfort.echo.messages.${way}`, `comfort.echo.raw.${way}`],
      number: (a, b) => a - b,
      unit: 'µs',
      // An echo has two messages.
      bound: { atMost: 2 },
    },
    {
      what: `rate of 8 B by verbena/messages, ${way}: of the raw calls`,
      of: [`comfort.rate.messages.${way}`, `comfort.rate.raw.${way}`],
      number: ratio,
      unit: TIMES,
      bound: { atLeast: 0.85 },
    },
  ]),
  ...(['inline.shm', 'inline.udp'] as const).flatMap((way): readonly Aim[] => [
    {
      what: `rsocket, 64 B one way, ${way}: of node:net`,
      of: [`rsocket.latency.${way}`, 'rsocket.latency.net'],
      number: ratio,
      unit: TIMES,
      bound: { atMost: 0.5 },
    },
    {
      what: `rsocket, 64 B one way, ${way}: more than SEND and recvComp`,
      of: [`rsocket.latency.${way}`, `rsocket.latency.raw.${way}`],
      number: (a, b) => a - b,
      unit: 'µs',
      bound: { atMost: 1.5 },
    },
  ]),
  ...(
    [
      ['64 KiB', 65_536],
      ['1 MiB', 1_048_576],
    ] as const
  ).flatMap(([size, bytes]) =>
    (
      [
        ['inline.udp', 1],
        ['thread.udp', 1],
        ['inline.shm', 3],
        ['thread.shm', 3],
      ] as const
    ).map(([way, times]): Aim => ({
      what: `rsocket, stream of ${size}, ${way}: of node:net`,
      of: [`rsocket.stream.${bytes}.${way}`, `rsocket.stream.${bytes}.net`],
      number: ratio,
      unit: TIMES,
      bound: { atLeast: times },
    })),
  ),
  ...WAYS.map((way): Aim => ({
    what: `1,000 silent rsockets, ${way}`,
    of: [`rsocket.idle.${way}`],
    unit: '% of a processor',
    bound: { atMost: 0.5 },
  })),
  ...WAYS.map((way): Aim => ({
    what: `HTTP requests by rsockets, ${way}: of TCP`,
    of: [`rsocket.http.${way}`, 'rsocket.http.net'],
    number: ratio,
    unit: TIMES,
    bound: { atLeast: 1 },
  })),
  ...WAYS.flatMap((way): readonly Aim[] => [
    ...KV_RATES.map(([load, operation, what, times]): Aim => ({
      what: `kv, ${what}, ${way}: of Redis at its best`,
      of: [`kv.${load}.${operation}.${way}`, ...REDIS.map((redis) => `kv.${load}.${operation}.${redis}`)],
      number: (ours, ...others) => ours / Math.max(...others),
      unit: TIMES,
      bound: { atLeast: times },
    })),
    ...(['get', 'set'] as const).map((operation): Aim => ({
      what: `kv, time of a ${operation.toUpperCase()}, ${way}: of Redis at its best`,
      of: [`kv.latency.${operation}.${way}`, ...REDIS.map((redis) => `kv.latency.${operation}.${redis}`)],
      number: (ours, ...others) => ours / Math.min(...others),
      unit: TIMES,
      bound: { atMost: 0.2 },
    })),
  ]),
  ...WAYS.flatMap((way): readonly Aim[] => [
    {
      what: `xio, request of 32 B, ${way}: time of gRPC's`,
      of: [`xio.latency.32.1.${way}`, 'xio.latency.32.1.grpc'],
      number: ratio,
      unit: TIMES,
      bound: { atMost: 0.25 },
    },
    {
      what: `xio, requests of 32 B, 64 at a time, ${way}: of gRPC`,
      of: [`xio.rate.32.64.${way}`, 'xio.rate.32.64.grpc'],
      number: ratio,
      unit: TIMES,
      bound: { atLeast: 5 },
    },
    {
      what: `xio, requests of 1 MiB, 64 at a time, ${way}: of gRPC`,
      of: [`xio.rate.1048576.64.${way}`, 'xio.rate.1048576.64.grpc'],
      number: ratio,
      unit: TIMES,
      bound: { atLeast: 2 },
    },
  ]),
  {
    what: 'SEND of 64 B, C programs under one launcher',
    of: ['run.latency.64.one'],
    unit: 'µs',
    bound: { atMost: 20 },
  },
  {
    what: 'WRITE of 64 KiB, C programs under one launcher',
    of: ['run.write.65536.one'],
    unit: 'GB/s',
    bound: { atLeast: 2.5 },
  },
  {
    what: 'start of a C program: what the launcher adds',
    of: ['run.start', 'run.start.alone'],
    number: (launched, alone) => launched - alone,
    unit: 'ms',
    bound: { atMost: 300 },
  },
  ...(
    [
      [64, 20],
      [1024, 8],
    ] as const
  ).map(([bytes, atLeast]): Aim => ({
    what: `captures, packets of ${bytes} B: read and checked, of tshark`,
    of: [`captures.${bytes}.index`, `captures.${bytes}.tshark`],
    number: ratio,
    unit: TIMES,
    bound: { atLeast },
  })),
  { what: 'captures, explain: memory a packet', of: ['captures.64.explain.memory'], unit: 'B', bound: { atMost: 200 } },
];

function verdictOf(reached: number, bound: Aim['bound']): { readonly met: boolean; readonly verdict: string } {
  const missedBy = 'atMost' in bound ? reached / bound.atMost - 1 : 1 - reached / bound.atLeast;
  if (missedBy <= 0) return { met: true, verdict: 'met' };
  return { met: false, verdict: `missed by ${Math.max(1, Math.round(missedBy * 100))} %` };
}

export function standingOf(aim: Aim, figures: Figures): Standing {
  const values = aim.of.map(figures);
  const missing = aim.of.filter((_, i) => values[i] === undefined);
  if (missing.length > 0)
    return { aim, reached: undefined, met: undefined, verdict: `not measured: ${missing.join(', ')}` };
  const known = values.filter((value) => value !== undefined);
  const reached = aim.number === undefined ? known[0] : aim.number(...known);
  return { aim, reached, ...verdictOf(reached, aim.bound) };
}
