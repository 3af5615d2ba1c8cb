import { CmEventType, PrivateDataBytes } from '../../../device/ibta/index.js';
import { fieldsProblem, invalid, refuse, VerbsError } from '../../verbs/index.js';
import type { FullAddress } from '../addresses/address.js';
import { createEventChannel } from '../events/event-channel.js';
import { eventError } from '../events/event-error.js';
import { expectEvent, Patience } from '../events/waiting.js';
import type { ConnParam, ConnParamReceived } from '../identifiers/parameters.js';
import { connParam, prepareQueuePair } from './connect.js';
import { privateDataProblem } from '../calls/connection-parameters.js';
import { Connection } from './connection.js';
import { CONNECTION_FIELDS, type ConnectionOptions } from './options.js';
import type { CmId } from '../objects.js';

const ACCEPT = 'rdma_accept';
const REJECT = 'rdma_reject';

/** Somebody asks for a connection. It is to be accepted or rejected; disposing of it rejects it, unless it was answered. */
export class ConnectionRequest implements Disposable {
  /** The peer's. */
  readonly remoteAddress: FullAddress;
  readonly #channel = createEventChannel();
  #answered = false;
  #connection: Connection | undefined;

  /** Listeners make requests for programs. */
  constructor(
    readonly id: CmId,
    /** What the peer asks for. */
    readonly param: ConnParamReceived,
  ) {
    this.remoteAddress = id.peerAddr ?? { host: '0.0.0.0', port: 0 };
    // It outlives its listener, if need be.
    id.migrate(this.#channel);
  }

  /** What came of it, once it was accepted and the peer is ready. */
  get connection(): Connection | undefined {
    return this.#connection;
  }

  /** What the peer said, with zeros at its end. */
  get privateData(): Uint8Array {
    return this.param.privateData;
  }

  /**
   * Accepts it, with a queue pair made for it. When that fails or is aborted, nothing is left of it, and the peer is refused.
   *
   * @throws VerbsError (the promise rejects) ETIMEDOUT when the peer says nothing more; EINVAL when it was answered before;
   *   ECONNREFUSED or ETIMEDOUT when the peer has given up; ECONNRESET when it came and went at once; otherwise as `CmId.createQp` and `CmId.accept`
   */
  async accept(options: ConnectionOptions = {}): Promise<Connection> {
    refuse(ACCEPT, fieldsProblem('options', options, CONNECTION_FIELDS));
    this.#answer(ACCEPT);
    const { signal, timeoutMs } = options;
    try {
      using patience = new Patience(ACCEPT, { signal, timeoutMs, ...this.remoteAddress, context: this.id.verbs });
      this.#requireStanding();
      await prepareQueuePair(ACCEPT, this.id, options, patience.signal);
      this.#accept(connParam(options));
      await expectEvent(ACCEPT, this.#channel, CmEventType.ESTABLISHED, patience.signal);
      return (this.#connection = new Connection(this.id, this.#channel, this.privateData));
    } catch (error) {
      this.#end();
      throw error;
    }
  }

  /** Refuses it. @throws VerbsError EINVAL when it was answered before, or for more than `PrivateDataBytes.REJECT` bytes */
  reject(privateData?: Uint8Array): void {
    refuse(REJECT, privateDataProblem(privateData, PrivateDataBytes.REJECT));
    this.#answer(REJECT);
    try {
      this.id.reject(privateData);
    } catch (error) {
      // A peer that has given up need not be refused.
      if (!(error instanceof VerbsError)) throw error;
    } finally {
      this.#end();
    }
  }

  /** {@link reject}, unless it was answered. */
  [Symbol.dispose](): void {
    if (!this.#answered) this.reject();
  }

  #answer(call: string): void {
    if (this.#answered)
      throw new VerbsError(call, invalid('the request was answered before', 'A request is accepted or rejected once'));
    this.#answered = true;
  }

  #accept(param: ConnParam): void {
    try {
      this.id.accept(param);
    } catch (error) {
      // That the peer has given up says more than that there is nothing to accept any more.
      this.#requireStanding();
      throw error;
    }
  }

  /** @throws VerbsError when the peer has given up meanwhile */
  #requireStanding(): void {
    const event = this.#channel.tryGetCmEvent();
    event?.ack();
    const error = event && eventError(ACCEPT, event);
    if (error !== undefined) throw error;
  }

  #end(): void {
    this.id[Symbol.dispose]();
    this.#channel[Symbol.dispose]();
  }
}
