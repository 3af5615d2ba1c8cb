import type { Sim } from '../../../../entry/sim.js';
import { Engine } from '../../../core/index.js';
import type { UdAddress } from '../../uct/index.js';
import { Carrier } from '../../uct/ud/carrier.js';
import type { Addressee } from '../../uct/ud/addressee.js';
import { Datagram } from '../../uct/ud/datagram.js';
import {
  encodeUdControl,
  MAX_UD_CONTROL_BYTES,
  NO_UD_ENDPOINT,
  UcsStatus,
  UD_HEADER_BYTES,
  type UdConnectRequest,
  type UdControl,
  UdControlType,
  UdFlags,
  writeUdHeader,
} from '../../wire/index.js';

export function datagram(word: number, psn: number, ackPsn: number, body: Uint8Array = new Uint8Array(0)): Uint8Array {
  const bytes = new Uint8Array(UD_HEADER_BYTES + body.length);
  writeUdHeader(bytes, word, psn, ackPsn);
  bytes.set(body, UD_HEADER_BYTES);
  return bytes;
}

export function controlBytes(control: UdControl): Uint8Array {
  const into = new Uint8Array(MAX_UD_CONTROL_BYTES);
  return into.subarray(0, encodeUdControl(into, control));
}

/** Somebody on a host of their own who sends whatever bytes they like, and sees what comes. */
export class Stranger {
  /** What has come, behind what the adapter puts there. */
  readonly got: Uint8Array[] = [];
  readonly #engine: Engine;
  readonly #carrier: Carrier;
  readonly #to: Addressee;

  constructor(
    private readonly sim: Sim,
    name: string,
    target: UdAddress,
  ) {
    this.#engine = new Engine(sim.host(name).context, { name: 'a stranger' });
    this.#carrier = new Carrier(this.#engine, 64, 0x11223344, {
      onDatagram: (bytes) => this.got.push(bytes.slice(40)),
      onRoom: () => undefined,
      onLost: () => undefined,
    });
    this.#to = this.#carrier.addressee(target);
  }

  get address(): UdAddress {
    return this.#carrier.address;
  }

  /** A request for a connection, as good as any, but for what is said. */
  request(changes: Partial<UdConnectRequest> = {}): Uint8Array {
    const { gid, qpn, qkey } = this.address;
    return datagram(
      NO_UD_ENDPOINT | UdFlags.CTL | UdFlags.ACK_REQ,
      1,
      0,
      controlBytes({
        type: UdControlType.CREQ,
        gid,
        qpn,
        qkey,
        endpoint: 1,
        connection: 1,
        segmentBytes: 4096,
        ...changes,
      }),
    );
  }

  async send(...all: readonly Uint8Array[]): Promise<void> {
    for (const bytes of all) {
      const lease = this.#engine.pool.lease(bytes.length, 'a stranger');
      lease.bytes.set(bytes);
      const sent = new Datagram(this.#to, lease, bytes.length, undefined, undefined);
      this.#carrier.post(sent);
      sent.end(UcsStatus.UCS_OK);
      await this.sim.sleep(20);
    }
  }

  async close(): Promise<void> {
    this.#to.end();
    this.#carrier.end();
    await this.#carrier.ended;
    this.#engine.close();
  }
}
