import { echoRoundTrip } from '../measure/echo.js';
import { once, repeat } from '../measure/measurement.js';
import { httpRate } from '../measure/http.js';
import { netBandwidth, netLatency } from '../measure/net.js';
import { runProblem } from '../measure/run.js';
import { idleStreams, rstreamInC, RSTREAM, streamBandwidth, streamLatency } from '../measure/streams.js';
import { bytesName, type Row, type SectionMaker, WAYS } from './section.js';

const KIB = 1024;
const SIZES = [64 * KIB, KIB * KIB];
const MESSAGE_BYTES = 64;
const IDLE = 1000;
const CONNECTIONS = 10;
/** Transfers of C's rstream. */
const ROUNDS = 3000;
const BYTES = 256 * KIB * KIB;

const IN_C = { needs: RSTREAM, ...(runProblem === undefined ? {} : { problem: runProblem }) };

/** Streams of rsockets, whose programs are told by the event loop, beside TCP and beside C's. */
export const streams: SectionMaker = ({ effort, times, idleSeconds }) => {
  const task = { bytes: MESSAGE_BYTES, restMs: 0, effort };
  const inC = (bytes: number, count: number): (() => Promise<{ us: number; rate: number }>) =>
    once(() => rstreamInC(bytes, count));
  const latency: Row[] = [
    ...WAYS.flatMap((way): Row[] => [
      {
        id: `rsocket.latency.${way.id}`,
        what: `${MESSAGE_BYTES} B one way, rsocket, ${way.name}`,
        unit: 'µs',
        measure: () => streamLatency(way, task),
      },
      {
        id: `rsocket.latency.raw.${way.id}`,
        what: `${MESSAGE_BYTES} B one way, SEND and recvComp, ${way.name}`,
        unit: 'µs',
        measure: async () => ({ samples: (await echoRoundTrip(way, task)).samples.map((us) => us / 2) }),
      },
    ]),
    {
      id: 'rsocket.latency.net',
      what: `${MESSAGE_BYTES} B one way, node:net`,
      unit: 'µs',
      measure: () => netLatency(MESSAGE_BYTES, effort),
    },
    {
      id: 'rsocket.latency.c',
      what: `${MESSAGE_BYTES} B one way, C's rstream by verbena run`,
      unit: 'µs',
      measure: async () => ({ samples: await repeat(times, async () => (await rstreamInC(MESSAGE_BYTES, ROUNDS)).us) }),
      ...IN_C,
    },
  ];
  const bandwidth = SIZES.flatMap((bytes): Row[] => {
    const c = inC(bytes, BYTES / bytes);
    return [
      ...WAYS.map((way): Row => ({
        id: `rsocket.stream.${bytes}.${way.id}`,
        what: `${bytesName(bytes)}, rsocket, ${way.name}`,
        unit: 'GB/s',
        measure: () => streamBandwidth(way, bytes, effort),
      })),
      {
        id: `rsocket.stream.${bytes}.net`,
        what: `${bytesName(bytes)}, node:net`,
        unit: 'GB/s',
        measure: () => netBandwidth(bytes, effort),
      },
      {
        id: `rsocket.stream.${bytes}.c`,
        what: `${bytesName(bytes)}, C's rstream by verbena run`,
        unit: 'GB/s',
        measure: async () => ({ samples: [(await c()).rate] }),
        ...IN_C,
      },
    ];
  });
  const idle = WAYS.map((way): Row => ({
    id: `rsocket.idle.${way.id}`,
    what: `${IDLE.toLocaleString('en')} silent streams, ${way.name}`,
    unit: '%',
    measure: () => idleStreams(way, IDLE, idleSeconds),
  }));
  const http = [undefined, ...WAYS].map((way): Row => ({
    id: `rsocket.http.${way?.id ?? 'net'}`,
    what: `HTTP requests, ${CONNECTIONS} connections, ${way?.name ?? 'TCP'}`,
    unit: '1/s',
    measure: async () => ({ samples: await httpRate(way, CONNECTIONS, effort) }),
  }));
  return {
    title: `Streams of rsockets: ${MESSAGE_BYTES} B there and back; pieces written as fast as they are taken; silence; HTTP`,
    rows: [...latency, ...bandwidth, ...idle, ...http],
  };
};
