/**
 * A table that is read as FaRM's is (Dragojević, Narayanan, Castro and Hodson, NSDI 2014), for comparison: keys and values lie side by side in one table, and
 * a GET READs the neighbourhood of its key, of six slots, at once.
 */
import { AccessFlags, alloc, type CmId, connect, type FullAddress, listen, type Qp } from '../../src/entry/index.js';
import { Engine, type Lease, SendQueue } from '../../src/protocols/core/index.js';
import { postFor } from '../../src/protocols/kv/transport/send-copy.js';

/** As the authors of HERD have it of FaRM. */
const NEIGHBOURS = 6;
const KEY_BYTES = 16;
/** Three slots of four are taken. */
const SPREAD = 4 / 3;

const placeOf = (n: number): number => Math.floor(n * SPREAD);

/** Serves a table of these keys, all with the same value. */
export function serveTable(host: string, keys: readonly Uint8Array[], value: Uint8Array): FullAddress {
  const slotBytes = KEY_BYTES + value.length;
  const table = alloc((placeOf(keys.length) + NEIGHBOURS) * slotBytes);
  keys.forEach((key, n) => {
    table.set(key, placeOf(n) * slotBytes);
    table.set(value, placeOf(n) * slotBytes + KEY_BYTES);
  });
  const listener = listen({ host });
  void listener.serve(async (request) => {
    const { pd } = request.id;
    if (pd === undefined) throw new Error('a request without a device');
    const region = pd.regMr(table, AccessFlags.REMOTE_READ);
    const privateData = new Uint8Array(12);
    const view = new DataView(privateData.buffer);
    view.setBigUint64(0, region.iova);
    view.setUint32(8, region.rkey);
    await using connection = await request.accept({ privateData });
    await connection.closed;
  });
  return listener.address;
}

interface Reading {
  readonly at: number;
  readonly key: Uint8Array;
  readonly lease: Lease;
  readonly resolve: (value: Uint8Array | undefined) => void;
}

export class TableReader {
  #reads: SendQueue<Reading> | undefined;
  #engine: Engine | undefined;
  #addr = 0n;
  #rkey = 0;
  readonly #describe = (qp: Qp, { at }: Reading): void => qp.wrRdmaRead(this.#rkey, this.#addr + BigInt(at));
  readonly #slotBytes: number;

  constructor(valueBytes: number) {
    this.#slotBytes = KEY_BYTES + valueBytes;
  }

  async connect(where: FullAddress, localAddress: string, depth: number): Promise<void> {
    const createQp = (id: CmId): void => {
      if (id.verbs === undefined) throw new Error('a queue pair before there is a device');
      const engine = (this.#engine = Engine.of(id.verbs));
      const { cq, pd } = engine;
      const cap = { maxSendWr: depth, maxRecvWr: 1, maxSendSge: 1, maxRecvSge: 1 };
      const qp = id.createQp(pd, { sendCq: cq, recvCq: cq, sqSigAll: true, cap });
      const listener = {
        onDone: (reading: Reading | undefined): void => this.#take(reading),
        onFailed: (): never => {
          throw new Error('a READ has failed');
        },
        onRefused: (error: Error): void => {
          throw error;
        },
      };
      this.#reads = new SendQueue(engine, qp, depth, listener, 'table');
      engine.hold();
    };
    const { host, port } = where;
    const { privateData } = await connect({ host, port, localAddress, createQp });
    const view = new DataView(privateData.buffer, privateData.byteOffset);
    this.#addr = view.getBigUint64(0);
    this.#rkey = view.getUint32(8);
  }

  get(n: number, key: Uint8Array): Promise<Uint8Array | undefined> {
    return new Promise((resolve) => {
      const bytes = NEIGHBOURS * this.#slotBytes;
      const lease = this.#engine?.pool.tryLease(bytes, 'table');
      if (lease === undefined) throw new Error('no buffer to read into');
      const reading = { at: placeOf(n) * this.#slotBytes, key, lease, resolve };
      if (this.#reads === undefined || !postFor(this.#reads, lease, bytes, reading, this.#describe))
        throw new Error('no room for another READ');
    });
  }

  #take(reading: Reading | undefined): void {
    if (reading === undefined) return;
    const { key, lease, resolve } = reading;
    const { bytes } = lease;
    let found: Uint8Array | undefined;
    for (let slot = 0; slot < NEIGHBOURS && found === undefined; slot += 1) {
      const at = slot * this.#slotBytes;
      if (key.every((byte, i) => bytes[at + i] === byte)) found = bytes.slice(at + KEY_BYTES, at + this.#slotBytes);
    }
    lease.release();
    resolve(found);
  }
}
