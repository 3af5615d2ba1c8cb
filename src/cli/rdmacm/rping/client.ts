import {
  type CmEvent,
  cmEventStr,
  CmEventType,
  type CmId,
  createEventChannel,
  createId,
  type EventChannel,
  type Mr,
  PortSpace,
} from '../../../entry/index.js';
import { addressOf } from '../../kit/addresses.js';
import { adviceOn, isFailure } from '../common/event-text.js';
import { cmDevices, leave } from '../common/hosting.js';
import { pumpEvents } from '../common/nodes.js';
import { MAY_NOT_ANSWER } from '../common/silence.js';
import { ToolError } from '../../kit/errors.js';
import { endOnInterrupt } from '../../kit/interrupt.js';
import type { RpingFlags } from './flags.js';
import { textOf, writePing } from './message.js';
import { Side, type Voice, voiceOf } from './side.js';
import { FAILED, failIfFailed, printResult, Progress, type Result, State, Stopped } from './state.js';

const RESOLVE_MS = 2000;
/** How long the peer may take to answer our leaving. */
const LEAVE_MS = 1000;

/** The client: advertises text to be read, then memory for it to be written back to. */
class Client {
  readonly #flags: RpingFlags;
  readonly #voice: Voice;
  readonly #progress = new Progress();
  readonly #channel: EventChannel;
  readonly #id: CmId;

  constructor(flags: RpingFlags) {
    this.#flags = flags;
    this.#voice = voiceOf(flags);
    this.#channel = createEventChannel(cmDevices(flags));
    this.#id = createId(this.#channel, PortSpace.TCP);
    endOnInterrupt(() => leave(this.#id));
  }

  async run(server: string): Promise<void> {
    const source = this.#flags.I === undefined ? undefined : { host: await addressOf(this.#flags.I) };
    const destination = { host: await addressOf(server), port: this.#flags.p };
    const pump = pumpEvents(this.#channel, (event) => this.#take(event));
    const options = { timeoutMs: RESOLVE_MS, ...(source === undefined ? {} : { source }) };
    this.#id.resolveAddr(destination, options);
    await Promise.race([pump, this.#converse()]);
    this.#channel.destroy();
    await pump;
  }

  async #converse(): Promise<void> {
    await this.#progress.expect('ROUTE_RESOLVED');
    const side = new Side({
      id: this.#id,
      sizeBytes: this.#flags.S,
      ownQp: this.#flags.q === true,
      progress: this.#progress,
      voice: this.#voice,
      stateAfter: (latest) => (latest === State.RDMA_WRITE_ADV ? State.RDMA_WRITE_COMPLETE : State.RDMA_WRITE_ADV),
    });
    side.connect();
    await this.#progress.expect('CONNECTED', MAY_NOT_ANSWER);
    side.establish();
    this.#voice.debug('rdma_connect successful');
    const result = await this.#ping(side);
    side.disconnect();
    await this.#progress.over(LEAVE_MS);
    await side.close();
    this.#id.destroy();
    printResult(result, this.#flags);
    failIfFailed(result);
  }

  async #ping(side: Side): Promise<Result> {
    const source = side.register('start_buf', this.#flags.S);
    const begun = performance.now();
    let pings = 0;
    const result = (failed: boolean): Result => {
      const elapsedUs = Math.round((performance.now() - begun) * 1000);
      return { role: 'client', peer: this.#id.peerAddr, pings, sizeBytes: this.#flags.S, elapsedUs, failed };
    };
    try {
      for (; this.#flags.C === 0 || pings < this.#flags.C; pings += 1) await this.#pingOnce(side, source, pings);
    } catch (error) {
      if (!(error instanceof Stopped)) throw error;
      this.#voice.complain(error.message);
      return result(error.failed);
    }
    return result(false);
  }

  async #pingOnce(side: Side, source: Mr, ping: number): Promise<void> {
    writePing(source.bytes, ping);
    side.send(source);
    await this.#progress.expect('RDMA_WRITE_ADV');
    side.send(side.data);
    await this.#progress.expect('RDMA_WRITE_COMPLETE');
    if (this.#flags.V === true && !Buffer.from(source.bytes).equals(side.data.bytes)) {
      throw new Stopped('data mismatch!', true);
    }
    if (this.#flags.v === true) this.#voice.say(`ping data: ${textOf(side.data.bytes)}`);
  }

  #take(event: CmEvent): void {
    const name = cmEventStr(event.event);
    this.#voice.debug(`cma_event type ${name} (parent)`);
    switch (event.event) {
      case CmEventType.ADDR_RESOLVED:
        event.id.resolveRoute(RESOLVE_MS);
        break;
      case CmEventType.ROUTE_RESOLVED:
        this.#progress.advance(State.ROUTE_RESOLVED);
        break;
      case CmEventType.CONNECT_RESPONSE:
      case CmEventType.ESTABLISHED:
        this.#progress.advance(State.CONNECTED);
        break;
      case CmEventType.DISCONNECTED:
        this.#voice.complain('client DISCONNECT EVENT...');
        this.#progress.advance(State.DISCONNECTED);
        break;
      default:
        if (isFailure(event))
          throw new ToolError(`cma event ${name}, error ${event.status}\n${adviceOn(event)}`, FAILED);
    }
  }
}

export async function runClient(server: string, flags: RpingFlags): Promise<void> {
  await new Client(flags).run(server);
}
