/** When something was captured, and between whom. */
export interface CaptureWay {
  /** Microseconds since the capture began. */
  readonly timeUs: number;
  /** The queue pairs, each by a text of its own. */
  readonly from: string;
  readonly to: string;
  /** Of the packet that ends it: what was sent again has the same. */
  readonly psn: number;
  /** The capture has only the beginning of its bytes; the others are 0 here. */
  readonly isCut: boolean;
}

/** A message of a reliable connection, as its last packet shows it. */
export interface CapturedMessage {
  /** What carries it. A WRITE is a message where it has immediate data. */
  readonly operation: 'SEND' | 'WRITE';
  /** 32 bits; undefined where it has none. */
  readonly immediate: number | undefined;
  /** Of all of its packets; undefined where the capture lacks its beginning. */
  readonly byteLength: number | undefined;
  /** Its bytes, as far as they were captured; of one of several packets nothing, if it is longer than 64 KiB or the capture lacks any. */
  readonly payload: Uint8Array;
  readonly way: CaptureWay;
}

export interface CapturedDatagram {
  readonly source: string;
  readonly payload: Uint8Array;
  readonly way: CaptureWay;
}

/** What an end of a reliable connection does with the other's memory, as the first packet shows it. */
export interface CapturedAccess {
  readonly operation: 'READ' | 'WRITE';
  /** 64 bits. */
  readonly address: bigint;
  readonly length: number;
  readonly rkey: number;
  readonly way: CaptureWay;
}

/** Several messages that make one thing. */
export interface CapturedExchange {
  /** When it began, in microseconds since the capture did. */
  readonly timeUs: number;
  /** How long it took; undefined where the capture does not have its end. */
  readonly tookUs: number | undefined;
  /** The queue pair that began it, and the other one, as in {@link CaptureWay}. */
  readonly from: string;
  readonly to: string;
  /** What it was, in a few words: `RTS 1 MiB tag 7, READ, ATS`. */
  readonly words: string;
}

/**
 * Says what a protocol's messages mean, for those who read captures: `verbena dump` and `explain` ask it. What it is given was sent by
 * anybody, so it never throws and never trusts a length. One is for one capture, and may remember what came before.
 */
export interface Dissector {
  readonly name: string;

  /**
   * What an end says of itself in the private data of its REQ or REP, in a few words.
   *
   * @param privateData what the program said, without the header of rdma_cm, with zeros at its end
   * @returns undefined where it is another protocol's
   */
  hello(privateData: Uint8Array): string | undefined;

  /** What a message says, in a few words: `DATA 100 B, credit to 384`; undefined where it is none of the protocol's. */
  message(message: CapturedMessage): string | undefined;

  /**
   * What a datagram says, in a few words. No REQ has said whose it is: the protocol has to know its own by what is in them.
   *
   * @returns undefined where it may be another protocol's
   */
  datagram?(datagram: CapturedDatagram): string | undefined;

  /** What it means that an end uses the other's memory; undefined where that is not known. */
  access?(access: CapturedAccess): string | undefined;

  /** The other end of a reliable connection of which no REQ told, but the protocol's own messages; undefined of all others. */
  peerOf?(end: string): string | undefined;

  /** What has been seen until now of that which takes several messages, in the order in which it began. */
  readonly exchanges?: readonly CapturedExchange[];
}
