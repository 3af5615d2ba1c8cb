/** Where a software NIC runs: in a separate thread, or in the caller's, moved on by post and poll. */
export type HostKind = 'thread' | 'inline';

/** {@link HostKind}, or `auto`: inline, with a stand-in that keeps peers waiting while the program computes. */
export type HostChoice = HostKind | 'auto';

/** By which way packets go: `auto` chooses for each peer, `udp` and `shm` (shared memory) take that one alone. */
export type LinkKind = 'auto' | 'udp' | 'shm';

/**
 * A device that is open, to be opened once more: as a context of its own on the same NIC, with objects, doorbells and events of
 * its own. `Context.share` gives it.
 */
export interface SharedDevice {
  /** The IP address that the NIC answers on. */
  readonly address: string;
  readonly host: HostKind | 'simulated';
  /** Of a NIC in a thread of its own: by what other threads reach it. `postMessage` wants it in its list of what is transferred. */
  readonly port?: InstanceType<typeof MessagePort>;
}

/** How to open a device. */
export interface OpenOptions {
  /**
   * Where the NIC runs. Default: the environment's VERBENA_HOST, else 'thread', or 'auto' for devices that `connect`, `listen` and
   * what is built on them open.
   *
   * * `thread`: in a separate thread. It serves peers whatever the program does.
   * * `inline`: in the caller's thread. It has the lowest latency. While the program computes, nothing answers its peers, and
   *   connections end after some seconds.
   * * `auto`: as `inline`, with a stand-in: while the program computes, a worker thread tells peers to wait, so that no connection
   *   ends. Their one-sided accesses wait, too. Without system calls (koffi) it is `thread`.
   */
  readonly host?: HostChoice;
  /** The IP address to be. Default: the environment's VERBENA_ADDR, else a loopback address that is free. */
  readonly address?: string;
  /** A file to write all packets to, as pcapng. Default: the environment's VERBENA_PCAP, else none. */
  readonly capture?: string;
  /**
   * `auto` takes shared memory to devices of the same user on the same machine, and UDP to all others; `shm` reaches no
   * others. Default: the environment's VERBENA_LINK, else `auto`.
   */
  readonly link?: LinkKind;
  /**
   * Has the NIC's packets lost, doubled, changed and held back, in the words of tc-netem(8): `loss 1% dup 0.1% reorder 2%
   * corrupt 0.1% delay 200us 50us rate 1gbit limit 1000 seed 7`. `loss burst 1% 4` loses four in a row on the average, as
   * `loss gemodel P R` would; `reorder 2% 100us` holds packets back by up to so much; `out` (the default), `in` or `both`
   * say which way. It implies `link: 'udp'`; Ethernet frames of raw packet queue pairs pass untouched. Default: the
   * environment's VERBENA_NETEM, else none; '' is none.
   */
  readonly netem?: string;
  /**
   * Exponent of the shortest ACK timeout that the NIC keeps to, 0 to 31 (`ackTimeoutUs`): queue pairs that ask for a shorter
   * one get this, as some adapters do it. Where processors are taken away for long, a living peer then is not taken for a
   * dead one: 18 is a second. Default: the environment's VERBENA_MIN_ACK_TIMEOUT, else 0: as queue pairs ask.
   */
  readonly minAckTimeout?: number;
  /**
   * A device that is open already, shared by `Context.share`. The NIC is what it is then: beside this only `warn` may be
   * given, and the environment is not looked at.
   */
  readonly device?: SharedDevice;
  /** Takes sentences about what does not work as it should. Default: `process.emitWarning`. */
  readonly warn?: (text: string) => void;
}
