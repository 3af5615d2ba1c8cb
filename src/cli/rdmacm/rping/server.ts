import {
  type CmEvent,
  cmEventStr,
  CmEventType,
  type CmId,
  createEventChannel,
  createId,
  type EventChannel,
  type EventChannelOptions,
  getDevices,
  PortSpace,
  WrOpcode,
} from '../../../entry/index.js';
import { addressOf } from '../../kit/addresses.js';
import { adviceOn, isFailure } from '../common/event-text.js';
import { cmDevices, leave } from '../common/hosting.js';
import { pumpEvents } from '../common/nodes.js';
import { sentence, ToolError } from '../../kit/errors.js';
import { endOnInterrupt } from '../../kit/interrupt.js';
import type { RpingFlags } from './flags.js';
import { textBytes, textOf } from './message.js';
import { Side, type Voice, voiceOf } from './side.js';
import { FAILED, failIfFailed, printResult, Progress, type Result, State, Stopped } from './state.js';

const BACKLOG = 3;

/** What the next message is about: each memory to be read is followed by one to be written. */
function stateAfter(latest: State): State {
  return latest <= State.CONNECTED || latest === State.RDMA_WRITE_COMPLETE ? State.RDMA_READ_ADV : State.RDMA_WRITE_ADV;
}

/** The server's end of one connection: reads what the client advertises, and writes it back. */
class Service {
  readonly progress = new Progress();
  readonly #id: CmId;
  readonly #flags: RpingFlags;
  readonly #voice: Voice;
  readonly #side: Side;
  #pings = 0;

  constructor(id: CmId, flags: RpingFlags, voice: Voice) {
    this.#id = id;
    this.#flags = flags;
    this.#voice = voice;
    const { progress } = this;
    this.#side = new Side({ id, sizeBytes: flags.S, ownQp: flags.q === true, progress, voice, stateAfter });
  }

  /** Serves until the client leaves. */
  async run(): Promise<Result> {
    const peer = this.#id.peerAddr;
    const begun = performance.now();
    try {
      this.#voice.debug('accepting client connection request');
      this.#side.accept();
      const failed = await this.#serveAll();
      const elapsedUs = Math.round((performance.now() - begun) * 1000);
      return { role: 'server', peer, pings: this.#pings, sizeBytes: this.#flags.S, elapsedUs, failed };
    } finally {
      this.#side.disconnect();
      await this.#side.close();
      this.#id.destroy();
    }
  }

  async #serveAll(): Promise<boolean> {
    try {
      for (;;) await this.#serveOnce();
    } catch (error) {
      if (!(error instanceof Stopped)) throw error;
      this.#voice.complain(error.message);
      return error.failed;
    }
  }

  async #serveOnce(): Promise<void> {
    const { progress } = this;
    const side = this.#side;
    await progress.expect('RDMA_READ_ADV');
    const { lengthBytes } = side.advertised;
    if (lengthBytes > side.data.length) {
      const sizes = `${lengthBytes} bytes, and this side has room for ${side.data.length}`;
      throw new Stopped(`The client's pings have ${sizes}: give both sides the same -S.`, true);
    }
    side.move(WrOpcode.RDMA_READ, lengthBytes);
    await progress.expect('RDMA_READ_COMPLETE');
    const ping = side.data.bytes.subarray(0, lengthBytes);
    if (this.#flags.v === true) this.#voice.say(`server ping data: ${textOf(ping)}`);
    side.send();
    await progress.expect('RDMA_WRITE_ADV');
    side.move(WrOpcode.RDMA_WRITE, textBytes(ping));
    await progress.expect('RDMA_WRITE_COMPLETE');
    side.send();
    this.#pings += 1;
  }
}

/** Takes the connections of clients: one, or with -P as many as come. */
class Server {
  readonly #flags: RpingFlags;
  readonly #voice: Voice;
  readonly #channel: EventChannel;
  readonly #listener: CmId;
  readonly #devices: EventChannelOptions;
  readonly #services = new Map<CmId, Service>();
  #taken = 0;
  #outcome: Result | undefined;
  #failure: unknown;

  constructor(flags: RpingFlags) {
    this.#flags = flags;
    this.#voice = voiceOf(flags);
    this.#devices = cmDevices(flags);
    this.#channel = createEventChannel(this.#devices);
    this.#listener = createId(this.#channel, PortSpace.TCP);
    endOnInterrupt(() => {
      for (const id of this.#services.keys()) leave(id);
    });
  }

  async run(): Promise<void> {
    const { a: address, p: port } = this.#flags;
    this.#listener.bindAddr(address === undefined ? { port } : { host: await addressOf(address), port });
    this.#voice.debug('rdma_bind_addr successful');
    this.#listener.listen(BACKLOG);
    this.#voice.debug('rdma_listen');
    this.#tellWhere();
    await pumpEvents(this.#channel, (event) => this.#take(event));
    if (this.#outcome === undefined) throw this.#failure;
    failIfFailed(this.#outcome);
  }

  /** Prints the addresses of its devices, which the user cannot know. The C tool prints none. */
  #tellWhere(): void {
    if (this.#flags.a !== undefined) return;
    const port = this.#listener.getSrcPort();
    for (const { address } of this.#devices.contexts ?? getDevices()) {
      this.#voice.complain(`server at ${address}, port ${port}`);
    }
  }

  #take(event: CmEvent): void {
    const { id } = event;
    const name = cmEventStr(event.event);
    this.#voice.debug(`cma_event type ${name} (${id === this.#listener ? 'parent' : 'child'})`);
    const progress = this.#services.get(id)?.progress;
    if (event.event === CmEventType.CONNECT_REQUEST) void this.#serve(id);
    else if (event.event === CmEventType.DISCONNECTED) {
      this.#voice.complain('server DISCONNECT EVENT...');
      progress?.advance(State.DISCONNECTED);
    } else if (isFailure(event)) {
      const text = `cma event ${name}, error ${event.status}\n${adviceOn(event)}`;
      if (progress === undefined) throw new ToolError(text, FAILED);
      this.#voice.complain(text);
      progress.advance(State.ERROR);
    }
  }

  async #serve(id: CmId): Promise<void> {
    const many = this.#flags.P === true;
    this.#taken += 1;
    if (this.#taken > 1 && !many) {
      this.#refuse(id);
      return;
    }
    try {
      const service = new Service(id, this.#flags, this.#voice);
      this.#services.set(id, service);
      this.#outcome = await service.run();
      printResult(this.#outcome, this.#flags);
    } catch (error) {
      if (many) this.#voice.complain(sentence(error));
      this.#failure = error;
      if (!this.#services.has(id)) this.#refuse(id);
    }
    this.#services.delete(id);
    if (many) return;
    this.#listener.destroy();
    this.#channel.destroy();
  }

  #refuse(id: CmId): void {
    id.reject();
    id.destroy();
  }
}

export async function runServer(flags: RpingFlags): Promise<void> {
  await new Server(flags).run();
}
