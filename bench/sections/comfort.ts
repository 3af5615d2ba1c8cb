import { messengerCrowd, messengerEcho, messengerRate } from '../measure/comfort.js';
import { once } from '../measure/measurement.js';
import type { MessengerName } from '../peers/messengers/index.js';
import type { Way } from '../measure/rdma.js';
import { type NamedWay, type Row, type SectionMaker, type Unit, WAYS } from './section.js';

const ECHO_BYTES = 64;
const RATE_BYTES = 8;
const WINDOW = 64;
const CROWD = 10_000;

/** Where nothing of ours is, it does not matter how a NIC is hosted. */
const NONE: Way = { host: 'inline', link: 'udp' };
const OURS: readonly (readonly [MessengerName, string])[] = [
  ['raw', 'the raw calls'],
  ['messages', 'verbena/messages'],
];
const LAYERS: readonly (readonly [MessengerName, string])[] = [
  ['rsocket', 'verbena/net over rsockets'],
  ['ucp', 'verbena/ucp, tags'],
  ['xio', 'verbena/xio, messages one way'],
];
const OTHERS: readonly (readonly [MessengerName, string])[] = [
  ['net', 'node:net'],
  ['ws', 'ws'],
];

const rowOf = (id: string, name: MessengerName, what: string, way: NamedWay): Pick<Row, 'id' | 'what'> => ({
  id: `${id}.${name}.${way.id}`,
  what: `${what}, ${way.name}`,
});

function rows(id: string, unit: Unit, measure: (name: MessengerName, way: Way) => Row['measure']): Row[] {
  return [
    ...WAYS.flatMap((way) =>
      OURS.map(([name, what]): Row => ({
        ...rowOf(id, name, what, way),
        unit,
        measure: measure(name, way),
      })),
    ),
    ...WAYS.filter(({ link }) => link === 'udp').flatMap((way) =>
      LAYERS.map(([name, what]): Row => ({
        ...rowOf(id, name, what, way),
        unit,
        measure: measure(name, way),
      })),
    ),
    ...OTHERS.map(([name, what]): Row => ({ id: `${id}.${name}`, what, unit, measure: measure(name, NONE) })),
  ];
}

/** What a program pays for being spared the bookkeeping. */
export const comfort: SectionMaker = ({ effort }) => ({
  title: `Awaited messages: echo of ${ECHO_BYTES} B there and back; messages of ${RATE_BYTES} B, ${WINDOW} at a time`,
  rows: [
    ...rows(
      'comfort.echo',
      'µs',
      (name, way) => () => messengerEcho(name, way, { bytes: ECHO_BYTES, restMs: 0, effort }),
    ),
    ...rows('comfort.rate', '10^6/s', (name, way) => () => messengerRate(name, way, RATE_BYTES, WINDOW, effort)),
  ],
});

/** What each of many connections costs both ends together. */
export const comfortCrowd: SectionMaker = () => ({
  title: `A connection for awaited messages, of ${CROWD.toLocaleString('en')} between two processes`,
  rows: (
    [
      ['messages', 'verbena/messages, inline, UDP'],
      ['net', 'node:net'],
      ['ws', 'ws'],
    ] as const
  ).flatMap(([name, what]): Row[] => {
    const cost = once(() => messengerCrowd(name, NONE, CROWD));
    return [
      {
        id: `comfort.crowd.time.${name}`,
        what: `time to make, ${what}`,
        unit: 'µs',
        measure: async () => (await cost()).time,
      },
      {
        id: `comfort.crowd.memory.${name}`,
        what: `memory, ${what}`,
        unit: 'KiB',
        measure: async () => (await cost()).memory,
      },
    ];
  }),
});
