// Lab 3: what the two programs say to each other. Both sides import this file; lab-3.md has the layouts as a table.

/** Where the receiver listens: a port of rdma_cm, which has port numbers of its own beside those of TCP and UDP. */
export const LAB_PORT = 18003;

/** Room for the longest message. */
export const MESSAGE_BYTES = 64;

/** First byte of every message. */
export const MessageType = { FILE: 1, REGION: 2, DONE: 3, VERDICT: 4, ID: 5, KEY: 6 } as const;
export type MessageType = (typeof MessageType)[keyof typeof MessageType];

/** How each message is called on the page and in the grader's sentences. */
export const MESSAGE_NAMES: Readonly<Record<MessageType, string>> = {
  [MessageType.FILE]: 'MSG_FILE',
  [MessageType.REGION]: 'MSG_REGION',
  [MessageType.DONE]: 'MSG_DONE',
  [MessageType.VERDICT]: 'MSG_VERDICT',
  [MessageType.ID]: 'MSG_ID',
  [MessageType.KEY]: 'MSG_KEY',
};

/** Bytes of a SHA-256. */
export const HASH_BYTES = 32;

/** Bytes before those that are a message's own: the type, and three zeros. */
const HEADER_BYTES = 4;

/** Bytes that an ID may have in UTF-8. */
export const MAX_ID_BYTES = MESSAGE_BYTES - HEADER_BYTES;

/** Sender to receiver: what is coming. */
export interface FileMessage {
  readonly type: typeof MessageType.FILE;
  readonly length: number;
  readonly sha256: Uint8Array;
}

/** Receiver to sender: where to write it. */
export interface RegionMessage {
  readonly type: typeof MessageType.REGION;
  readonly addr: bigint;
  readonly length: number;
  readonly rkey: number;
}

/** Sender to receiver: all of it is written. */
export interface DoneMessage {
  readonly type: typeof MessageType.DONE;
}

/** Receiver to sender: whether what arrived has the hash that was announced. */
export interface VerdictMessage {
  readonly type: typeof MessageType.VERDICT;
  readonly good: boolean;
}

/** Sender to receiver: who did it. */
export interface IdMessage {
  readonly type: typeof MessageType.ID;
  readonly id: string;
}

/** Receiver to sender: the secret key that belongs to the ID. */
export interface KeyMessage {
  readonly type: typeof MessageType.KEY;
  readonly key: Uint8Array;
}

export type Message = FileMessage | RegionMessage | DoneMessage | VerdictMessage | IdMessage | KeyMessage;

// What crosses a network has a byte order that is agreed on; like most protocols this one is big-endian, which is what
// DataView writes unless told otherwise.

function blank(type: MessageType, bytes: number): DataView<ArrayBuffer> {
  const view = new DataView(new ArrayBuffer(HEADER_BYTES + bytes));
  view.setUint8(0, type);
  return view;
}

/**
 * The bytes of a message.
 *
 * @throws RangeError when the ID is empty or too long
 */
export function encodeMessage(message: Message): Uint8Array {
  switch (message.type) {
    case MessageType.FILE: {
      const view = blank(message.type, 12 + HASH_BYTES);
      view.setBigUint64(8, BigInt(message.length));
      new Uint8Array(view.buffer).set(message.sha256, 16);
      return new Uint8Array(view.buffer);
    }
    case MessageType.REGION: {
      const view = blank(message.type, 20);
      view.setUint32(4, message.rkey);
      view.setBigUint64(8, message.addr);
      view.setBigUint64(16, BigInt(message.length));
      return new Uint8Array(view.buffer);
    }
    case MessageType.DONE:
      return new Uint8Array(blank(message.type, 0).buffer);
    case MessageType.VERDICT: {
      const view = blank(message.type, 4);
      view.setUint32(4, message.good ? 1 : 0);
      return new Uint8Array(view.buffer);
    }
    case MessageType.ID: {
      const id = new TextEncoder().encode(message.id);
      if (id.length === 0 || id.length > MAX_ID_BYTES) throw new RangeError(`an ID has 1 to ${MAX_ID_BYTES} bytes`);
      const bytes = new Uint8Array(blank(message.type, id.length).buffer);
      bytes.set(id, HEADER_BYTES);
      return bytes;
    }
    case MessageType.KEY: {
      const bytes = new Uint8Array(blank(message.type, message.key.length).buffer);
      bytes.set(message.key, HEADER_BYTES);
      return bytes;
    }
  }
}

/** Bytes that a message of each type has; an ID is as long as its message is. */
const LENGTHS: Readonly<Record<MessageType, number | undefined>> = {
  [MessageType.FILE]: 48,
  [MessageType.REGION]: 24,
  [MessageType.DONE]: 4,
  [MessageType.VERDICT]: 8,
  [MessageType.ID]: undefined,
  [MessageType.KEY]: 36,
};

function isMessageType(value: number | undefined): value is MessageType {
  return value !== undefined && value in MESSAGE_NAMES;
}

/** The message in these bytes; or a sentence about what is wrong with them, since a peer may send anything. */
export function decodeMessage(bytes: Uint8Array): Message | string {
  const type = bytes.at(0);
  if (!isMessageType(type)) return `a message of ${bytes.length} bytes that begins with ${type ?? 'nothing'}`;
  const wanted = LENGTHS[type];
  if (wanted !== undefined && bytes.length !== wanted) {
    return `a ${MESSAGE_NAMES[type]} of ${bytes.length} bytes in place of ${wanted}`;
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  switch (type) {
    case MessageType.FILE:
      return { type, length: Number(view.getBigUint64(8)), sha256: bytes.slice(16, 16 + HASH_BYTES) };
    case MessageType.REGION:
      return { type, rkey: view.getUint32(4), addr: view.getBigUint64(8), length: Number(view.getBigUint64(16)) };
    case MessageType.DONE:
      return { type };
    case MessageType.VERDICT:
      return { type, good: view.getUint32(4) === 1 };
    case MessageType.ID: {
      const id = Buffer.from(bytes.subarray(HEADER_BYTES)).toString('utf8');
      return id === '' ? 'a MSG_ID without an ID' : { type, id };
    }
    case MessageType.KEY:
      return { type, key: bytes.slice(HEADER_BYTES) };
  }
}
