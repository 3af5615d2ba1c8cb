/** The structures of the commands (`ib_user_verbs.h`, `rdma_user_rxe.h`), by the commands' names; requests without headers. */
import { AH_ATTR, QP_DEST } from '../structs/addresses.js';
import { be64, i32, nested, octets, struct, u16, u32, u64, u8 } from '../../device/wire/index.js';

/** Most requests begin with the address of the answer, which the frame tells better. */
const EMPTY = struct({}, 8);
const HANDLE = struct({ handle: u32(0) });
const HANDLE_BEHIND = struct({ handle: u32(8) });
const EVENTS = struct({ eventsReported: u32(0) });

/** Where in the file of an opened device the program finds a queue (`struct mminfo`). */
const place = (at: number) => ({ offset: u64(at), size: u32(at + 8) });

const DEVICE_ATTR_FIELDS = {
  fwVer: u64(0),
  nodeGuid: be64(8),
  sysImageGuid: be64(16),
  maxMrSize: u64(24),
  pageSizeCap: u64(32),
  vendorId: u32(40),
  vendorPartId: u32(44),
  hwVer: u32(48),
  maxQp: u32(52),
  maxQpWr: u32(56),
  deviceCapFlags: u32(60),
  maxSge: u32(64),
  maxSgeRd: u32(68),
  maxCq: u32(72),
  maxCqe: u32(76),
  maxMr: u32(80),
  maxPd: u32(84),
  maxQpRdAtom: u32(88),
  maxEeRdAtom: u32(92),
  maxResRdAtom: u32(96),
  maxQpInitRdAtom: u32(100),
  maxEeInitRdAtom: u32(104),
  atomicCap: u32(108),
  maxMw: u32(120),
  maxMcastGrp: u32(132),
  maxMcastQpAttach: u32(136),
  maxTotalMcastQpAttach: u32(140),
  maxAh: u32(144),
  maxSrq: u32(156),
  maxSrqWr: u32(160),
  maxSrqSge: u32(164),
  maxPkeys: u16(168),
  localCaAckDelay: u8(170),
  physPortCnt: u8(171),
};
const DEVICE_ATTR = struct(DEVICE_ATTR_FIELDS, 176);

const QP_CAPS = (at: number) => ({
  maxSendWr: u32(at),
  maxRecvWr: u32(at + 4),
  maxSendSge: u32(at + 8),
  maxRecvSge: u32(at + 12),
  maxInlineData: u32(at + 16),
});

const createQp = (at: number) => ({
  userHandle: u64(at),
  pd: u32(at + 8),
  sendCq: u32(at + 12),
  recvCq: u32(at + 16),
  srq: u32(at + 20),
  ...QP_CAPS(at + 24),
  sqSigAll: u8(at + 44),
  qpType: u8(at + 45),
  isSrq: u8(at + 46),
});

const QP_CREATED_FIELDS = {
  handle: u32(0),
  qpn: u32(4),
  maxSendWr: u32(8),
  maxRecvWr: u32(12),
  maxSendSge: u32(16),
  maxRecvSge: u32(20),
  maxInlineData: u32(24),
};

const MODIFY_QP_FIELDS = {
  dest: nested(0, QP_DEST),
  altDest: nested(32, QP_DEST),
  handle: u32(64),
  mask: u32(68),
  qkey: u32(72),
  rqPsn: u32(76),
  sqPsn: u32(80),
  destQpNum: u32(84),
  qpAccessFlags: u32(88),
  pkeyIndex: u16(92),
  altPkeyIndex: u16(94),
  qpState: u8(96),
  curQpState: u8(97),
  pathMtu: u8(98),
  pathMigState: u8(99),
  enSqdAsyncNotify: u8(100),
  maxRdAtomic: u8(101),
  maxDestRdAtomic: u8(102),
  minRnrTimer: u8(103),
  portNum: u8(104),
  timeout: u8(105),
  retryCnt: u8(106),
  rnrRetry: u8(107),
  altPortNum: u8(108),
  altTimeout: u8(109),
};

export const Structs = {
  EMPTY,
  HANDLE,
  HANDLE_BEHIND,
  EVENTS,
  GET_CONTEXT: { answer: struct({ asyncFd: i32(0), numCompVectors: u32(4) }) },
  QUERY_DEVICE: { answer: DEVICE_ATTR },
  QUERY_DEVICE_EX: {
    request: struct({ compMask: u32(0) }, 8),
    answer: struct(
      {
        ...DEVICE_ATTR_FIELDS,
        compMask: u32(176),
        responseLength: u32(180),
        odpGeneralCaps: u64(184),
        rcOdpCaps: u32(192),
        ucOdpCaps: u32(196),
        udOdpCaps: u32(200),
        timestampMask: u64(208),
        coreClockKhz: u64(216),
        deviceCapFlagsEx: u64(224),
      },
      304,
    ),
  },
  QUERY_PORT: {
    request: struct({ portNum: u8(8) }, 16),
    answer: struct(
      {
        portCapFlags: u32(0),
        maxMsgSz: u32(4),
        badPkeyCntr: u32(8),
        qkeyViolCntr: u32(12),
        gidTblLen: u32(16),
        pkeyTblLen: u16(20),
        lid: u16(22),
        smLid: u16(24),
        state: u8(26),
        maxMtu: u8(27),
        activeMtu: u8(28),
        lmc: u8(29),
        maxVlNum: u8(30),
        smSl: u8(31),
        subnetTimeout: u8(32),
        initTypeReply: u8(33),
        activeWidth: u8(34),
        activeSpeed: u8(35),
        physState: u8(36),
        linkLayer: u8(37),
        flags: u8(38),
      },
      40,
    ),
  },
  CREATE_AH: {
    request: struct({ userHandle: u64(8), pd: u32(16), attr: nested(24, AH_ATTR) }),
    answer: HANDLE,
    /** The number by which work requests name it. */
    driverAnswer: struct({ ahNum: u32(0) }, 8),
  },
  REG_MR: {
    request: struct({ start: u64(8), length: u64(16), iova: u64(24), pd: u32(32), access: u32(36) }),
    answer: struct({ handle: u32(0), lkey: u32(4), rkey: u32(8) }),
  },
  ALLOC_MW: {
    request: struct({ pd: u32(8), type: u8(12) }, 16),
    answer: struct({ handle: u32(0), rkey: u32(4) }),
  },
  CREATE_COMP_CHANNEL: { answer: struct({ fd: i32(0) }) },
  CREATE_CQ: {
    request: struct({ userHandle: u64(8), cqe: u32(16), compVector: u32(20), channel: i32(24) }, 32),
    answer: struct({ handle: u32(0), cqe: u32(4) }),
    driverAnswer: struct(place(0), 16),
  },
  CREATE_CQ_EX: {
    request: struct(
      { userHandle: u64(0), cqe: u32(8), compVector: u32(12), channel: i32(16), compMask: u32(20), flags: u32(24) },
      32,
    ),
    answer: struct({ handle: u32(0), cqe: u32(4), compMask: u32(8), responseLength: u32(12) }),
  },
  RESIZE_CQ: { request: struct({ handle: u32(8), cqe: u32(12) }), answer: struct({ cqe: u32(0) }, 8) },
  DESTROY_CQ: { answer: struct({ compEventsReported: u32(0), asyncEventsReported: u32(4) }) },
  REQ_NOTIFY_CQ: { request: struct({ handle: u32(0), solicitedOnly: u32(4) }) },
  CREATE_QP: {
    request: struct(createQp(8), 56),
    answer: struct(QP_CREATED_FIELDS, 32),
    driverAnswer: struct({ rq: nested(0, struct(place(0), 16)), sq: nested(16, struct(place(0), 16)) }),
  },
  CREATE_QP_EX: {
    request: struct({ ...createQp(0), compMask: u32(48), createFlags: u32(52), sourceQpn: u32(60) }),
    answer: struct({ ...QP_CREATED_FIELDS, compMask: u32(32), responseLength: u32(36) }),
  },
  QUERY_QP: {
    request: struct({ handle: u32(8), mask: u32(12) }),
    answer: struct(
      {
        dest: nested(0, QP_DEST),
        altDest: nested(32, QP_DEST),
        ...QP_CAPS(64),
        qkey: u32(84),
        rqPsn: u32(88),
        sqPsn: u32(92),
        destQpNum: u32(96),
        qpAccessFlags: u32(100),
        pkeyIndex: u16(104),
        altPkeyIndex: u16(106),
        qpState: u8(108),
        curQpState: u8(109),
        pathMtu: u8(110),
        pathMigState: u8(111),
        sqDraining: u8(112),
        maxRdAtomic: u8(113),
        maxDestRdAtomic: u8(114),
        minRnrTimer: u8(115),
        portNum: u8(116),
        timeout: u8(117),
        retryCnt: u8(118),
        rnrRetry: u8(119),
        altPortNum: u8(120),
        altTimeout: u8(121),
        sqSigAll: u8(122),
      },
      128,
    ),
  },
  MODIFY_QP: { request: struct(MODIFY_QP_FIELDS, 112) },
  MODIFY_QP_EX: {
    request: struct({ ...MODIFY_QP_FIELDS, rateLimit: u32(112) }, 120),
    answer: struct({ compMask: u32(0), responseLength: u32(4) }),
  },
  MCAST: { request: struct({ gid: octets(0, 16), handle: u32(16), mlid: u16(20) }, 24) },
  CREATE_SRQ: {
    request: struct({ userHandle: u64(8), pd: u32(16), maxWr: u32(20), maxSge: u32(24), srqLimit: u32(28) }),
    answer: struct({ handle: u32(0), maxWr: u32(4), maxSge: u32(8), srqn: u32(12) }),
    driverAnswer: struct({ ...place(0), srqNum: u32(16) }, 24),
  },
  CREATE_XSRQ: {
    request: struct(
      {
        userHandle: u64(8),
        srqType: u32(16),
        pd: u32(20),
        maxWr: u32(24),
        maxSge: u32(28),
        srqLimit: u32(32),
        cq: u32(44),
      },
      48,
    ),
  },
  MODIFY_SRQ: {
    request: struct({ handle: u32(0), mask: u32(4), maxWr: u32(8), srqLimit: u32(12) }),
    /** Where the program wants to be told of the new queue. */
    driverRequest: struct({ placeAddress: u64(0) }),
    place: struct(place(0), 16),
  },
  QUERY_SRQ: { answer: struct({ maxWr: u32(0), maxSge: u32(4), srqLimit: u32(8) }, 16) },
  /** What is written to a device to have its queue pair look at the send queue (POST_SEND with its header). */
  DOORBELL: { request: struct({ command: u32(0), handle: u32(16) }, 32) },
  ASYNC_EVENT: struct({ element: u64(0), type: u32(8) }, 16),
  COMP_EVENT: struct({ userHandle: u64(0) }),
} as const;
