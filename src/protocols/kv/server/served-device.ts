import { AccessFlags } from '../../../device/ibta/index.js';
import type { Engine } from '../../core/index.js';
import type { Partition } from '../store/index.js';
import { ServerDatagrams } from '../transport/server-datagrams.js';
import { ValueMemory } from '../transport/value-memory.js';
import { OneSidedEndpoint } from './one-sided-endpoint.js';

/** How a store is served on a device. */
export interface ServedDeviceOptions {
  readonly store: Partition;
  readonly oneSided: boolean;
  /** Of the queue pair for datagrams. */
  readonly qkey: number;
  /** As of {@link ServerDatagrams}. */
  readonly onStranger: (bytes: Uint8Array) => void;
}

/** What a server has on one device. Memory and queue pairs belong to a device, and the clients of a wildcard address come by several. */
export class ServedDevice {
  /** Holds values on their way. */
  readonly memory: ValueMemory;
  /** For clients that read the store; undefined where they may not. */
  readonly door: OneSidedEndpoint | undefined;
  #datagrams: ServerDatagrams | undefined;

  /** @throws VerbsError as `Context.allocPd` and `Pd.regMr` */
  constructor(
    readonly engine: Engine,
    private readonly options: ServedDeviceOptions,
  ) {
    this.memory = new ValueMemory(engine.pd, AccessFlags.LOCAL_WRITE);
    this.door = options.oneSided ? new OneSidedEndpoint(engine, options.store) : undefined;
  }

  /** Its queue pair for datagrams; another one where that has failed. @throws VerbsError as the constructor of {@link ServerDatagrams} */
  datagrams(): ServerDatagrams {
    if (this.#datagrams?.isOver === false) return this.#datagrams;
    this.#datagrams?.end();
    const { qkey, onStranger } = this.options;
    return (this.#datagrams = new ServerDatagrams(this.engine, qkey, onStranger));
  }

  /** Idempotent. */
  end(): void {
    this.#datagrams?.end();
    this.memory.end();
    this.door?.end();
  }
}
