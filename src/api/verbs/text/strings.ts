import {
  AdviseMrAdvice,
  AtomicCap,
  EventType,
  GidType,
  LinkLayer,
  MigState,
  Mtu,
  mtuBytes,
  MwType,
  NodeType,
  PhysState,
  PortState,
  QpState,
  QpType,
  Rate,
  SelectivityLevel,
  SrqType,
  Syndrome,
  TransportType,
  WcOpcode,
  WcStatus,
  WrOpcode,
} from '../../../device/ibta/index.js';

/** Time in a unit that suits it: `640 µs`, `12.3 ms`, `0.47 s`, `12 s`. */
export function formatMicroseconds(us: number): string {
  if (us < 1000) return `${Number(us.toPrecision(3))} µs`;
  if (us < 100_000) return `${Number((us / 1000).toPrecision(3))} ms`;
  return us < 10_000_000 ? `${Number((us / 1e6).toPrecision(2))} s` : `${Math.round(us / 1e6)} s`;
}

type Words<Value extends number> = Readonly<Record<Value, string>>;

const wcStatusWords: Words<WcStatus> = {
  [WcStatus.SUCCESS]: 'success',
  [WcStatus.LOC_LEN_ERR]: 'local length error',
  [WcStatus.LOC_QP_OP_ERR]: 'local QP operation error',
  [WcStatus.LOC_EEC_OP_ERR]: 'local EE context operation error',
  [WcStatus.LOC_PROT_ERR]: 'local protection error',
  [WcStatus.WR_FLUSH_ERR]: 'work request flushed',
  [WcStatus.MW_BIND_ERR]: 'memory window bind error',
  [WcStatus.BAD_RESP_ERR]: 'bad response',
  [WcStatus.LOC_ACCESS_ERR]: 'local access error',
  [WcStatus.REM_INV_REQ_ERR]: 'remote invalid request',
  [WcStatus.REM_ACCESS_ERR]: 'remote access error',
  [WcStatus.REM_OP_ERR]: 'remote operation error',
  [WcStatus.RETRY_EXC_ERR]: 'transport retry count exceeded',
  [WcStatus.RNR_RETRY_EXC_ERR]: 'receiver-not-ready retry count exceeded',
  [WcStatus.LOC_RDD_VIOL_ERR]: 'local RDD violation',
  [WcStatus.REM_INV_RD_REQ_ERR]: 'remote invalid RD request',
  [WcStatus.REM_ABORT_ERR]: 'remote operation aborted',
  [WcStatus.INV_EECN_ERR]: 'invalid EE context number',
  [WcStatus.INV_EEC_STATE_ERR]: 'invalid EE context state',
  [WcStatus.FATAL_ERR]: 'fatal error',
  [WcStatus.RESP_TIMEOUT_ERR]: 'response timeout',
  [WcStatus.GENERAL_ERR]: 'general error',
  [WcStatus.TM_ERR]: 'tag matching error',
  [WcStatus.TM_RNDV_INCOMPLETE]: 'tag matching rendezvous incomplete',
};

const eventWords: Words<EventType> = {
  [EventType.CQ_ERR]: 'completion queue error',
  [EventType.QP_FATAL]: 'queue pair catastrophic error',
  [EventType.QP_REQ_ERR]: 'invalid request to a queue pair',
  [EventType.QP_ACCESS_ERR]: 'access violation at a queue pair',
  [EventType.COMM_EST]: 'communication established',
  [EventType.SQ_DRAINED]: 'send queue drained',
  [EventType.PATH_MIG]: 'path migrated',
  [EventType.PATH_MIG_ERR]: 'path migration failed',
  [EventType.DEVICE_FATAL]: 'device catastrophic error',
  [EventType.PORT_ACTIVE]: 'port active',
  [EventType.PORT_ERR]: 'port error',
  [EventType.LID_CHANGE]: 'LID changed',
  [EventType.PKEY_CHANGE]: 'P_Key table changed',
  [EventType.SM_CHANGE]: 'subnet manager changed',
  [EventType.SRQ_ERR]: 'shared receive queue error',
  [EventType.SRQ_LIMIT_REACHED]: 'shared receive queue limit reached',
  [EventType.QP_LAST_WQE_REACHED]: 'last work request reached',
  [EventType.CLIENT_REREGISTER]: 'clients must register again',
  [EventType.GID_CHANGE]: 'GID table changed',
  [EventType.WQ_FATAL]: 'work queue catastrophic error',
  [EventType.DEVICE_SPEED_CHANGE]: 'device speed changed',
};

const nodeWords: Words<NodeType> = {
  [NodeType.UNKNOWN]: 'unknown node',
  [NodeType.CA]: 'InfiniBand channel adapter',
  [NodeType.SWITCH]: 'InfiniBand switch',
  [NodeType.ROUTER]: 'InfiniBand router',
  [NodeType.RNIC]: 'iWARP NIC',
  [NodeType.USNIC]: 'usNIC',
  [NodeType.USNIC_UDP]: 'usNIC over UDP',
  [NodeType.UNSPECIFIED]: 'unspecified node',
};

const transportWords: Words<TransportType> = {
  [TransportType.UNKNOWN]: 'unknown',
  [TransportType.IB]: 'InfiniBand',
  [TransportType.IWARP]: 'iWARP',
  [TransportType.USNIC]: 'usNIC',
  [TransportType.USNIC_UDP]: 'usNIC UDP',
  [TransportType.UNSPECIFIED]: 'unspecified',
};

const physWords: Words<PhysState> = {
  [PhysState.SLEEP]: 'SLEEP',
  [PhysState.POLLING]: 'POLLING',
  [PhysState.DISABLED]: 'DISABLED',
  [PhysState.PORT_CONFIGURATION_TRAINING]: 'PORT_CONFIGURATION TRAINING',
  [PhysState.LINK_UP]: 'LINK_UP',
  [PhysState.LINK_ERROR_RECOVERY]: 'LINK_ERROR_RECOVERY',
  [PhysState.PHY_TEST]: 'PHY TEST',
};

const linkLayerWords: Words<LinkLayer> = {
  [LinkLayer.UNSPECIFIED]: 'Unspecified',
  [LinkLayer.INFINIBAND]: 'InfiniBand',
  [LinkLayer.ETHERNET]: 'Ethernet',
};

const atomicWords: Words<AtomicCap> = {
  [AtomicCap.NONE]: 'none',
  [AtomicCap.HCA]: 'within the device',
  [AtomicCap.GLOB]: 'global',
};

const gidTypeWords: Words<GidType> = {
  [GidType.IB]: 'IB',
  [GidType.ROCE_V1]: 'RoCE v1',
  [GidType.ROCE_V2]: 'RoCE v2',
};

const enumWords = (prefix: string, constants: Readonly<Record<string, number>>): ReadonlyMap<number, string> =>
  new Map(Object.entries(constants).map(([name, value]) => [value, `${prefix}${name}`]));

const portStates = enumWords('PORT_', PortState);
const qpStates = enumWords('', QpState);
const qpTypes = enumWords('', QpType);
const wcOpcodes = enumWords('', WcOpcode);
const wrOpcodes = enumWords('', WrOpcode);
const migStates = enumWords('', MigState);
const srqTypes = enumWords('', SrqType);
const mwTypes = enumWords('', MwType);
const advices = enumWords('', AdviseMrAdvice);
const selectivityLevels = enumWords('', SelectivityLevel);
const rates = enumWords('', Rate);
const syndromes = enumWords('', Syndrome);

function look(words: Readonly<Record<number, string>>, value: number): string {
  return Object.hasOwn(words, value) ? words[value] : `unknown (${value})`;
}

function lookUp(words: ReadonlyMap<number, string>, value: number): string {
  return words.get(value) ?? `unknown (${value})`;
}

// All take any number, since values also come from peers and files; one that means nothing reads `unknown (99)`.

/** `transport retry count exceeded` (`ibv_wc_status_str`). */
export const wcStatusStr = (status: number): string => look(wcStatusWords, status);
/** `RDMA_WRITE`. */
export const wcOpcodeStr = (opcode: number): string => lookUp(wcOpcodes, opcode);
/** `RDMA_WRITE_WITH_IMM` (`ibv_wr_opcode_str`). */
export const wrOpcodeStr = (opcode: number): string => lookUp(wrOpcodes, opcode);
/** `completion queue error` (`ibv_event_type_str`). */
export const eventTypeStr = (type: number): string => look(eventWords, type);
/** `PORT_ACTIVE` (`ibv_port_state_str`). */
export const portStateStr = (state: number): string => lookUp(portStates, state);
/** `LINK_UP`. */
export const physStateStr = (state: number): string => look(physWords, state);
/** `InfiniBand channel adapter` (`ibv_node_type_str`). */
export const nodeTypeStr = (type: number): string => look(nodeWords, type);
/** `InfiniBand`. */
export const transportTypeStr = (type: number): string => look(transportWords, type);
/** `Ethernet`. */
export const linkLayerStr = (layer: number): string => look(linkLayerWords, layer);
/** `within the device`. */
export const atomicCapStr = (cap: number): string => look(atomicWords, cap);
/** `RTS`. */
export const qpStateStr = (state: number): string => lookUp(qpStates, state);
/** `RC`. */
export const qpTypeStr = (type: number): string => lookUp(qpTypes, type);
/** `MIGRATED`. */
export const migStateStr = (state: number): string => lookUp(migStates, state);
/** `1024`, of `Mtu.MTU_1024`. */
export function mtuStr(mtu: number): string {
  const known = Object.values(Mtu).find((value) => value === mtu);
  return known === undefined ? `unknown (${mtu})` : String(mtuBytes(known));
}
/** `RoCE v2`, as Linux writes it in sysfs. */
export const gidTypeStr = (type: number): string => look(gidTypeWords, type);
/** `XRC`. */
export const srqTypeStr = (type: number): string => lookUp(srqTypes, type);
/** `TYPE_2`. */
export const mwTypeStr = (type: number): string => lookUp(mwTypes, type);
/** `PREFETCH_WRITE`. */
export const adviseMrAdviceStr = (advice: number): string => lookUp(advices, advice);
/** `FLUSH_RANGE`. */
export const selectivityLevelStr = (level: number): string => lookUp(selectivityLevels, level);
/** `RETRY_TIMEOUT`, of a completion's `vendorErr`. */
export const syndromeStr = (syndrome: number): string => lookUp(syndromes, syndrome);
/** `2.5 Gb/s`, or `max` where there is no limit but the port's own. */
export function rateStr(rate: number): string {
  if (rate === Rate.RATE_MAX) return 'max';
  const name = rates.get(rate);
  return name === undefined
    ? `unknown (${rate})`
    : `${name.slice('RATE_'.length, -'_GBPS'.length).replace('_', '.')} Gb/s`;
}
