/** What the thread of the stand-in needs of a NIC. */
export interface WatchedStart {
  readonly id: number;
  /** Of `KeptPackets`. */
  readonly kept: SharedArrayBuffer;
  /** Of `PeerTable`. */
  readonly peers: SharedArrayBuffer;
  /** The socket at the NIC's address. */
  readonly fd: number;
  readonly ipv6: boolean;
  readonly gid: Uint8Array;
  /** Index of the interface, for a link-local IPv6 address, else 0. */
  readonly scopeId: number;
}

/** To the thread of the stand-in. */
export type StandInMessage = { readonly watch: WatchedStart } | { readonly forget: number };

/** Words that both threads read: the message count wakes nobody, the stop does. */
export const StandInWord = { STOP: 0, MESSAGES: 1, STAGE: 2, COUNT: 3 } as const;

/**
 * How far the thread is. Node ends threads with the process, and native code that is under way in one then ends all with a FATAL ERROR:
 * whoever exits waits until none is, or keeps the thread from beginning.
 */
export const StandInStage = { STARTING: 0, NATIVE: 1, ENDED: 2 } as const;

export interface StandInThreadStart {
  readonly words: SharedArrayBuffer;
}
