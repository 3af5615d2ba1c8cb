import {
  type Gid,
  gidFromIp,
  gidsEqual,
  ipFromGid,
  isIpv4Gid,
  QpType,
  RDMA_UDP_QKEY,
  WcStatus,
} from '../../../device/ibta/index.js';
import type { CmId, FullAddress, SocketAddress } from '../../../api/rdmacm/index.js';
import { openDatagramPort } from '../../../api/provider/index.js';
import type { DatagramPort } from '../../../api/runtime/index.js';
import { type Context, type Cq, type Qp, VerbsError } from '../../../api/verbs/index.js';
import { type CompletionHandler, Engine, type Requests, type SendListener, SendQueue } from '../../core/index.js';
import { RsocketError } from '../errors.js';
import {
  datagramHeaderBytes,
  decodeIntroduction,
  encodeDatagramHeader,
  encodeIntroduction,
  gidInHeader,
  hostInHeader,
  IntroductionKind,
  portInHeader,
} from '../wire/datagram.js';
import { DatagramMemory, GRH_BYTES } from './datagram-memory.js';
import { type DatagramSizes, granted, maxPayload } from './datagram-sizes.js';
import { type Peer, Peers } from './peers.js';

export interface Arrival {
  readonly payload: Uint8Array;
  readonly from: FullAddress;
  /** The receive buffer that it lies in; -1 for what came by UDP, which has memory of its own. */
  readonly slot: number;
}

/** One that lies in a receive buffer. Who has sent it is found out for who asks. */
class ReceivedDatagram implements Arrival {
  constructor(
    private readonly bytes: Uint8Array,
    private readonly headerBytes: number,
    readonly slot: number,
  ) {}

  get payload(): Uint8Array {
    return this.bytes.subarray(this.headerBytes);
  }

  get from(): FullAddress {
    return { host: hostInHeader(this.bytes), port: portInHeader(this.bytes) };
  }
}

/** An address without the zone that link-local ones have. @throws RangeError for what is no address */
function withoutZone(host: string): string {
  return ipFromGid(gidFromIp(host.replace(/%.*$/, '')));
}

/** The same as 16 bytes; undefined for what is no address. */
function gidOf(host: string): Gid | undefined {
  try {
    return gidFromIp(host.replace(/%.*$/, ''));
  } catch {
    return undefined;
  }
}

function versionOf(gid: Gid): 4 | 6 {
  return isIpv4Gid(gid) ? 4 : 6;
}

function isGroup(gid: Gid): boolean {
  return isIpv4Gid(gid) ? gid[12] >> 4 === 0xe : gid[0] === 0xff;
}

/** Whether it is one within a network, so that it means little without an interface. */
function isLinkLocal(gid: Gid): boolean {
  return gid[0] === 0xfe && gid[1] >> 6 === 2;
}

const OWNER = 'verbena/rsocket datagrams';
const HOP_LIMIT = 64;
const MAX_PORT = 0xffff;
/** A peer that has answered is asked again after that long, since it may have been started anew, with another queue pair. */
const FRESH_US = 5_000_000;
/** And one that does not answer, after that. */
const ASK_AGAIN_US = 1_000_000;
const NOTHING = new Uint8Array(0);

export interface DatagramEvents {
  readonly readable: () => void;
  readonly writable: () => void;
  /** Nothing is sent or received any more: the device is gone. */
  readonly failed: (error: Error) => void;
}

export interface DatagramSocketOptions extends DatagramSizes {
  /** Type of service of the packets, 8 bits. */
  readonly tos: number;
}

function contextOf(id: CmId): Context {
  if (id.verbs === undefined) throw new Error('verbena: internal error: a socket without a device');
  return id.verbs;
}

/** A socket for datagrams: a queue pair, which those who do not know it find by a UDP port of the same number. */
export class DatagramSocket implements SendListener<Peer>, CompletionHandler {
  readonly localAddress: FullAddress;
  /** Bytes of a datagram at most. */
  readonly maxPayload: number;
  /** Only what this one sends is taken. */
  only: Peer | undefined;
  readonly #engine: Engine;
  readonly #version: 4 | 6;
  readonly #header: Uint8Array;
  readonly #sends: SendQueue<Peer>;
  readonly #receives: Requests;
  readonly #memory: DatagramMemory;
  readonly #qp: Qp;
  readonly #port: DatagramPort;
  readonly #gid: Uint8Array;
  /** Of a link-local address, which means one on that interface only. */
  readonly #zone: string;
  readonly #peers = new Peers();
  readonly #arrivals: Arrival[] = [];
  readonly #undo: (() => void)[] = [];
  #isClosed = false;

  /**
   * @param id has an address, and no queue pair; it is destroyed with the socket
   * @throws VerbsError EADDRINUSE when another has the UDP port; ENOMEM
   */
  constructor(
    call: string,
    id: CmId,
    private readonly options: DatagramSocketOptions,
    private readonly events: DatagramEvents,
  ) {
    try {
      const context = contextOf(id);
      const engine = Engine.of(context);
      const { sends, receives } = granted(options, context);
      const host = withoutZone(context.address);
      this.#engine = engine;
      this.#zone = context.address.slice(host.length);
      this.#gid = context.queryGid(1, 0);
      this.#version = versionOf(this.#gid);
      this.maxPayload = maxPayload(context, this.#version);
      this.#receives = engine.requests(this, receives, OWNER);
      this.#undo.push(() => this.#receives.end());
      this.#memory = new DatagramMemory(engine.pd, sends, receives);
      this.#undo.push(() => this.#memory[Symbol.dispose]());
      this.#undo.push(() => id[Symbol.dispose]());
      this.#qp = id.createQp(engine.pd, {
        qpType: QpType.UD,
        sendCq: engine.cq,
        recvCq: engine.cq,
        sqSigAll: true,
        cap: { maxSendWr: sends, maxRecvWr: receives, maxSendSge: 1, maxRecvSge: 1, maxInlineData: 0 },
      });
      this.#sends = new SendQueue(engine, this.#qp, sends, this, OWNER);
      // Undone last, once the queue pair is destroyed.
      this.#undo.unshift(() => this.#sends.destroyed());
      for (let slot = 0; slot < receives; slot += 1) this.#postReceive(slot);
      const { port } = id.localAddr ?? { port: 0 };
      this.#port = openDatagramPort(call, context, {
        host: context.address,
        port,
        onDatagram: (bytes, from, fromPort) => this.#introduced(bytes, withoutZone(from), fromPort),
      });
      this.#undo.push(() => this.#port.close());
      this.localAddress = { host, port: this.#port.port };
      this.#header = encodeDatagramHeader(this.#gid, this.localAddress.port);
      const hold = engine.hold();
      this.#undo.push(() => hold.release());
    } catch (error) {
      this.#release();
      throw error;
    }
  }

  get context(): Context {
    return this.#engine.context;
  }

  /** Whether somebody there has sent something to it, or was sent something. */
  knows(host: string, port: number): boolean {
    return this.#peers.find(host, port) !== undefined;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  get canSend(): boolean {
    return this.#sends.room > 0;
  }

  get isIdle(): boolean {
    return this.#sends.isEmpty;
  }

  get next(): Arrival | undefined {
    return this.#arrivals[0];
  }

  /** {@link next} was read: its buffer is the adapter's again. */
  consume(): void {
    const read = this.#arrivals.shift();
    if (read !== undefined && read.slot >= 0 && !this.#isClosed) this.#postReceive(read.slot);
  }

  /**
   * Somebody to send to.
   *
   * @throws RsocketError EINVAL for an address without a port or a host, EAFNOSUPPORT for one of the other version of IP, EOPNOTSUPP for a group
   */
  peer(call: string, { host = '', port = 0 }: SocketAddress): Peer {
    const known = this.#peers.find(host, port);
    if (known !== undefined) return this.#peers.choose(host, port);
    const plain = this.#checkedHost(call, host, port);
    return this.#peers.choose(plain, port);
  }

  /**
   * Sends a datagram. Nobody tells whether it arrives.
   *
   * @returns false when no buffer is free
   * @throws RsocketError EMSGSIZE for more than {@link maxPayload} bytes; VerbsError when the device has no room for an address handle, or is lost
   */
  send(call: string, peer: Peer, pieces: readonly Uint8Array[]): boolean {
    const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
    if (length > this.maxPayload)
      throw new RsocketError(call, {
        errno: 'EMSGSIZE',
        message: `a datagram of ${length} bytes does not fit into one packet, which has room for ${this.maxPayload}`,
        advice: 'Send it in parts',
      });
    const now = this.#engine.nowUs();
    if (peer.qpn === 0 || now >= peer.askAtUs) {
      peer.isAsked = true;
      peer.askAtUs = now + ASK_AGAIN_US;
      this.#introduce(IntroductionKind.DATA, peer, joined(pieces, length));
      return true;
    }
    if (!this.canSend) return false;
    peer.ah ??= this.#engine.pd.createAh({
      isGlobal: true,
      portNum: 1,
      grh: { dgid: peer.gid, sgidIndex: 0, hopLimit: HOP_LIMIT, trafficClass: this.options.tos },
    });
    this.#post(peer, peer.ah, pieces, length);
    return true;
  }

  /** Ends it at once. Idempotent. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#arrivals.length = 0;
    this.#release();
  }

  onCompletion(slot: number, cq: Cq): void {
    this.#received(slot, cq);
  }

  onLost(): void {
    const { failure } = this.#engine;
    if (this.#isClosed || failure === undefined) return;
    this.close();
    this.events.failed(failure);
  }

  onDone(peer: Peer | undefined): void {
    if (peer !== undefined) {
      peer.underWay -= 1;
      peer.tidy();
    }
    if (!this.#isClosed) this.events.writable();
  }

  onFailed(peer: Peer | undefined, _: unknown, cq: Cq | undefined): void {
    this.onDone(peer);
    if (cq === undefined) this.onLost();
  }

  onRefused(error: VerbsError): never {
    throw error;
  }

  #post(peer: Peer, ah: NonNullable<Peer['ah']>, pieces: readonly Uint8Array[], length: number): void {
    const slot = this.#sends.nextSlot;
    this.#memory.fill(slot, this.#header, pieces);
    const qp = this.#sends.begin(peer);
    if (qp === undefined) return;
    peer.underWay += 1;
    qp.wrSend();
    qp.wrSetUdAddr(ah, peer.qpn, RDMA_UDP_QKEY);
    qp.wrSetSge(this.#memory.lkey, this.#memory.sendAddr(slot), this.#header.length + length);
    this.#sends.post();
  }

  #postReceive(slot: number): void {
    const wrId = this.#receives.expect(slot);
    try {
      this.#qp.postRecvSge(wrId, this.#memory.lkey, this.#memory.receiveAddr(slot), this.#memory.receiveBytes);
    } catch (error) {
      this.#receives.forget(wrId);
      if (!(error instanceof VerbsError)) throw error;
      // The device is lost, and says so by itself.
    }
  }

  #received(slot: number, cq: Cq): void {
    if (this.#isClosed) return;
    if (cq.status === WcStatus.WR_FLUSH_ERR) return;
    const all = cq.status === WcStatus.SUCCESS ? this.#memory.received(slot, cq.byteLen) : NOTHING;
    const bytes = all.subarray(GRH_BYTES);
    const headerBytes = datagramHeaderBytes(bytes, all, this.#version);
    if (headerBytes === 0 || this.#isFull || !this.#isWanted(bytes)) {
      this.#postReceive(slot);
      return;
    }
    this.#arrivals.push(new ReceivedDatagram(bytes, headerBytes, slot));
    this.events.readable();
  }

  /** What waits is bounded, whichever way it has come. */
  get #isFull(): boolean {
    return this.#arrivals.length >= this.#memory.receives;
  }

  #isWanted(datagram: Uint8Array): boolean {
    const { only } = this;
    return only === undefined || (portInHeader(datagram) === only.port && gidsEqual(gidInHeader(datagram), only.gid));
  }

  /** A packet has come by UDP, from whomever. */
  #introduced(bytes: Uint8Array, host: string, port: number): void {
    if (this.#isClosed || port === 0) return;
    const introduction = decodeIntroduction(bytes, this.#version);
    if (introduction === undefined) return;
    const { only } = this;
    if (only !== undefined && (only.port !== port || only.host !== host)) return;
    const { kind, qpn, payload } = introduction;
    if (kind === IntroductionKind.CTRL) {
      const peer = this.#peers.find(host, port);
      // An answer to nothing is somebody else's.
      if (peer?.isAsked !== true) return;
      peer.isAsked = false;
      this.#learn(peer, qpn);
      return;
    }
    const peer = this.#peers.meet(host, port);
    this.#learn(peer, qpn);
    this.#introduce(IntroductionKind.CTRL, peer, NOTHING);
    if (this.#isFull || payload.length > this.maxPayload) return;
    this.#arrivals.push({ payload, from: { host, port }, slot: -1 });
    this.events.readable();
  }

  #learn(peer: Peer, qpn: number): void {
    peer.qpn = qpn;
    peer.askAtUs = this.#engine.nowUs() + FRESH_US;
  }

  #introduce(kind: IntroductionKind, { host, port, gid }: Peer, payload: Uint8Array): void {
    const packet = encodeIntroduction(kind, this.#gid, this.#qp.qpNum, payload);
    this.#port.send(packet, isLinkLocal(gid) ? host + this.#zone : host, port);
  }

  /** @returns the address as peers are known by */
  #checkedHost(call: string, host: string, port: number): string {
    const refused = (errno: 'EINVAL' | 'EAFNOSUPPORT' | 'EOPNOTSUPP', message: string): RsocketError =>
      new RsocketError(call, { errno, message, advice: 'Give the address and the port of an rsocket for datagrams' });
    if (!Number.isInteger(port) || port < 1 || port > MAX_PORT) throw refused('EINVAL', `the port is ${port}`);
    const gid = gidOf(host);
    if (gid === undefined) throw refused('EINVAL', `'${host}' is no address`);
    if (versionOf(gid) !== this.#version)
      throw refused('EAFNOSUPPORT', `${host} is no address of IPv${this.#version}, which the socket has`);
    if (isGroup(gid)) throw refused('EOPNOTSUPP', `${host} is a group`);
    return ipFromGid(gid);
  }

  #release(): void {
    for (const undo of this.#undo.splice(0).reverse()) undo();
    this.#peers.clear();
  }
}

function joined(pieces: readonly Uint8Array[], length: number): Uint8Array {
  if (pieces.length === 1) return pieces[0];
  const all = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}
