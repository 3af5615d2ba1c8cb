import type { Nic } from '../../../device/nic/index.js';
import {
  buildIpUdpHeader,
  crc32,
  datagramIcrc,
  ipUdpHeaderBytes,
  LinkType,
  OpcodeBit,
  opcodeBits,
  parseFrame,
  pcapngHeader,
  pcapngPacket,
  readCapture,
} from '../../../device/wire/index.js';
import {
  AccessFlags,
  alloc,
  type Context,
  type Cq,
  type Mr,
  Mtu,
  type Pd,
  type Qp,
  QpState,
  QpType,
  SendFlags,
  type SendWr,
  WcStatus,
  type WorkCompletion,
  WrOpcode,
} from '../../../entry/index.js';
import { type Verdict as Fate, SimulatedCluster, type SimulatedPacket } from '../../../entry/sim.js';
import { adapterOf } from '../../../../test/adversary/testbed.js';

export const A = '10.0.0.1';
export const B = '10.0.0.2';
const { LOCAL_WRITE, REMOTE_WRITE, REMOTE_READ, REMOTE_ATOMIC, MW_BIND } = AccessFlags;
export const ALL_ACCESS = LOCAL_WRITE | REMOTE_WRITE | REMOTE_READ | REMOTE_ATOMIC | MW_BIND;
/** First PSNs of the two sides. */
export const PSN = { [A]: 0x1000, [B]: 0x9000 } as const;
const REGION_BYTES = 65536;
const CAP = { maxSendWr: 16, maxRecvWr: 16, maxSendSge: 2, maxRecvSge: 2 };
/** IPv4 and UDP headers. */
const IPV4_BYTES = 20;
const IP_UDP_BYTES = 28;
const IP_LENGTH_OFFSET = 2;
const IP_ID_OFFSET = 4;
const UDP_LENGTH_OFFSET = 4;
const LONG_US = 60e6;

/** What of a connection a failure needs otherwise. */
export interface Settings {
  readonly destQpNum?: number;
  readonly dgid?: Uint8Array;
  readonly pathMtu?: Mtu;
  readonly rqPsn?: number;
  readonly qpAccessFlags?: number;
  readonly maxDestRdAtomic?: number;
  /** Of the ACK timer: 4.096 µs · 2^n. */
  readonly timeout?: number;
  readonly state?: QpState;
}

/** Gives a packet another IP identification, and the ICRC that it has with it. */
function renumber(packet: Uint8Array, linkType: number, ipId: number): void {
  const datagram = parseFrame(linkType, packet);
  if (typeof datagram === 'string') throw new Error(datagram);
  const view = new DataView(packet.buffer, packet.byteOffset, packet.length);
  view.setUint16(IP_ID_OFFSET, ipId);
  view.setInt32(packet.length - 4, datagramIcrc(crc32, packet, datagram), true);
}

const isRequest = (packet: Uint8Array): boolean =>
  (opcodeBits[packet[IP_UDP_BYTES]] & (OpcodeBit.WRITE | OpcodeBit.READ_REQUEST)) !== 0;

function joined(packets: readonly Uint8Array[]): Uint8Array {
  const [first, ...more] = packets;
  const bytes = Buffer.concat([first, ...more.map((packet) => packet.subarray(IP_UDP_BYTES))]);
  bytes.writeUInt16BE(bytes.length, IP_LENGTH_OFFSET);
  bytes.writeUInt16BE(bytes.length - IPV4_BYTES, IPV4_BYTES + UDP_LENGTH_OFFSET);
  return bytes;
}

export class Side {
  readonly context: Context;
  readonly pd: Pd;
  readonly cq: Cq;
  readonly mr: Mr;
  readonly qp: Qp;
  readonly #records: Uint8Array[] = [];

  constructor(
    private readonly cluster: SimulatedCluster,
    readonly address: string,
    qpType: typeof QpType.RC | typeof QpType.UC | typeof QpType.UD,
    cqe = 64,
  ) {
    this.context = cluster.open(address);
    this.pd = this.context.allocPd();
    this.cq = this.context.createCq({ cqe });
    this.mr = this.pd.regMr(alloc(REGION_BYTES), ALL_ACCESS);
    this.qp = this.pd.createQp({ qpType, sendCq: this.cq, recvCq: this.cq, cap: CAP });
    this.#tap(adapterOf(this.context).nic);
  }

  get gid(): Uint8Array {
    return this.context.queryGid(1, 0);
  }

  record(direction: 'in' | 'out', bytes: Uint8Array, header: SimulatedPacket['header']): void {
    const headers = ipUdpHeaderBytes(header.ipv6);
    const packet = new Uint8Array(headers + bytes.length);
    buildIpUdpHeader(packet, 0, { ...header, ipId: Math.max(0, header.ipId) }, bytes.length);
    packet.set(bytes, headers);
    this.#records.push(pcapngPacket(BigInt(Math.round(this.cluster.nowUs * 1000)), packet, { direction }));
  }

  /** What VERBENA_PCAP would have made of it. */
  get capture(): Uint8Array {
    return Buffer.concat([pcapngHeader({ linkType: LinkType.RAW }), ...this.#records]);
  }

  /** What tcpdump would have made of it: it does not tell what was sent and what received. */
  get undirected(): Uint8Array {
    return this.tcpdump(() => false);
  }

  /** The same, of a tcpdump that misses some packets: `misses` is asked for each, by its number from 0 on. */
  tcpdump(misses: (n: number) => boolean): Uint8Array {
    const records = [...readCapture(this.capture)].filter((_, n) => !misses(n));
    return Buffer.concat([
      pcapngHeader({ linkType: LinkType.RAW }),
      ...records.map(({ timestampNs, data }) => pcapngPacket(timestampNs, data)),
    ]);
  }

  /** The same as {@link capture}, where the system has given what was sent other IP identifications later on, as segmentation does. */
  get renumbered(): Uint8Array {
    const records = [...readCapture(this.capture)].map(({ timestampNs, data, direction, linkType }, n) => {
      const packet = data.slice();
      if (direction === 'out') renumber(packet, linkType, n);
      return pcapngPacket(timestampNs, packet, { direction: direction ?? 'in' });
    });
    return Buffer.concat([pcapngHeader({ linkType: LinkType.RAW }), ...records]);
  }

  /** As {@link undirected}, of a system that cuts long datagrams into packets after tcpdump has seen them. */
  get unsegmented(): Uint8Array {
    const trains: { timestampNs: bigint; packets: Uint8Array[] }[] = [];
    for (const [n, { timestampNs, data, direction, linkType }] of [...readCapture(this.capture)].entries()) {
      const packet = data.slice();
      const last = trains.at(-1);
      const room = direction === 'out' && last?.timestampNs === timestampNs && last.packets.length < 8;
      if (direction === 'out') renumber(packet, linkType, n);
      // Only the last may be shorter.
      if (
        room &&
        last.packets.every(
          (one) => one.length === last.packets[0].length && one.length >= packet.length && isRequest(one),
        )
      )
        last.packets.push(packet);
      else trains.push({ timestampNs, packets: [packet] });
    }
    return Buffer.concat([
      pcapngHeader({ linkType: LinkType.RAW }),
      ...trains.map(({ timestampNs, packets }) => pcapngPacket(timestampNs, joined(packets))),
    ]);
  }

  receive(lengthBytes = 1024, times = 1, mr = this.mr): void {
    for (let i = 0; i < times; i += 1) this.qp.postRecv({ sgList: [mr.sge(0, lengthBytes)] });
  }

  post(...requests: readonly SendWr[]): void {
    for (const request of requests)
      this.qp.postSend({ ...request, sendFlags: (request.sendFlags ?? 0) | SendFlags.SIGNALED });
  }

  #tap(nic: Nic): void {
    const receive = nic.receive.bind(nic);
    nic.receive = (bytes, offset, lengthBytes, meta) => {
      this.record('in', bytes.slice(offset, offset + lengthBytes), meta);
      receive(bytes, offset, lengthBytes, meta);
    };
  }
}

/** Two sides, a wire between them that does what a script says, and a look on at both. */
export class Testbed {
  readonly cluster = new SimulatedCluster({ seed: 1 });
  readonly a: Side;
  readonly b: Side;
  /** Decides over each packet. */
  script: (packet: SimulatedPacket) => Fate = () => 'pass';
  rewrite: (packet: SimulatedPacket) => Uint8Array | undefined = () => undefined;

  constructor(qpType: typeof QpType.RC | typeof QpType.UC | typeof QpType.UD = QpType.RC, bCqe = 64) {
    this.a = new Side(this.cluster, A, qpType);
    this.b = new Side(this.cluster, B, qpType, bCqe);
    this.cluster.network.onPacket = (packet) => {
      const side = [this.a, this.b].find(({ address }) => address === packet.from);
      const replace = this.rewrite(packet);
      side?.record('out', replace ?? packet.bytes, packet.header);
      return replace === undefined ? this.script(packet) : { replace };
    };
  }

  connect(a: Settings = {}, b: Settings = {}): void {
    this.#connect(this.a, this.b, a);
    this.#connect(this.b, this.a, b);
  }

  /** Lets everything happen that is going to. */
  run(us = LONG_US): void {
    this.cluster.run(this.cluster.nowUs + us);
  }

  failure(side = this.a): WorkCompletion {
    const completions = this.completions(side);
    const found = completions.find(({ status }) => status !== WcStatus.SUCCESS);
    if (found === undefined) throw new Error(`nothing failed: ${completions.length} completions`);
    return found;
  }

  completions(side = this.a): WorkCompletion[] {
    this.run();
    return side.cq.poll(64);
  }

  #connect({ qp, address }: Side, peer: Side, settings: Settings): void {
    const { state = QpState.RTS } = settings;
    if (state === QpState.RESET) return;
    const { qpAccessFlags = ALL_ACCESS & ~MW_BIND } = settings;
    qp.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qpAccessFlags });
    if (state === QpState.INIT) return;
    const reliable = qp.qpType === QpType.RC;
    qp.modify({
      qpState: QpState.RTR,
      pathMtu: settings.pathMtu ?? Mtu.MTU_1024,
      destQpNum: settings.destQpNum ?? peer.qp.qpNum,
      rqPsn: settings.rqPsn ?? (address === A ? PSN[B] : PSN[A]),
      ahAttr: { grh: { dgid: settings.dgid ?? peer.gid } },
      ...(reliable && { maxDestRdAtomic: settings.maxDestRdAtomic ?? 16, minRnrTimer: 12 }),
    });
    const retries = { timeout: settings.timeout ?? 12, retryCnt: 3, rnrRetry: 2, maxRdAtomic: 16 };
    qp.modify({ qpState: QpState.RTS, sqPsn: address === A ? PSN[A] : PSN[B], ...(reliable && retries) });
  }
}

export function write(from: Side, to: Side, lengthBytes = 64, rdma: { rkey?: number; offset?: number } = {}): SendWr {
  const { rkey = to.mr.rkey, offset = 0 } = rdma;
  const remote = { remoteAddr: to.mr.addr + BigInt(offset), rkey };
  return { opcode: WrOpcode.RDMA_WRITE, sgList: [from.mr.sge(0, lengthBytes)], rdma: remote };
}

export function read(from: Side, to: Side, lengthBytes = 64, rkey = to.mr.rkey): SendWr {
  return { opcode: WrOpcode.RDMA_READ, sgList: [from.mr.sge(0, lengthBytes)], rdma: { remoteAddr: to.mr.addr, rkey } };
}

export function send(from: Side, lengthBytes = 64): SendWr {
  return { opcode: WrOpcode.SEND, sgList: [from.mr.sge(0, lengthBytes)] };
}
