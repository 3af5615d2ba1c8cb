// Which queue pairs the address of a UCX worker names, for those who look at its traffic: `ucp_address_do_pack` of ucp/wireup/address.c, UCX 1.13, version 1. An address
// has devices, these have transports, and those with connections have endpoints, each for a lane of UCP's endpoint.

const VERSION_MASK = 0x0f;
const UUID = 0x20;
const CLIENT_ID = 0x40;
const NAME = 0x10;
const ID_BYTES = 8;

/** In place of a device: there is none. */
const NO_DEVICE = 0xff;
const HAS_NO_TRANSPORTS = 0x80;
const LAST = 0x80;
const HAS_PATHS = 0x40;
const HAS_SYSTEM_DEVICE = 0x20;
const DEVICE_LENGTH = 0x1f;

/** Its speed as three floats, and its priority and flags. */
const SPEED_BYTES = 16;
const HAS_ENDPOINTS = 0x40;
const LENGTH = 0x3f;
const LANE = 0x1f;

/** The first 16 bits of the sum of a transport's name. */
const Transport = {
  RC_VERBS: 0x8a27,
  UD_VERBS: 0xd131,
} as const;

export interface UcxQueuePair {
  readonly transport: 'rc_verbs' | 'ud_verbs';
  readonly qpn: number;
  /** Of a connection: the same at its other end. */
  readonly lane: number | undefined;
}

/** Reads on from where it is. Behind the end there are zeros, and `isOver` tells. */
class Reader {
  #at = 0;

  constructor(private readonly bytes: Uint8Array) {}

  get isOver(): boolean {
    return this.#at > this.bytes.length;
  }

  u8(): number {
    this.#at += 1;
    return this.bytes.at(this.#at - 1) ?? 0;
  }

  u16(): number {
    return this.u8() | (this.u8() << 8);
  }

  take(length: number): Uint8Array {
    this.#at += length;
    return this.bytes.subarray(this.#at - length, this.#at);
  }
}

function u24(bytes: Uint8Array, at: number): number {
  return bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16);
}

/** The queue pairs that an address names; undefined where it has another form than is known here. */
export function ucxQueuePairs(address: Uint8Array): readonly UcxQueuePair[] | undefined {
  const reader = new Reader(address);
  const head = reader.u8();
  if ((head & VERSION_MASK) !== 0) return undefined;
  if ((head & UUID) !== 0) reader.take(ID_BYTES);
  if ((head & CLIENT_ID) !== 0) reader.take(ID_BYTES);
  if ((head & NAME) !== 0) reader.take(reader.u8());
  const found: UcxQueuePair[] = [];
  for (let isLast = false; !isLast && !reader.isOver;) {
    const device = reader.u8();
    if (device === NO_DEVICE) break;
    const flags = reader.u8();
    isLast = (flags & LAST) !== 0;
    if ((flags & HAS_PATHS) !== 0) reader.u8();
    if ((flags & HAS_SYSTEM_DEVICE) !== 0) reader.u8();
    reader.take(flags & DEVICE_LENGTH);
    if ((device & HAS_NO_TRANSPORTS) === 0) readTransports(reader, found);
  }
  return reader.isOver ? undefined : found;
}

function readTransports(reader: Reader, found: UcxQueuePair[]): void {
  for (let isLast = false; !isLast && !reader.isOver;) {
    const transport = reader.u16();
    reader.take(SPEED_BYTES + 1);
    const flags = reader.u8();
    isLast = (flags & LAST) !== 0;
    const own = reader.take(flags & LENGTH);
    if (transport === Transport.UD_VERBS && own.length === 3)
      found.push({ transport: 'ud_verbs', qpn: u24(own, 0), lane: undefined });
    if ((flags & HAS_ENDPOINTS) !== 0) readEndpoints(reader, transport, found);
  }
}

function readEndpoints(reader: Reader, transport: number, found: UcxQueuePair[]): void {
  for (let isLast = false; !isLast && !reader.isOver;) {
    const endpoint = reader.take(reader.u8() & LENGTH);
    const lane = reader.u8();
    isLast = (lane & LAST) !== 0;
    // A byte of flags comes before the number.
    if (transport === Transport.RC_VERBS && endpoint.length >= 4)
      found.push({ transport: 'rc_verbs', qpn: u24(endpoint, 1), lane: lane & LANE });
  }
}
