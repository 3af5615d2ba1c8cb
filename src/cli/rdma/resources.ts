import { MigState, type PublishedQp, QpState, QpType } from '../../entry/index.js';
import { ToolError } from '../kit/errors.js';
import { type Facts, linkOf, match, processFacts, running, type Row, whose } from './facts.js';

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

/** Objects that iproute2 lists and programs here do not publish. */
const UNPUBLISHED = ['cm_id', 'cq', 'mr', 'pd', 'ctx', 'srq'] as const;

/** Facts that queue pairs can be chosen by. */
const QP_FILTERS = [
  'lqpn',
  'rqpn',
  'type',
  'state',
  'rq-psn',
  'sq-psn',
  'path-mig-state',
  'pdn',
  'address',
  'pid',
  'comm',
];

/** `[qp [link DEV/PORT] [FACT VALUE...]]`, or `[DEV]`. */
export function lookAtResources(words: readonly string[]): Row[] {
  const [kind, ...rest] = words;
  const unpublished = UNPUBLISHED.find((name) => name === kind);
  if (unpublished !== undefined)
    throw new ToolError(
      `${unpublished}: not kept here: programs publish their queue pairs alone; rdma resource show qp lists them.`,
    );
  if (match(kind, ['qp']) === undefined) {
    if (rest.length > 0) throw new ToolError(`Unknown parameter '${kind}'.`);
    return resources(kind);
  }
  const link = match(rest[0], ['link']) === undefined ? undefined : rest.splice(0, 2)[1];
  const wanted = new Map<string, string>();
  for (let i = 0; i < rest.length; i += 2) {
    const name = match(rest[i], QP_FILTERS);
    const value = rest.at(i + 1);
    if (name === undefined || value === undefined) throw new ToolError(`Unknown parameter '${rest[i]}'.`);
    wanted.set(name, value);
  }
  return queuePairs(link, wanted);
}

/** A line for each NIC: how many objects of a kind it has. */
function resources(link: string | undefined): Row[] {
  return running(link).map((nic) => {
    const [index, name] = linkOf(nic).labelFacts;
    return {
      label: `${index[1]}: ${nic.device}:`,
      labelFacts: [index, name],
      facts: [['qp', nic.qpCount], ...whose(nic)],
    };
  });
}

/** The queue pairs, in the order of iproute2's words. `wanted` are facts that they are to have, whose values commas part. */
function queuePairs(link: string | undefined, wanted: ReadonlyMap<string, string>): Row[] {
  return running(link).flatMap((nic) => {
    const { length } = nic.qps;
    if (length < nic.qpCount)
      process.stderr.write(`Of the ${nic.qpCount} queue pairs at ${nic.address}, the ${length} made first:\n`);
    return nic.qps
      .map((qp) => ({
        ...linkOf(nic),
        facts: [...qpFacts(qp), ['address', nic.address] as const, ...processFacts(qp.pid ?? nic.pid)],
        details: Object.entries(qp.counters),
      }))
      .filter(({ facts }) =>
        [...wanted].every(([name, values]) =>
          facts.some(([key, value]) => key === name && values.split(',').includes(String(value))),
        ),
      );
  });
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
