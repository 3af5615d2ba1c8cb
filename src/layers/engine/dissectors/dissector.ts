/** A message of a reliable connection, as its last packet shows it. */
export interface CapturedMessage {
  /** What carries it. A WRITE is a message where it has immediate data. */
  readonly operation: 'SEND' | 'WRITE';
  /** 32 bits; undefined where it has none. */
  readonly immediate: number | undefined;
  /** Of all of its packets; undefined where the capture lacks its beginning. */
  readonly byteLength: number | undefined;
  /** Of a message of one packet its bytes, as far as they were captured; of a longer one nothing. */
  readonly payload: Uint8Array;
}

/** A datagram, a SEND of one packet. */
export interface CapturedDatagram {
  /** The address that it was sent from. */
  readonly source: string;
  /** As far as it was captured. */
  readonly payload: Uint8Array;
}

/**
 * Says what a protocol's messages mean, for those who read captures: `verbena dump` and `explain` ask it. What it is given was sent by
 * anybody, so it never throws and never trusts a length.
 */
export interface Dissector {
  /** Of the protocol, in a word. */
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
}
