import {
  AccessFlags,
  type AhAttrInit,
  alloc,
  gidFromIp,
  MwType,
  QpCreateFlags,
  QpCreateSendOpsFlags,
  type QpInitAttr,
  QpType,
  type SrqInitAttr,
  SrqType,
} from '../../src/entry/index.js';
import {
  each,
  homeAddress,
  NO_ADDRESS,
  NO_OBJECT,
  notUnsigned,
  others,
  refusals,
  type Row,
  untyped,
  type World,
} from './bad-input.js';

const { LOCAL_WRITE, REMOTE_WRITE, REMOTE_ATOMIC, REMOTE_READ, MW_BIND, ZERO_BASED } = AccessFlags;
const UNKNOWN_ACCESS = 1 << 12;
const PAGE = 4096;

function detached(): ArrayBuffer {
  const buffer = new ArrayBuffer(64);
  structuredClone(buffer, { transfer: [buffer] });
  return buffer;
}

const NO_MEMORY: readonly (readonly [string, never])[] = [
  ['missing', untyped()],
  ['empty', untyped(new Uint8Array(0))],
  ['detached', untyped(detached())],
  ['an array', untyped([1, 2, 3])],
  ['text', untyped('memory')],
  ...NO_OBJECT,
];

const WRONG_ACCESS: readonly (readonly [string, never])[] = [
  ['of no flag', untyped(UNKNOWN_ACCESS)],
  ['REMOTE_WRITE without LOCAL_WRITE', untyped(REMOTE_WRITE)],
  ['REMOTE_ATOMIC without LOCAL_WRITE', untyped(REMOTE_ATOMIC | REMOTE_READ)],
  ...notUnsigned(32),
];

const memory: readonly Row[] = [
  ...each('regMr', 'the memory is', NO_MEMORY, ({ own }, bytes) => own.pd.regMr(bytes)),
  ...each('regMr', 'access is', WRONG_ACCESS, ({ own }, access) => own.pd.regMr(alloc(8), access)),
  ...each('regMr', 'iova is', NO_ADDRESS, ({ own }, iova) => own.pd.regMr(alloc(8), LOCAL_WRITE, { iova })),
  ['regMr', 'iova lies elsewhere in its page', 'EINVAL', ({ own }) => own.pd.regMr(alloc(8), 0, { iova: 8 })],
  [
    'regMr',
    'the end is above 64 bits',
    'EINVAL',
    ({ own }) => own.pd.regMr(alloc(2 * PAGE), 0, { iova: 2n ** 64n - BigInt(PAGE) }),
  ],
  [
    'regMr',
    'a region that begins at 0 has an iova',
    'EINVAL',
    ({ own }) => own.pd.regMr(alloc(8), ZERO_BASED, { iova: PAGE }),
  ],
  ['regMr', 'the options are null', 'EINVAL', ({ own }) => own.pd.regMr(alloc(8), 0, untyped(null))],
  ['sge', 'the offset is outside the region', 'EINVAL', ({ own }) => own.mr.sge(PAGE + 1)],
  ['sge', 'the length is outside the region', 'EINVAL', ({ own }) => own.mr.sge(1, PAGE)],
  ...each('sge', 'the offset is', notUnsigned(32), ({ own }, offset) => own.mr.sge(offset, 1)),
  ...each('sge', 'the length is', notUnsigned(32), ({ own }, length) => own.mr.sge(0, length)),
  ['rereg', 'there is nothing', 'EINVAL', ({ own }) => own.mr.rereg(untyped())],
  ['rereg', 'nothing is to change', 'EINVAL', ({ own }) => own.mr.rereg({})],
  ['rereg', 'the change does not exist', 'EINVAL', ({ own }) => own.mr.rereg(untyped({ length: 8 }))],
  ...each('rereg', 'the memory is', NO_MEMORY.slice(1), ({ own }, bytes) => own.mr.rereg({ memory: bytes })),
  ...each('rereg', 'access is', WRONG_ACCESS, ({ own }, access) => own.mr.rereg({ access })),
  ...each('rereg', 'iova is', NO_ADDRESS, ({ own }, iova) => own.mr.rereg({ iova })),
  ['rereg', 'iova lies elsewhere in its page', 'EINVAL', ({ own }) => own.mr.rereg({ iova: own.mr.iova + 8n })],
  ...each('rereg', 'pd is', NO_OBJECT, ({ own }, pd) => own.mr.rereg({ pd })),
  ...others('rereg', 'pd', 'pd', ({ own }, pd) => own.mr.rereg({ pd })),
  ['rereg', 'a window is bound to the region', 'EBUSY', ({ bound }) => bound.rereg({ access: LOCAL_WRITE | MW_BIND })],
  ['dereg', 'a window is bound to the region', 'EBUSY', ({ bound }) => bound.dereg()],
  ['dealloc of a domain', 'objects are in it', 'EBUSY', ({ own }) => own.pd.dealloc()],
  ['allocMw', 'the type is missing', 'EINVAL', ({ own }) => own.pd.allocMw(untyped())],
  ['allocMw', 'the type is none', 'EINVAL', ({ own }) => own.pd.allocMw(untyped(MwType.TYPE_2 + 1))],
  ...each('allocMw', 'the type is', notUnsigned(32), ({ own }, type) => own.pd.allocMw(type)),
];

const advise = (world: World, advice: number, flags: number, sgList: unknown): void =>
  world.own.pd.adviseMr(untyped(advice), flags, untyped(sgList));
const whole = ({ own }: World): unknown => own.mr.sge();

const advices: readonly Row[] = [
  ['adviseMr', 'the advice is none', 'EOPNOTSUPP', (world) => advise(world, 3, 0, [whole(world)])],
  ['adviseMr', 'the advice is missing', 'EOPNOTSUPP', (world) => advise(world, untyped(), 0, [whole(world)])],
  ['adviseMr', 'a flag is none', 'EINVAL', (world) => advise(world, 0, 2, [whole(world)])],
  ...each('adviseMr', 'the flags are', notUnsigned(32), (world, flags) => advise(world, 0, flags, [whole(world)])),
  ['adviseMr', 'there are no pieces', 'EINVAL', (world) => advise(world, 0, 0, [])],
  ['adviseMr', 'the list is missing', 'EINVAL', (world) => advise(world, 0, 0, untyped())],
  ['adviseMr', 'a piece is null', 'EINVAL', (world) => advise(world, 0, 0, [null])],
  ...each('adviseMr', 'an address is', NO_ADDRESS, (world, addr) =>
    advise(world, 0, 0, [{ ...world.own.mr.sge(), addr: addr as unknown }]),
  ),
  ...each('adviseMr', 'a length is', notUnsigned(32), (world, length) =>
    advise(world, 0, 0, [{ ...world.own.mr.sge(), length: length as unknown }]),
  ),
  ...each('adviseMr', 'a key is', notUnsigned(32), (world, lkey) =>
    advise(world, 0, 0, [{ ...world.own.mr.sge(), lkey: lkey as unknown }]),
  ),
  [
    'adviseMr',
    'the key is of no region',
    'EFAULT',
    (world) => advise(world, 0, 0, [{ ...world.own.mr.sge(), lkey: (world.own.mr.lkey ^ 0xff) >>> 0 }]),
  ],
  ['adviseMr', 'the region is of another domain', 'EFAULT', (world) => advise(world, 0, 0, [world.local.mr.sge()])],
  [
    'adviseMr',
    'the piece is not inside its region',
    'EFAULT',
    (world) => advise(world, 0, 0, [{ ...world.own.mr.sge(), length: PAGE + 1 }]),
  ],
];

const qp = ({ own }: World, init: Partial<QpInitAttr>): unknown =>
  own.pd.createQp(untyped({ qpType: QpType.RC, sendCq: own.cq, recvCq: own.cq, ...init }));

const pairs: readonly Row[] = [
  ['createQp', 'there is nothing', 'EINVAL', ({ own }) => own.pd.createQp(untyped())],
  ['createQp', 'qpType is missing', ['EINVAL', 'EOPNOTSUPP'], (world) => qp(world, { qpType: untyped() })],
  ['createQp', 'qpType is none', 'EOPNOTSUPP', (world) => qp(world, { qpType: untyped(0xf0) })],
  ['createQp', 'qpType is text', ['EINVAL', 'EOPNOTSUPP'], (world) => qp(world, { qpType: untyped('RC') })],
  ['createQp', 'qpType is XRC_RECV', 'EINVAL', (world) => qp(world, { qpType: QpType.XRC_RECV })],
  ...(['sendCq', 'recvCq'] as const).flatMap((use) => [
    ['createQp', `${use} is missing`, 'EINVAL', (world: World) => qp(world, { [use]: undefined })] satisfies Row,
    ...each('createQp', `${use} is`, NO_OBJECT, (world, cq) => qp(world, { [use]: cq as unknown })),
    ...others('createQp', use, 'cq', (world, cq) => qp(world, { [use]: cq })),
  ]),
  ...each('createQp', 'srq is', NO_OBJECT, (world, srq) => qp(world, { srq })),
  ...others('createQp', 'srq', 'srq', (world, srq) => qp(world, { srq })),
  ['createQp', 'srq is of type XRC', 'EINVAL', (world) => qp(world, { srq: world.xrc.remote.srq })],
  ...(['RAW_PACKET', 'XRC_SEND'] as const).map((type): Row => [
    'createQp',
    `${type} is to share a receive queue`,
    'EINVAL',
    (world) => qp(world, { qpType: QpType[type], srq: world.srq }),
  ]),
  ['createQp', 'cap is null', 'EINVAL', (world) => qp(world, { cap: untyped(null) })],
  ...(['maxSendWr', 'maxRecvWr', 'maxSendSge', 'maxRecvSge', 'maxInlineData'] as const).flatMap((size) =>
    each('createQp', `cap.${size} is`, notUnsigned(32), (world, value) =>
      qp(world, { cap: { [size]: value as unknown } }),
    ),
  ),
  ...each('createQp', 'createFlags are', notUnsigned(32), (world, createFlags) => qp(world, { createFlags })),
  ['createQp', 'a bit of createFlags means nothing', 'EINVAL', (world) => qp(world, { createFlags: 1 })],
  ...(['SCATTER_FCS', 'CVLAN_STRIPPING', 'SOURCE_QPN', 'PCI_WRITE_END_PADDING'] as const).map((flag): Row => [
    'createQp',
    `createFlags have ${flag}`,
    'EOPNOTSUPP',
    (world) => qp(world, { createFlags: QpCreateFlags[flag] }),
  ]),
  [
    'createQp',
    'an RC QP is to be deaf to its own groups',
    'EINVAL',
    (world) => qp(world, { createFlags: QpCreateFlags.BLOCK_SELF_MCAST_LB }),
  ],
  ...each('createQp', 'sendOpsFlags are', notUnsigned(32), (world, sendOpsFlags) => qp(world, { sendOpsFlags })),
  ['createQp', 'a bit of sendOpsFlags means nothing', 'EINVAL', (world) => qp(world, { sendOpsFlags: 1 << 20 })],
  [
    'createQp',
    'a UC QP is to build READs',
    'EOPNOTSUPP',
    (world) => qp(world, { qpType: QpType.UC, sendOpsFlags: QpCreateSendOpsFlags.WITH_RDMA_READ }),
  ],
  [
    'createQp',
    'TSO is to be built',
    'EOPNOTSUPP',
    (world) => qp(world, { sendOpsFlags: QpCreateSendOpsFlags.WITH_TSO }),
  ],
  ['createQp', 'it is to send as another', 'EOPNOTSUPP', (world) => qp(world, { sourceQpn: world.own.qp.qpNum })],
];

const srq = ({ own }: World, init: Partial<SrqInitAttr>): unknown => own.pd.createSrq({ maxWr: 4, ...init });
const xrcSrq = (world: World, init: Partial<SrqInitAttr>): unknown =>
  srq(world, { srqType: SrqType.XRC, xrcd: world.own.xrcd, cq: world.own.cq, ...init });

const shared: readonly Row[] = [
  ['createSrq', 'there is nothing', 'EINVAL', ({ own }) => own.pd.createSrq(untyped())],
  ['createSrq', 'maxWr is missing', 'EINVAL', ({ own }) => own.pd.createSrq(untyped({}))],
  ['createSrq', 'maxWr is 0', 'EINVAL', (world) => srq(world, { maxWr: 0 })],
  ...each('createSrq', 'maxWr is', notUnsigned(32), (world, maxWr) => srq(world, { maxWr })),
  [
    'createSrq',
    'maxWr is above the device’s',
    'EINVAL',
    (world) => srq(world, { maxWr: world.context.queryDevice().maxSrqWr + 1 }),
  ],
  ...each('createSrq', 'maxSge is', notUnsigned(32), (world, maxSge) => srq(world, { maxSge })),
  [
    'createSrq',
    'maxSge is above the device’s',
    'EINVAL',
    (world) => srq(world, { maxSge: world.context.queryDevice().maxSrqSge + 1 }),
  ],
  ...each('createSrq', 'srqLimit is', notUnsigned(32), (world, srqLimit) => srq(world, { srqLimit })),
  ['createSrq', 'srqLimit is above maxWr', 'EINVAL', (world) => srq(world, { srqLimit: 5 })],
  ...each('createSrq', 'srqType is', notUnsigned(32), (world, srqType) => srq(world, { srqType })),
  ['createSrq', 'srqType is TM', 'EOPNOTSUPP', (world) => srq(world, { srqType: SrqType.TM })],
  [
    'createSrq',
    'XRC has no domain',
    'EINVAL',
    ({ own }) => own.pd.createSrq({ maxWr: 4, srqType: SrqType.XRC, cq: own.cq }),
  ],
  [
    'createSrq',
    'XRC has no queue',
    'EINVAL',
    ({ own }) => own.pd.createSrq({ maxWr: 4, srqType: SrqType.XRC, xrcd: own.xrcd }),
  ],
  ['createSrq', 'BASIC has a domain', 'EINVAL', (world) => srq(world, { xrcd: world.own.xrcd })],
  ['createSrq', 'BASIC has a queue', 'EINVAL', (world) => srq(world, { cq: world.own.cq })],
  ...each('createSrq', 'xrcd is', NO_OBJECT, (world, xrcd) => xrcSrq(world, { xrcd })),
  ...others('createSrq', 'xrcd', 'xrcd', (world, xrcd) => xrcSrq(world, { xrcd })),
  ...each('createSrq', 'cq is', NO_OBJECT, (world, cq) => xrcSrq(world, { cq })),
  ...others('createSrq', 'cq', 'cq', (world, cq) => xrcSrq(world, { cq })),
];

const ah = ({ own, context }: World, attr: AhAttrInit): unknown =>
  own.pd.createAh({ ...homeAddress(context), ...attr });
const route = (world: World, part: object): unknown =>
  ah(world, { grh: untyped({ dgid: world.context.queryGid(1, 0), ...part }) });

const handles: readonly Row[] = [
  ['createAh', 'there is nothing', 'EINVAL', ({ own }) => own.pd.createAh(untyped())],
  ['createAh', 'there is no route', 'EINVAL', ({ own }) => own.pd.createAh({})],
  ['createAh', 'the route is null', 'EINVAL', ({ own }) => own.pd.createAh({ grh: untyped(null) })],
  ['createAh', 'isGlobal is false', 'EINVAL', (world) => ah(world, { isGlobal: false })],
  ['createAh', 'dgid is missing', 'EINVAL', ({ own }) => own.pd.createAh({ grh: untyped({}) })],
  ['createAh', 'dgid is text', 'EINVAL', (world) => route(world, { dgid: '::ffff:127.0.0.1' })],
  ['createAh', 'dgid is short', 'EINVAL', (world) => route(world, { dgid: gidFromIp('10.0.0.1').subarray(1) })],
  ['createAh', 'dgid is zeros', 'EINVAL', (world) => route(world, { dgid: new Uint8Array(16) })],
  ['createAh', 'sgidIndex is of an empty entry', 'EINVAL', (world) => route(world, { sgidIndex: 3 })],
  ...each('createAh', 'sgidIndex is', notUnsigned(8), (world, value) => route(world, { sgidIndex: value as unknown })),
  ...each('createAh', 'hopLimit is', notUnsigned(8), (world, value) => route(world, { hopLimit: value as unknown })),
  ...each('createAh', 'trafficClass is', notUnsigned(8), (world, value) =>
    route(world, { trafficClass: value as unknown }),
  ),
  ...each('createAh', 'flowLabel is', notUnsigned(20), (world, value) => route(world, { flowLabel: value as unknown })),
  ...each('createAh', 'portNum is', [['0', untyped(0)], ['2', untyped(2)], ...notUnsigned(8)], (world, portNum) =>
    ah(world, { portNum }),
  ),
  ...each('createAh', 'sl is', [['16', untyped(16)], ...notUnsigned(8)], (world, sl) => ah(world, { sl })),
  ...each('createAh', 'dlid is', notUnsigned(16), (world, dlid) => ah(world, { dlid })),
  ...each('createAh', 'srcPathBits are', [['128', untyped(128)], ...notUnsigned(8)], (world, srcPathBits) =>
    ah(world, { srcPathBits }),
  ),
  ...each('createAh', 'staticRate is', notUnsigned(8), (world, staticRate) => ah(world, { staticRate })),
];

refusals('wrong memory', [...memory, ...advices]);
refusals('wrong queue pairs', pairs);
refusals('wrong shared receive queues', shared);
refusals('wrong address handles', handles);
