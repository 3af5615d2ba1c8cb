import { test } from 'node:test';
import {
  alloc,
  CreateCqAttrFlags,
  type ErrnoName,
  type OpenOptions,
  openDevice,
  WcExFlags,
  WcFlags,
  type WorkCompletion,
} from '../../src/entry/index.js';
import { administer } from '../../src/entry/sim.js';
import { each, NO_OBJECT, notUnsigned, others, refusals, type Row, untyped, type World } from './bad-input.js';
import { conformance } from './provider.js';
import { assertErrno, useDevices } from './support.js';

const NO_PORT: readonly (readonly [string, never])[] = [['0', untyped(0)], ['2', untyped(2)], ...notUnsigned(8)];

/** IPv4 header of a datagram from one address to another, behind 20 bytes of zeros (protocol/packets.md 1.6). */
function grh(source: string, destination: string): Uint8Array {
  const bytes = new Uint8Array(40);
  bytes.set([0x45, 0, 0, 60, 0, 0, 0x40, 0, 64, 17], 20);
  bytes.set(source.split('.').map(Number), 32);
  bytes.set(destination.split('.').map(Number), 36);
  return bytes;
}

const WC: WorkCompletion = {
  wrId: 0n,
  status: 0,
  opcode: 128,
  vendorErr: 0,
  byteLen: 40,
  immData: 0,
  invalidatedRkey: 0,
  qpNum: 2,
  srcQp: 3,
  wcFlags: WcFlags.GRH,
  pkeyIndex: 0,
  slid: 0,
  sl: 0,
  dlidPathBits: 0,
  detail: [],
};

const toUs = ({ context }: World): Uint8Array => grh('10.0.0.9', context.address);

const ports: readonly Row[] = [
  ...each('queryPort', 'the port is', NO_PORT, ({ context }, port) => context.queryPort(port)),
  ...each('queryPortSpeed', 'the port is', NO_PORT, ({ context }, port) => context.queryPortSpeed(port)),
  ...each('queryGid', 'the port is', NO_PORT, ({ context }, port) => context.queryGid(port, 0)),
  ...each('queryGidEntry', 'the port is', NO_PORT, ({ context }, port) => context.queryGidEntry(port, 0)),
  ...each('queryPkey', 'the port is', NO_PORT, ({ context }, port) => context.queryPkey(port, 0)),
  ...each('getPkeyIndex', 'the port is', NO_PORT, ({ context }, port) => context.getPkeyIndex(port, 0xffff)),
  ...each('queryGid', 'the index is', notUnsigned(8), ({ context }, index) => context.queryGid(1, index)),
  ...each('queryGidEntry', 'the index is', notUnsigned(8), ({ context }, index) => context.queryGidEntry(1, index)),
  ...each('queryPkey', 'the index is', notUnsigned(8), ({ context }, index) => context.queryPkey(1, index)),
  ...each('getPkeyIndex', 'the P_Key is', notUnsigned(16), ({ context }, pkey) => context.getPkeyIndex(1, pkey)),
  ['getPkeyIndex', 'no entry has the P_Key', 'EINVAL', ({ context }) => context.getPkeyIndex(1, 0x1234)],
  ['queryGid', 'the index is missing', 'EINVAL', ({ context }) => context.queryGid(1, untyped())],
  ['queryPkey', 'the index is missing', 'EINVAL', ({ context }) => context.queryPkey(1, untyped())],
];

const domains: readonly Row[] = [
  ['allocParentDomain', 'there is nothing', 'EINVAL', ({ context }) => context.allocParentDomain(untyped())],
  ['allocParentDomain', 'pd is missing', 'EINVAL', ({ context }) => context.allocParentDomain(untyped({}))],
  ...each('allocParentDomain', 'pd is', NO_OBJECT, ({ context }, pd) => context.allocParentDomain({ pd })),
  ...others('allocParentDomain', 'pd', 'pd', ({ context }, pd) => context.allocParentDomain({ pd })),
  ...each('allocParentDomain', 'td is', NO_OBJECT, ({ context, own: { pd } }, td) =>
    context.allocParentDomain({ pd, td }),
  ),
  ...others('allocParentDomain', 'td', 'td', ({ context, own: { pd } }, td) => context.allocParentDomain({ pd, td })),
  ['openXrcd', 'there is null', 'EINVAL', ({ context }) => context.openXrcd(untyped(null))],
  ['openXrcd', 'fd is below -1', 'EBADF', ({ context }) => context.openXrcd({ fd: -2 })],
  ['openXrcd', 'fd is a fraction', 'EBADF', ({ context }) => context.openXrcd({ fd: 0.5 })],
  ['openXrcd', 'fd is text', 'EBADF', ({ context }) => context.openXrcd({ fd: untyped('1') })],
  ['openXrcd', 'fd is not open', 'EBADF', ({ context }) => context.openXrcd({ fd: 1_000_000 })],
  ['openXrcd', 'oFlags are none that exist', 'EINVAL', ({ context }) => context.openXrcd({ oFlags: 1 })],
  ['openXrcd', 'oFlags are text', 'EINVAL', ({ context }) => context.openXrcd({ oFlags: untyped('CREAT') })],
];

const events: readonly Row[] = [
  ['getAsyncEvent', 'the time is negative', 'EINVAL', ({ context }) => context.getAsyncEvent(-1)],
  ['getAsyncEvent', 'the time is not a number', 'EINVAL', ({ context }) => context.getAsyncEvent(NaN)],
  ['getAsyncEvent', 'the time is text', 'EINVAL', ({ context }) => context.getAsyncEvent(untyped('soon'))],
  ['ackAsyncEvent', 'there is nothing', 'EINVAL', ({ context }) => context.ackAsyncEvent(untyped())],
  ...each('ackAsyncEvent', 'the event is', NO_OBJECT, ({ context }, event) => context.ackAsyncEvent(event)),
  ['ackAsyncEvent', 'its type is none', 'EINVAL', ({ context }) => context.ackAsyncEvent(untyped({ eventType: 99 }))],
  ['getCqEvent', 'the time is negative', 'EINVAL', ({ own }) => own.channel.getCqEvent(-1)],
  ['getCqEvent', 'the time is not a number', 'EINVAL', ({ own }) => own.channel.getCqEvent(NaN)],
  ['createWq', 'the device has none', 'EOPNOTSUPP', ({ context }) => context.createWq()],
  ['createRwqIndTable', 'the device has none', 'EOPNOTSUPP', ({ context }) => context.createRwqIndTable()],
  ['allocDm', 'the device has none', 'EOPNOTSUPP', ({ context }) => context.allocDm()],
  ['administer', 'there is nothing', 'EINVAL', ({ context }) => administer(context, untyped())],
  ['administer', 'the context is', 'EINVAL', () => administer(untyped({}), {})],
  ['administer', 'the change does not exist', 'EINVAL', ({ context }) => administer(context, untyped({ speed: 1 }))],
  ['administer', 'linkUp is text', 'EINVAL', ({ context }) => administer(context, { linkUp: untyped('no') })],
  ['administer', 'gids is not a list', 'EINVAL', ({ context }) => administer(context, { gids: untyped(7) })],
  ['administer', 'a GID is short', 'EINVAL', ({ context }) => administer(context, { gids: [new Uint8Array(15)] })],
  ['administer', 'pkeys is not a list', 'EINVAL', ({ context }) => administer(context, { pkeys: untyped(7) })],
  ['administer', 'there are no P_Keys', 'EINVAL', ({ context }) => administer(context, { pkeys: [] })],
  ['administer', 'a P_Key is too large', 'EINVAL', ({ context }) => administer(context, { pkeys: [0x10000] })],
  ['administer', 'fatal is text', 'EINVAL', ({ context }) => administer(context, { fatal: untyped('yes') })],
];

const addresses: readonly Row[] = (
  [
    ['initAhFromWc', ({ context }, port, wc, header) => context.initAhFromWc(port, wc, header)],
    ['createAhFromWc', ({ own }, port, wc, header) => own.pd.createAhFromWc(wc, header, port)],
  ] as const satisfies readonly (readonly [
    string,
    (world: World, port: number, wc: WorkCompletion, header: Uint8Array) => unknown,
  ])[]
).flatMap(([call, act]): readonly Row[] => [
  ...each(call, 'the port is', NO_PORT, (world, port) => act(world, port, WC, toUs(world))),
  [call, 'the completion is missing', 'EINVAL', (world) => act(world, 1, untyped(), toUs(world))],
  [call, 'the header is missing', 'EINVAL', (world) => act(world, 1, WC, untyped())],
  [
    call,
    'the header is no bytes',
    ['EINVAL', 'EPROTONOSUPPORT'],
    (world) => act(world, 1, WC, untyped('E'.repeat(40))),
  ],
  [call, 'the header is short', 'EINVAL', (world) => act(world, 1, WC, toUs(world).subarray(1))],
  [call, 'the header is none', 'EPROTONOSUPPORT', (world) => act(world, 1, WC, new Uint8Array(40))],
  [call, 'the datagram went to a group', 'EINVAL', (world) => act(world, 1, WC, grh('10.0.0.9', '224.1.2.3'))],
  [call, 'the datagram went to somebody else', 'EINVAL', (world) => act(world, 1, WC, grh('10.0.0.9', '10.0.0.8'))],
]);

const queues: readonly Row[] = [
  ['createCq', 'there is nothing', 'EINVAL', ({ context }) => context.createCq(untyped())],
  ['createCq', 'cqe is missing', 'EINVAL', ({ context }) => context.createCq(untyped({}))],
  ['createCq', 'cqe is 0', 'EINVAL', ({ context }) => context.createCq({ cqe: 0 })],
  ...each('createCq', 'cqe is', notUnsigned(32), ({ context }, cqe) => context.createCq({ cqe })),
  [
    'createCq',
    'cqe is above maxCqe',
    'EINVAL',
    ({ context }) => context.createCq({ cqe: context.queryDevice().maxCqe + 1 }),
  ],
  ...each('createCq', 'channel is', NO_OBJECT, ({ context }, channel) => context.createCq({ cqe: 1, channel })),
  ...others('createCq', 'channel', 'channel', ({ context }, channel) => context.createCq({ cqe: 1, channel })),
  ...each('createCq', 'compVector is', notUnsigned(8), ({ context }, compVector) =>
    context.createCq({ cqe: 1, compVector }),
  ),
  [
    'createCq',
    'compVector is one too many',
    'EINVAL',
    ({ context }) => context.createCq({ cqe: 1, compVector: context.numCompVectors }),
  ],
  ...each('createCq', 'wcFlags are', notUnsigned(32), ({ context }, wcFlags) => context.createCq({ cqe: 1, wcFlags })),
  [
    'createCq',
    'a bit of wcFlags means nothing',
    'EINVAL',
    ({ context }) => context.createCq({ cqe: 1, wcFlags: 4096 }),
  ],
  ...(['WITH_CVLAN', 'WITH_FLOW_TAG', 'WITH_TM_INFO'] as const).map((flag): Row => [
    'createCq',
    `wcFlags have ${flag}`,
    'EOPNOTSUPP',
    ({ context }) => context.createCq({ cqe: 1, wcFlags: WcExFlags[flag] }),
  ]),
  ...each('createCq', 'flags are', notUnsigned(32), ({ context }, flags) => context.createCq({ cqe: 1, flags })),
  [
    'createCq',
    'a bit of flags means nothing',
    'EINVAL',
    ({ context }) => context.createCq({ cqe: 1, flags: CreateCqAttrFlags.IGNORE_OVERRUN | 4 }),
  ],
  ['poll', 'it asks for 0', 'EINVAL', ({ own }) => own.cq.poll(0)],
  ...each('poll', 'the number is', notUnsigned(32).slice(2), ({ own }, count) => own.cq.poll(count)),
  ['poll', 'it asks for fewer than none', 'EINVAL', ({ own }) => own.cq.poll(-1)],
  ['nextPoll', 'nothing was begun', 'EINVAL', ({ own }) => own.cq.nextPoll()],
  ['endPoll', 'nothing was begun', 'EINVAL', ({ own }) => own.cq.endPoll()],
  ['workCompletion', 'nothing was begun', 'EINVAL', ({ own }) => own.cq.workCompletion()],
  ['reqNotify', 'there is no channel', 'EINVAL', ({ local }) => local.cq.reqNotify()],
  ['ackEvents', 'there was no event', 'EINVAL', ({ own }) => own.cq.ackEvents()],
  ...each('ackEvents', 'the number is', notUnsigned(32), ({ own }, count) => own.cq.ackEvents(count)),
  ['resize', 'the size is missing', 'EINVAL', ({ own }) => own.cq.resize(untyped())],
  ['resize', 'the size is 0', 'EINVAL', ({ own }) => own.cq.resize(0)],
  ...each('resize', 'the size is', notUnsigned(32), ({ own }, cqe) => own.cq.resize(cqe)),
  ['modify of a CQ', 'there is nothing', 'EINVAL', ({ own }) => own.cq.modify(untyped())],
  ['modify of a CQ', 'moderate is missing', 'EINVAL', ({ own }) => own.cq.modify(untyped({}))],
  ...each('modify of a CQ', 'cqCount is', notUnsigned(32), ({ own }, cqCount) =>
    own.cq.modify({ moderate: { cqCount, cqPeriod: 0 } }),
  ),
  ...each('modify of a CQ', 'cqPeriod is', notUnsigned(32), ({ own }, cqPeriod) =>
    own.cq.modify({ moderate: { cqCount: 0, cqPeriod } }),
  ),
  ['destroy of a CQ', 'a QP uses it', 'EBUSY', ({ own }) => own.cq.destroy()],
  ['destroy of a channel', 'a CQ uses it', 'EBUSY', ({ own }) => own.channel.destroy()],
];

refusals('wrong calls of the context', [...ports, ...domains]);
refusals('wrong calls about events', events);
refusals('wrong addresses of datagrams', addresses);
refusals('wrong completion queues', queues);

const WRONG_OPENINGS: readonly (readonly [string, ErrnoName, OpenOptions])[] = [
  ['host is none', 'EINVAL', { host: untyped('kernel') }],
  ['address is not an address', 'EINVAL', { address: 'nowhere' }],
  ['address is not this machine’s', 'EADDRNOTAVAIL', { address: '203.0.113.7' }],
  ['capture is in no folder', 'ENOENT', { capture: '/nonexistent/folder/capture.pcapng' }],
];

const WRONG_MEMORY: readonly (readonly [string, () => unknown])[] = [
  ['length is missing', () => alloc(untyped())],
  ['length is 0', () => alloc(0)],
  ...notUnsigned(32)
    .filter(([name]) => !name.startsWith('of more'))
    .map(([name, value]) => [`length is ${name}`, () => alloc(value)] as const),
  ['align is 0', () => alloc(8, { align: 0 })],
  ['align is not a power of two', () => alloc(8, { align: 3 })],
  ['align is text', () => alloc(8, { align: untyped('page') })],
];

conformance('without a device', (provider) => {
  const devices = useDevices(provider, 1);

  for (const [wrong, errno, options] of WRONG_OPENINGS) {
    test(`openDevice gives ${errno} when ${wrong}`, () => {
      const { host } = devices[0];
      if (host === 'simulated') return;
      assertErrno(errno, () => openDevice({ host, address: '127.91.0.1', ...options }));
    });
  }

  test('openDevice gives EADDRINUSE when the address is another NIC’s', () => {
    const { host, address } = devices[0];
    if (host !== 'simulated') assertErrno('EADDRINUSE', () => openDevice({ host, address }));
  });

  for (const [wrong, act] of WRONG_MEMORY) {
    test(`alloc gives EINVAL when ${wrong}`, () => {
      assertErrno('EINVAL', act);
    });
  }
});
