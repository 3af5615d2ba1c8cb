import type { AmMessage } from '../../../am/am-message.js';
import type { UcpEndpoint } from '../../../worker/endpoint.js';
import { UcsStatus } from '../../../wire/index.js';
import { check } from '../../../../../../test/sim/failure.js';
import { formOf } from '../datatype.js';
import { Family } from '../family.js';
import { memoryFor } from '../world.js';
import { AmBook, dataOf, headerOf, type SentAm } from './book.js';
import type { AmStep } from './plan.js';

type Message = AmMessage<UcpEndpoint>;

const HANDLED = 1;
const REPLY = 2;
const UNHANDLED = 3;
const NOTHING = new Uint8Array(0);

/** Programs that send active messages, and do with them what handlers can do. */
export class AmCalls extends Family<AmStep> {
  readonly #book = new AmBook();
  #fetched = 0;
  #truncated = 0;
  #replies = 0;

  override begin(): void {
    for (const [at, worker] of this.world.workers.entries()) {
      worker.setAmHandler(HANDLED, (message) => this.#checked(() => this.#handle(at, message)));
      worker.setAmHandler(REPLY, () => void (this.#replies += 1));
    }
  }

  verify(isCalm: boolean): void {
    const { world } = this;
    this.#book.verify((one, other) => world.mayFail(one, other) || world.isBroken(one, other));
    const dropped = world.workers.reduce((sum, { amsDropped }) => sum + amsDropped, 0);
    const { unhandled } = this.#book;
    if (isCalm) check(dropped === unhandled, () => `${dropped} messages were dropped, of ${unhandled}`);
    for (const [i, { amBytes }] of world.workers.entries())
      if (!world.down.has(i)) check(amBytes === 0, () => `worker ${i} keeps ${amBytes} bytes of active messages`);
  }

  counts(): Record<string, number> {
    const { sent, handled } = this.#book;
    return {
      'ams sent': sent,
      'ams handled': handled,
      'ams fetched': this.#fetched,
      'ams too long': this.#truncated,
      'ams replied': this.#replies,
    };
  }

  protected override async take(step: AmStep): Promise<void> {
    const { from, to, isHandled, bytes, reply, protocol, registers, isTyped, abortAfterUs, handling } = step;
    const { world } = this;
    if (world.down.has(from)) return;
    const endpoint = world.endpoints[from][to];
    const headerBytes = Math.min(step.headerBytes, endpoint.maxAmHeader);
    const sent = this.#book.send({ ...step, headerBytes });
    const header = headerOf(sent.number, headerBytes);
    const data = memoryFor(registers, bytes);
    data.set(dataOf(sent.number, bytes));
    const what = `active message ${sent.number} from ${from} to ${to}`;
    const mayBeCanceled = handling.abortAfterUs !== Infinity;
    const question = { at: from, peers: [to], what, abortAfterUs, mayBeCanceled };
    const end = await world.ask(question, (signal) =>
      endpoint.amSend(isHandled ? HANDLED : UNHANDLED, header, formOf(data, isTyped), { reply, protocol, signal }),
    );
    if (end !== undefined) sent.isCertain = true;
    world.own(header, what);
    world.own(data, what);
  }

  #handle(at: number, message: Message): void {
    const sent = this.#book.handles(at, message.header);
    const { number, step } = sent;
    check(message.length === step.bytes, () => `message ${number} has ${message.length} bytes`);
    const back = step.reply ? this.world.endpoints[at][step.from] : undefined;
    check(message.replyEndpoint === back, () => `message ${number} came with another way back`);
    if (back !== undefined && !this.world.down.has(at)) this.world.doing(this.#reply(at, step.from, back));
    switch (step.handling.how) {
      case 'ignore':
        return;
      case 'read':
        if (!message.isRendezvous) this.#read(sent, message.data);
        return;
      case 'fetch':
        this.world.doing(this.#fetch(at, sent, message));
        return;
      case 'keep':
        message.keep();
        this.world.doing(this.#kept(at, sent, message));
    }
  }

  async #reply(at: number, peer: number, back: UcpEndpoint): Promise<void> {
    const question = { at, peers: [peer], what: `a reply of worker ${at} to ${peer}`, abortAfterUs: Infinity };
    await this.world.ask(question, () => back.amSend(REPLY, NOTHING, NOTHING));
  }

  async #kept(at: number, sent: SentAm, message: Message): Promise<void> {
    const { world } = this;
    // What it waits for ends by itself.
    const question = { at, peers: [], what: `message ${sent.number} is kept`, abortAfterUs: Infinity };
    await world.ask(question, () => world.sim.sleep(sent.step.handling.forUs));
    if (world.down.has(at)) return;
    if (message.isRendezvous) await this.#fetch(at, sent, message);
    else {
      this.#checked(() => this.#read(sent, message.data));
      message.release();
    }
  }

  async #fetch(at: number, sent: SentAm, message: Message): Promise<void> {
    const { world } = this;
    const { number, step } = sent;
    const { bytes, registers, isTyped, abortAfterUs } = step.handling;
    const buffer = memoryFor(registers, bytes);
    const what = `worker ${at} fetches message ${number}`;
    const mayBeCanceled = step.abortAfterUs !== Infinity;
    const explains = (status: UcsStatus): boolean => {
      if (status !== UcsStatus.UCS_ERR_MESSAGE_TRUNCATED) return false;
      const isUntouched = buffer.length < step.bytes && buffer.every((byte) => byte === 0);
      check(isUntouched, () => `${what}, which was truncated, and should not have been, or has written`);
      this.#truncated += 1;
      return true;
    };
    const question = { at, peers: [step.from], what, abortAfterUs, mayBeCanceled, explains };
    const end = await world.ask(question, (signal) => message.receive(formOf(buffer, isTyped), { signal }));
    if (end !== undefined) {
      this.#fetched += 1;
      this.#read(sent, buffer.subarray(0, end.value));
    }
    world.own(buffer, what);
  }

  #read({ number, step }: SentAm, data: Uint8Array): void {
    const isRight = Buffer.compare(data, dataOf(number, step.bytes)) === 0;
    check(isRight, () => `message ${number} of ${step.bytes} bytes came with others, ${data.length}`);
  }

  /** What handlers throw is not for the worker. */
  #checked(action: () => void): void {
    try {
      action();
    } catch (error) {
      this.world.doing(Promise.reject(error instanceof Error ? error : new Error(String(error))));
    }
  }
}
