import { type TagMessage, tagValue } from '../protocol/index.js';
import type { TagReceived } from './tag-receive.js';

/** A message that nobody but its holder can receive, by `UcpWorker.tagMessageReceive`. It takes memory until then. */
export class TakenMessage implements TagReceived {
  readonly tag: bigint;
  readonly length: number;
  #message: TagMessage | undefined;

  /** @internal `UcpWorker.tagProbeRemove` makes them for programs. */
  constructor(message: TagMessage) {
    this.tag = tagValue(message.tag);
    this.length = message.length;
    this.#message = message;
  }

  /** @internal @returns undefined where it was received before */
  take(): TagMessage | undefined {
    const message = this.#message;
    this.#message = undefined;
    return message;
  }
}
