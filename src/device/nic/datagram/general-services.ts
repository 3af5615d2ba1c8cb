import { type AhAttr, type Gid, PSN_MASK, psnNext } from '../../ibta/index.js';
import {
  bthPadCount,
  bthPkey,
  dethOffset,
  dethQkey,
  dethSourceQp,
  ICRC_BYTES,
  opcodeHeaderBytes,
  type PacketMeta,
  type Path,
  writeDeth,
} from '../../wire/index.js';
import type { NicCounters } from '../counters.js';
import type { PacketBuilder, PacketOrigin } from '../port/packet-builder.js';
import { pathTo } from '../port/path-to.js';
import { pkeysMatch, type Port } from '../port/port.js';

/** The queue pair of the general services interface, which every port has (protocol/connections.md 4.1). */
export const GSI_QPN = 1;
/** The Q_Key of all datagrams to it (protocol/packets.md 1.5). */
const GSI_QKEY = 0x80010000 | 0;
const UD_SEND_ONLY = 0x64;
/** A management datagram has this size, always (protocol/connections.md 4.1). */
const MAD_BYTES = 256;
/** Datagrams that wait to be sent; what finds no room is lost, as on the wire, and its sender sends it again. */
const MAX_WAITING = 4096;

export interface ManagementDatagram {
  /** 256 bytes, which the receiver may keep. */
  readonly mad: Uint8Array;
  readonly source: Gid;
  readonly destination: Gid;
  readonly sourceQpn: number;
  readonly trafficClass: number;
  /** As `PacketMeta.way`. */
  readonly way: number;
}

/** What the services need of their NIC. */
interface Services {
  readonly builder: PacketBuilder;
  readonly counters: NicCounters;
  readonly port: Port;
}

interface Outgoing extends PacketOrigin {
  readonly mad: Uint8Array;
}

/** Queue pair 1: management datagrams in and out. It has no rings; the connection manager is called with each datagram. */
export class GeneralServices {
  /** Takes what arrives; without one it is dropped. */
  receiver: ((datagram: ManagementDatagram) => void) | undefined;
  #waiting: Outgoing[] = [];
  #psn: number;

  constructor(
    private readonly core: Services,
    random: number,
  ) {
    this.#psn = random & PSN_MASK;
  }

  /** Whether datagrams wait to be sent. */
  get busy(): boolean {
    return this.#waiting.length > 0;
  }

  /** Takes a packet to queue pair 1 whose ICRC is right. Whatever else is wrong with it, it is counted and dropped. */
  onPacket(bytes: Uint8Array, offset: number, lengthBytes: number, meta: PacketMeta): void {
    const { counters, port } = this.core;
    if (bytes[offset] !== UD_SEND_ONLY) {
      counters.rxWrongTransport += 1;
      return;
    }
    const pkey = bthPkey(bytes, offset);
    if (!port.pkeys.some((own) => pkeysMatch(pkey, own))) {
      counters.rxBadPkey += 1;
      return;
    }
    const deth = offset + dethOffset[UD_SEND_ONLY];
    if (dethQkey(bytes, deth) !== GSI_QKEY) {
      counters.rxBadQkey += 1;
      return;
    }
    const payload = offset + opcodeHeaderBytes[UD_SEND_ONLY];
    const payloadBytes = lengthBytes - opcodeHeaderBytes[UD_SEND_ONLY] - ICRC_BYTES - bthPadCount(bytes, offset);
    if (payloadBytes !== MAD_BYTES) {
      counters.rxMessageDropped += 1;
      return;
    }
    if (this.receiver === undefined) {
      counters.rxUnknownQp += 1;
      return;
    }
    this.receiver({
      mad: bytes.slice(payload, payload + MAD_BYTES),
      source: meta.source.slice(),
      destination: meta.destination.slice(),
      sourceQpn: dethSourceQp(bytes, deth),
      trafficClass: meta.trafficClass,
      way: meta.way,
    });
  }

  /**
   * Sends a datagram to queue pair 1 of another port, with the next {@link transmit}.
   *
   * @throws CommandError EINVAL where no path leads to that address
   */
  send(to: AhAttr, mad: Uint8Array): void {
    const path: Path = pathTo(to, this.core.port);
    if (this.#waiting.length >= MAX_WAITING) {
      this.core.counters.sendErr += 1;
      return;
    }
    this.#waiting.push({ path, destQpn: GSI_QPN, pkey: this.core.port.pkey(0), mad });
  }

  /** Builds what waits into the sink. @returns false when the sink had no room for all of it */
  transmit(): boolean {
    const { builder } = this.core;
    for (let sent = 0; sent < this.#waiting.length; sent += 1) {
      const datagram = this.#waiting[sent];
      if (!builder.open(datagram, UD_SEND_ONLY, this.#psn, MAD_BYTES, false, false)) {
        this.#waiting = this.#waiting.slice(sent);
        return false;
      }
      writeDeth(builder.bytes, builder.offset + dethOffset[UD_SEND_ONLY], GSI_QKEY, GSI_QPN);
      builder.bytes.set(datagram.mad, builder.payload);
      builder.close();
      this.#psn = psnNext(this.#psn);
    }
    this.#waiting = [];
    return true;
  }
}
