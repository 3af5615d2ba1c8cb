/** Who talks to whom: each lane is a server and a client, by ways of their own, and what may be done to them. */
import type { HostKind, LinkKind } from '../../src/entry/index.js';
import { loopback } from '../../test/support/loopback.js';
import { type Card, type FaultKind } from './plan.js';
import { type MemberOptions, type Moment } from './protocol.js';

export interface MemberPlan {
  readonly name: string;
  readonly options: Omit<MemberOptions, 'seed'>;
  /**
   * Where it runs: in a network of its own, with a full disk; under another monotonic clock; under a time of day that is
   * turned; with files that stay small.
   */
  readonly within?: 'namespaces' | 'clock' | 'time of day' | 'small files';
  readonly faults: readonly FaultKind[];
  readonly moments?: readonly Moment[];
}

export interface LanePlan {
  readonly name: string;
  readonly what: string;
  readonly members: readonly MemberPlan[];
}

const ASKING: readonly Moment[] = ['write', 'send', 'read', 'atomic', 'connect', 'close'];
const SERVING: readonly Moment[] = ['send', 'accept', 'close'];

interface Way {
  readonly host: HostKind;
  readonly link: LinkKind;
  readonly netem?: string;
  readonly capture?: string;
}

function options(role: MemberOptions['role'], address: string, server: string, way: Way): MemberPlan['options'] {
  return { role, address, server, netem: '', capture: '', ...way };
}

/** @param capture where those write their packets whose files stay small */
export function lanePlans(
  namespaces: { readonly server: string; readonly client: string },
  capture: string,
): LanePlan[] {
  const [a, b, c, d, e, f, g, h, i, j, k] = Array.from({ length: 11 }, (_, n) => loopback(n + 1));
  const thread = { host: 'thread', link: 'auto' } as const;
  const disturbed = {
    host: 'thread',
    link: 'auto',
    netem: 'loss 1% dup 0.5% reorder 2% corrupt 0.2% delay 200us 50us',
  } as const;
  return [
    {
      name: 'memory',
      what: 'through shared memory, thread to thread; its server lives on',
      members: [
        { name: 'server', options: options('server', a, a, thread), within: 'time of day', faults: ['slow', 'clock'] },
        {
          name: 'client',
          options: options('client', b, a, thread),
          faults: ['kill', 'die', 'stop', 'slow'],
          moments: ASKING,
        },
      ],
    },
    {
      name: 'udp',
      what: 'by UDP, inline to thread, with a capture that reaches the limit of its file; its client lives on',
      members: [
        {
          name: 'server',
          options: options('server', c, c, { host: 'inline', link: 'udp' }),
          faults: ['kill', 'die', 'stop', 'slow'],
          moments: SERVING,
        },
        {
          name: 'client',
          options: options('client', d, c, { host: 'thread', link: 'udp', capture }),
          within: 'small files',
          faults: ['slow', 'squeeze'],
        },
      ],
    },
    {
      name: 'shm',
      what: 'through shared memory alone, inline to thread; its client lives on',
      members: [
        {
          name: 'server',
          options: options('server', e, e, { host: 'thread', link: 'shm' }),
          faults: ['kill', 'die', 'stop'],
          moments: SERVING,
        },
        {
          name: 'client',
          options: options('client', f, e, { host: 'inline', link: 'shm' }),
          within: 'time of day',
          faults: ['stop', 'slow', 'clock'],
        },
      ],
    },
    {
      name: 'netem',
      what: 'over a bad network, thread to inline; both die',
      members: [
        {
          name: 'server',
          options: options('server', g, g, disturbed),
          faults: ['kill', 'die', 'stop', 'squeeze'],
          moments: SERVING,
        },
        {
          name: 'client',
          options: options('client', h, g, { ...disturbed, host: 'inline' }),
          faults: ['kill', 'die', 'stop'],
          moments: ASKING,
        },
      ],
    },
    {
      name: 'crowd',
      what: 'a hundred clients at once, and a few that come and go, under another monotonic clock where there can be one',
      members: [
        { name: 'server', options: options('server', i, i, thread), faults: ['slow'] },
        { name: 'client', options: options('crowd', j, i, thread), within: 'clock', faults: ['crowd'] },
      ],
    },
    {
      name: 'thread',
      what: 'a client in a thread that is terminated; its server is that of the crowd',
      members: [{ name: 'client', options: options('hosted client', k, i, thread), faults: ['terminate'] }],
    },
    {
      name: 'namespaces',
      what: 'by UDP in a network of its own, whose addresses go and come; capture and statistics on a full disk',
      members: [
        {
          name: 'server',
          options: options('server', namespaces.server, namespaces.server, { host: 'thread', link: 'udp' }),
          within: 'namespaces',
          faults: ['address'],
        },
        {
          name: 'client',
          options: options('client', namespaces.client, namespaces.server, {
            host: 'thread',
            link: 'udp',
            capture: 'namespaces',
          }),
          within: 'namespaces',
          faults: ['address', 'kill'],
        },
      ],
    },
  ];
}

export function cardsOf(lanes: readonly LanePlan[]): Card[] {
  return lanes.flatMap(({ name: lane, members }) =>
    members.flatMap(({ name: member, faults, moments = [] }) =>
      faults.flatMap((kind): Card[] =>
        kind === 'die' ? moments.map((moment) => ({ lane, member, kind, moment })) : [{ lane, member, kind }],
      ),
    ),
  );
}
