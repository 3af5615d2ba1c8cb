import {
  AccessFlags,
  alloc,
  type CmId,
  type Connection,
  type ConnectionOptions,
  type Mr,
  SendFlags,
  type WorkCompletion,
  WrOpcode,
} from '../../../../entry/index.js';
import type { SimHost } from '../../../../entry/sim.js';
import {
  type ConnectionData,
  decodeConnectionData,
  encodeConnectionData,
  readSpan,
  type Span,
} from '../../wire/connection-data.js';
import { PORT } from './streams.js';

/** Bytes of its receive buffer, which it names all at once. */
const BUFFER = 65_536;
const CREDITS = 64;

const NOTHING = new Uint8Array(0);
const NOWHERE: Span = { addr: 0n, key: 0, length: 0 };

/** What a peer says instead of the truth. */
export type Claims = (truth: ConnectionData) => ConnectionData;
const honest: Claims = (truth) => truth;

/** A peer made of raw verbs, that says what it is told to. */
export class RawPeer {
  readonly peer: ConnectionData;
  #sequence = 0;

  private constructor(
    readonly connection: Connection,
    readonly buffer: Mr,
    readonly table: Mr,
  ) {
    const peer = decodeConnectionData(connection.privateData);
    if (peer === undefined) throw new Error('the other end said nothing of itself');
    this.peer = peer;
  }

  /** Connects to a stream's listener on `server`. */
  static connect(host: SimHost, claims: Claims = honest): Promise<RawPeer> {
    return host.run(() =>
      RawPeer.#establish(claims, (options) => host.connect({ host: 'server', port: PORT, ...options })),
    );
  }

  /** Waits for a stream to connect to this host. */
  static async accept(host: SimHost, claims: Claims = honest): Promise<RawPeer> {
    const listener = host.listen({ port: PORT });
    const request = await listener.next();
    const peer = await RawPeer.#establish(claims, (options) => request.accept(options));
    listener.close();
    return peer;
  }

  static async #establish(claims: Claims, by: (options: ConnectionOptions) => Promise<Connection>): Promise<RawPeer> {
    const made: { buffer?: Mr; table?: Mr } = {};
    const options = {
      qp: { cap: { maxSendWr: 256, maxRecvWr: 256, maxSendSge: 1, maxRecvSge: 1 } },
      privateData: new Uint8Array(40),
      prepare: (id: CmId) => {
        const access = AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE;
        const { qp } = id;
        if (qp === undefined) throw new Error('no queue pair');
        const buffer = qp.pd.regMr(alloc(BUFFER), access);
        const table = qp.pd.regMr(alloc(32 + 24 * 4), access);
        Object.assign(made, { buffer, table });
        options.privateData.set(
          encodeConnectionData(
            claims({
              version: 1,
              byteOrder: 'little',
              hasIomap: true,
              credits: CREDITS,
              iomapSize: 4,
              targets: { addr: table.addr, key: table.rkey, length: 2 },
              data: { addr: buffer.addr, key: buffer.rkey, length: BUFFER },
            }),
          ),
        );
        for (let i = 0; i < 2 * CREDITS; i += 1) qp.postRecv({ wrId: 0n, sgList: [] });
      },
    };
    const connection = await by(options);
    const { buffer, table } = made;
    if (buffer === undefined || table === undefined) throw new Error('no memory');
    return new RawPeer(connection, buffer, table);
  }

  /** Writes bytes with immediate data to an address, by the key that the other end has named for it. */
  say(operation: number, value: number, bytes: Uint8Array = NOTHING, to: Span = NOWHERE, offset = 0): void {
    this.connection.qp.postSend({
      opcode: WrOpcode.RDMA_WRITE_WITH_IMM,
      sendFlags: SendFlags.SIGNALED,
      immData: ((operation << 29) | value) >>> 0,
      sgList: this.#pieces(bytes),
      rdma: { remoteAddr: to.addr + BigInt(offset), rkey: to.key },
    });
  }

  /** Writes bytes without a word. */
  write(bytes: Uint8Array, to: Span, offset = 0): void {
    this.connection.qp.postSend({
      opcode: WrOpcode.RDMA_WRITE,
      sendFlags: SendFlags.SIGNALED,
      sgList: this.#pieces(bytes),
      rdma: { remoteAddr: to.addr + BigInt(offset), rkey: to.key },
    });
  }

  send(bytes: Uint8Array): void {
    this.connection.qp.postSend({
      opcode: WrOpcode.SEND,
      sendFlags: SendFlags.SIGNALED,
      sgList: this.#pieces(bytes),
    });
  }

  data(bytes: Uint8Array): void {
    this.say(0, bytes.length, bytes, this.peer.data, this.#sequence);
    this.#sequence += bytes.length;
  }

  next(): Promise<WorkCompletion> {
    return this.connection.recvComp();
  }

  named(entry: number, order: 'big' | 'little'): Span {
    const { buffer, byteOffset, byteLength } = this.table.bytes;
    return readSpan(new DataView(buffer, byteOffset, byteLength), 16 * entry, order);
  }

  #pieces(bytes: Uint8Array): { addr: bigint; length: number; lkey: number }[] {
    if (bytes.length === 0) return [];
    const copy = alloc(bytes.length);
    copy.set(bytes);
    const mr = this.connection.qp.pd.regMr(copy, AccessFlags.LOCAL_WRITE);
    return [{ addr: mr.addr, length: bytes.length, lkey: mr.lkey }];
  }
}
