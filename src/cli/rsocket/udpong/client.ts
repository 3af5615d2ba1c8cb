import type { Carrier } from './carrier.js';
import { CONTROL_BYTES, Message, Operation } from './messages.js';

/** How long an answer may take until the question is asked again. */
const PATIENT_MS = 1000;
const BRIEF_MS = 1;
const SEQUENCES = 256;

export interface PongTest {
  readonly name: string;
  /** Bytes of each message. */
  readonly sizeBytes: number;
  readonly transfers: number;
  /** Each is answered, and the next one sent after that. */
  readonly echo: boolean;
}

export interface Pong extends PongTest {
  /** How many of the messages have arrived; with `echo` those of both directions. */
  readonly arrived: number;
  readonly elapsedUs: number;
}

export class Client {
  readonly #message = new Message();
  readonly #from = { host: '', port: 0 };
  #sequence = 0;

  constructor(private readonly carrier: Carrier) {}

  login(): Promise<void> {
    return this.#ask(Operation.LOGIN, CONTROL_BYTES, PATIENT_MS);
  }

  async play(test: PongTest): Promise<Pong> {
    const { sizeBytes, transfers, echo } = test;
    await this.#ask(Operation.START, CONTROL_BYTES, PATIENT_MS);
    const begun = performance.now();
    const message = this.#message;
    message.operation = Operation.DATA;
    for (let i = 0; i < transfers; i += 1)
      if (echo) await this.#ask(Operation.ECHO, sizeBytes, BRIEF_MS);
      else await this.carrier.send(message.bytes.subarray(0, sizeBytes));
    await this.#ask(Operation.END, CONTROL_BYTES, BRIEF_MS);
    const elapsedUs = (performance.now() - begun) * 1000;
    return { ...test, arrived: echo ? transfers * 2 : message.data, elapsedUs };
  }

  /** Asks until the answer comes. Those to questions before, which were asked more than once, are nobody's. */
  async #ask(operation: number, length: number, timeoutMs: number): Promise<void> {
    const message = this.#message;
    const sequence = this.#sequence;
    this.#sequence = (sequence + 1) % SEQUENCES;
    const { id } = message;
    for (;;) {
      message.operation = operation;
      message.id = id;
      message.sequence = sequence;
      await this.carrier.send(message.bytes.subarray(0, length));
      for (;;) {
        const count = await this.carrier.receive(message.bytes, this.#from, timeoutMs);
        if (count === undefined) break;
        if (count === length && message.operation === operation && message.sequence === sequence) return;
      }
    }
  }
}
