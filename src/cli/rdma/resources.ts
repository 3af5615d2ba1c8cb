import { MigState, PortSpace, type PublishedQp, type PublishedStatistics, QpState, QpType } from '../../entry/index.js';
import {
  deviceOf,
  type Facts,
  isWanted,
  linkOf,
  match,
  processFacts,
  type Row,
  running,
  summaryOf,
  whose,
} from './facts.js';

/** As iproute2 names them. */
const QP_TYPES = new Map<number, string>([
  [QpType.RC, 'RC'],
  [QpType.UC, 'UC'],
  [QpType.UD, 'UD'],
  [QpType.RAW_PACKET, 'RAW_PACKET'],
  [QpType.XRC_SEND, 'XRC_INI'],
  [QpType.XRC_RECV, 'XRC_TGT'],
]);

/** Types that have one peer. */
const CONNECTED: ReadonlySet<number> = new Set([QpType.RC, QpType.UC, QpType.XRC_SEND, QpType.XRC_RECV]);

const QP_STATES = new Map<number, string>(Object.entries(QpState).map(([name, state]) => [state, name]));
const MIG_STATES = new Map<number, string>(Object.entries(MigState).map(([name, state]) => [state, name]));

/** Port spaces, as iproute2 names them. */
const PORT_SPACES = new Map<number, string>([
  [PortSpace.IPOIB, 'IPoIB'],
  [PortSpace.IB, 'IPoIB'],
  [PortSpace.TCP, 'TCP'],
  [PortSpace.UDP, 'UDP'],
]);

/** Numbers of up to 32 bits as iproute2 prints keys. */
const hex = (value: number): { readonly hex: string } => ({ hex: value.toString(16) });

interface Shown {
  readonly facts: Facts;
  /** Facts after the process. */
  readonly more?: Facts;
  readonly details?: Facts;
  readonly pid?: number | undefined;
}

/** A kind of objects: how many there are, and what each is, in the order of iproute2's words. */
interface ObjectKind {
  readonly count: keyof PublishedStatistics['counts'];
  readonly name: string;
  /** Whether they belong to a port, as queue pairs do, or to the device. */
  readonly ofPort?: true;
  readonly filters: readonly string[];
  readonly show: (nic: PublishedStatistics) => readonly Shown[];
}

const optional = (name: string, value: string | number | undefined): Facts =>
  value === undefined ? [] : [[name, value]];

/** In the order in which Linux counts them. */
const KINDS = {
  pd: {
    count: 'pd',
    name: 'protection domains',
    filters: ['pdn', 'users', 'ctxn'],
    show: ({ pds }) =>
      pds.map(({ pd, users, ctx, pid }) => ({
        facts: [
          ['pdn', pd],
          ['users', users],
          ['ctxn', ctx],
        ],
        pid,
      })),
  },
  cq: {
    count: 'cq',
    name: 'completion queues',
    filters: ['cqn', 'users', 'ctxn'],
    show: ({ cqs }) =>
      cqs.map(({ cqn, cqe, users, ctx, pid }) => ({
        facts: [
          ['cqn', cqn],
          ['cqe', cqe],
          ['users', users],
          ['adaptive-moderation', false],
          ['ctxn', ctx],
        ],
        pid,
      })),
  },
  qp: {
    count: 'qp',
    name: 'queue pairs',
    ofPort: true,
    filters: ['lqpn', 'rqpn', 'type', 'state', 'rq-psn', 'sq-psn', 'path-mig-state', 'pdn', 'comm'],
    show: ({ qps }) => qps.map((qp) => ({ facts: qpFacts(qp), details: Object.entries(qp.counters), pid: qp.pid })),
  },
  cm_id: {
    count: 'cmId',
    name: 'rdma_cm identifiers',
    ofPort: true,
    filters: ['cm-idn', 'lqpn', 'qp-type', 'state', 'ps', 'src-addr', 'dst-addr'],
    show: ({ cmIds, qps }) =>
      cmIds.map(({ id, portSpace, state, qpn, source, destination, pid }) => {
        const type = qps.find((qp) => qp.qpn === qpn)?.type;
        return {
          facts: [
            ['cm-idn', id],
            ...optional('lqpn', qpn),
            ...optional('qp-type', type === undefined ? undefined : (QP_TYPES.get(type) ?? 'UNKNOWN')),
            ['state', state],
            ['ps', PORT_SPACES.get(portSpace) ?? '---'],
          ],
          more: [...optional('src-addr', source), ...optional('dst-addr', destination)],
          pid,
        };
      }),
  },
  mr: {
    count: 'mr',
    name: 'memory regions',
    filters: ['mrn', 'rkey', 'lkey', 'mrlen', 'pdn'],
    show: ({ mrs }) =>
      mrs.map(({ handle, rkey, lkey, iova, lengthBytes, pd, pid }) => ({
        facts: [
          ['mrn', handle],
          ['rkey', hex(rkey)],
          ['lkey', hex(lkey)],
          ['iova', { hex: iova }],
          ['mrlen', lengthBytes],
          ['pdn', pd],
        ],
        pid,
      })),
  },
  ctx: {
    count: 'ctx',
    name: 'contexts',
    filters: ['ctxn'],
    show: ({ contexts }) => contexts.map(({ ctx, pid }) => ({ facts: [['ctxn', ctx]], pid })),
  },
  srq: {
    count: 'srq',
    name: 'shared receive queues',
    filters: ['srqn', 'type', 'lqpn', 'pdn', 'cqn'],
    show: ({ srqs }) =>
      srqs.map(({ srqn, isXrc, qpns, pd, cqn, pid }) => ({
        facts: [
          ['srqn', srqn],
          ['type', isXrc ? 'XRC' : 'BASIC'],
          ...(qpns.length === 0 ? [] : [['lqpn', qpns.map(String)] as const]),
          ['pdn', pd],
          ...optional('cqn', cqn),
        ],
        pid,
      })),
  },
} as const satisfies Readonly<Record<string, ObjectKind>>;
const NAMES: readonly (keyof typeof KINDS)[] = ['qp', 'cm_id', 'cq', 'mr', 'pd', 'ctx', 'srq'];

/** `[KIND] [link DEV/PORT|dev DEV|ADDRESS] [FACT VALUE...]`. */
export function lookAtResources(words: readonly string[]): Row[] {
  const name = match(words[0], NAMES);
  if (name === undefined) return summaries(words);
  const kind: ObjectKind = KINDS[name];
  const { nics, wanted } = running(words.slice(1), kind.filters);
  return nics.flatMap((nic) => {
    const shown = kind.show(nic);
    const count = nic.counts[kind.count];
    if (shown.length < count)
      process.stderr.write(`Of the ${count} ${kind.name} at ${nic.address}, the ${shown.length} made first:\n`);
    return shown
      .map(({ facts, more = [], details = [], pid }) => ({
        ...(kind.ofPort === true ? linkOf(nic) : deviceOf(nic)),
        facts: [...facts, ['address', nic.address] as const, ...processFacts(pid ?? nic.pid), ...more],
        details,
      }))
      .filter(({ facts }) => isWanted(facts, wanted));
  });
}

/** A line for each NIC: how many objects of each kind it has. */
function summaries(words: readonly string[]): Row[] {
  const { nics, wanted } = running(words);
  return nics
    .map((nic) => {
      const counts = Object.entries(KINDS).map(([kind, { count }]) => [kind, nic.counts[count]] as const);
      return {
        ...summaryOf(nic),
        facts: [...counts, ...whose(nic)],
      };
    })
    .filter(({ facts }) => isWanted(facts, wanted));
}

function qpFacts({ qpn, destQpn, type, state, rqPsn, sqPsn, pathMigState, pd }: PublishedQp): Facts {
  const connected = CONNECTED.has(type);
  return [
    ['lqpn', qpn],
    ...(connected && destQpn !== 0 ? [['rqpn', destQpn] as const] : []),
    ['type', QP_TYPES.get(type) ?? 'UNKNOWN'],
    ['state', QP_STATES.get(state) ?? 'UNKNOWN'],
    ...(connected ? [['rq-psn', rqPsn] as const] : []),
    ['sq-psn', sqPsn],
    ...(connected ? [['path-mig-state', MIG_STATES.get(pathMigState) ?? 'UNKNOWN'] as const] : []),
    ['pdn', pd],
  ];
}
