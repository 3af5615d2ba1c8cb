import { once } from '../measure/measurement.js';
import { type Echo, echoLatency, echoRate, verbRate } from '../measure/verbs.js';
import type { LinkKind } from '../measure/rdma.js';
import { type Design, type DesignLoad, designLoad, DESIGNS } from '../measure/designs.js';
import { INLINE_BYTES, type Verb } from '../peers/verbs-end.js';
import { LINKS, type Extent, type NamedWay, type Row, type Section, WAYS } from './section.js';

// What the authors of HERD measured (SIGCOMM 2014), on this NIC: verbs by transport, echoes, and the store beside designs that READ.

/** Where both NICs run in the program's thread: no other program has a part in a figure. */
const inlineBy = (link: LinkKind): NamedWay => {
  const way = WAYS.find((one) => one.link === link && one.host === 'inline');
  if (way === undefined) throw new Error(`no way over ${link}`);
  return way;
};

const verb = (transport: Verb['transport'], kind: Verb['verb'], inline = false): Verb => ({
  transport,
  verb: kind,
  inline,
});

const VERBS: readonly Verb[] = [
  verb('rc', 'read'),
  verb('rc', 'write'),
  verb('rc', 'write', true),
  verb('uc', 'write'),
  verb('uc', 'write', true),
  verb('rc', 'send'),
  verb('rc', 'send', true),
  verb('uc', 'send'),
  verb('uc', 'send', true),
  verb('ud', 'send'),
  verb('ud', 'send', true),
];

const nameOf = ({ verb: kind, transport, inline }: Verb): string =>
  `${kind.toUpperCase()}, ${transport.toUpperCase()}${inline ? ', inline' : ''}`;
const idOf = ({ verb: kind, transport, inline }: Verb): string => `${transport}.${kind}${inline ? '.inline' : ''}`;

const verbs = (link: LinkKind, bytes: number, { effort }: Extent): Section => ({
  title: `HERD's figures: verbs of ${bytes} B by transport, one way, in lists of 32, ${inlineBy(link).name}`,
  rows: VERBS.filter(({ inline }) => !inline || bytes <= INLINE_BYTES).map((one): Row => ({
    id: `verbs-${link}.${bytes}.${idOf(one)}`,
    what: nameOf(one),
    unit: '10^6/s',
    measure: () => verbRate(inlineBy(link), one, bytes, effort),
  })),
});

/** What asks and what answers, as the authors compare them; the last is HERD's. */
const ECHOES: Readonly<Record<string, Echo & { readonly name: string }>> = {
  'send-send.rc': { name: 'SEND, SEND: RC', request: verb('rc', 'send', true), answer: verb('rc', 'send', true) },
  'send-send.ud': { name: 'SEND, SEND: UD', request: verb('ud', 'send', true), answer: verb('ud', 'send', true) },
  'write-write.rc': { name: 'WRITE, WRITE: RC', request: verb('rc', 'write', true), answer: verb('rc', 'write', true) },
  'write-write.uc': { name: 'WRITE, WRITE: UC', request: verb('uc', 'write', true), answer: verb('uc', 'write', true) },
  'write-write.uc.copied': {
    name: 'WRITE, WRITE: UC, not inline',
    request: verb('uc', 'write'),
    answer: verb('uc', 'write'),
  },
  'write-send.herd': {
    name: 'WRITE, SEND: UC, UD',
    request: verb('uc', 'write', true),
    answer: verb('ud', 'send', true),
  },
  'read.rc': { name: 'READ: RC, which no program answers', request: verb('rc', 'read') },
};
const ECHO_BYTES = 32;

const echoes = (link: LinkKind, window: number, { effort }: Extent): Section => ({
  title: `HERD's figures: echo of ${ECHO_BYTES} B by verbs, ${window} at a time, ${inlineBy(link).name}`,
  rows: Object.entries(ECHOES).map(([id, { name, ...by }]): Row => ({
    id: `echoes-${link}.${window}.${id}`,
    what: name,
    unit: '10^6/s',
    measure: () => echoRate(inlineBy(link), by, ECHO_BYTES, window, effort),
  })),
});

const echoLatencies = (link: LinkKind, { effort }: Extent): Section => ({
  title: `HERD's figures: echo of ${ECHO_BYTES} B by verbs, there and back, ${inlineBy(link).name}`,
  rows: Object.entries(ECHOES).map(([id, { name, ...by }]): Row => ({
    id: `echo-latency.${link}.${id}`,
    what: name,
    unit: 'µs',
    measure: () => echoLatency(inlineBy(link), by, ECHO_BYTES, effort),
  })),
});

const DESIGN_NAMES: Readonly<Record<Design, string>> = {
  rc: 'requests by RC',
  uc: 'requests by UC (HERD)',
  ud: 'requests by UD',
  pilaf: 'GET by two READs (Pilaf)',
  farm: 'GET by one large READ (FaRM)',
};
const WINDOW = 16;
/** As most of the authors' figures have it. */
const TYPICAL = { valueBytes: 32, putPercent: 5 } as const;

/** @param x what of the load the plots have on their axis */
function store(
  way: NamedWay,
  by: 'put' | 'size',
  x: number,
  load: Omit<DesignLoad, 'design'>,
  { effort }: Extent,
): Section {
  const { valueBytes, putPercent, window } = load;
  const place = `${by}-${way.host}-${way.link}.${x}`;
  return {
    title: `HERD's figures: the store beside GETs by READ, ${putPercent} % PUT, values of ${valueBytes} B, ${way.name}; one client: ${window} at a time, then one`,
    rows: DESIGNS.flatMap((design): Row[] => {
      const figures = once(() => designLoad(way, { design, ...load }, effort));
      const what = DESIGN_NAMES[design];
      return [
        { id: `store-${place}.${design}`, what, unit: '1/s', measure: async () => (await figures()).rate },
        { id: `store-latency-${place}.${design}`, what, unit: 'µs', measure: async () => (await figures()).latency },
      ];
    }),
  };
}

const stores = (way: NamedWay, extent: Extent): readonly Section[] => [
  ...extent.putPercents.map((putPercent) =>
    store(way, 'put', putPercent, { ...TYPICAL, putPercent, window: WINDOW }, extent),
  ),
  ...extent.storeBytes.map((valueBytes) =>
    store(way, 'size', valueBytes, { ...TYPICAL, valueBytes, window: WINDOW }, extent),
  ),
];

/** How long a loop over verbs takes to become quick. */
const VERBS_WARM_UP_MS = 500;

/** All of them: `npm run bench -- --only herd`. */
export function herd(extent: Extent): readonly Section[] {
  const { effort, verbBytes, herdWindows } = extent;
  const quicker = { ...extent, effort: { ...effort, warmUpMs: Math.min(effort.warmUpMs, VERBS_WARM_UP_MS) } };
  return [
    ...LINKS.flatMap((link) => verbBytes.map((bytes) => verbs(link, bytes, quicker))),
    ...LINKS.flatMap((link) => [
      ...herdWindows.map((window) => echoes(link, window, quicker)),
      echoLatencies(link, quicker),
    ]),
    ...WAYS.filter(({ host, link }) => host === 'inline' || link === 'shm').flatMap((way) => stores(way, extent)),
  ];
}
