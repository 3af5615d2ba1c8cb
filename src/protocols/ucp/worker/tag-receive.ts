import {
  FULL_MASK,
  type Tag,
  type TagInfo,
  type TagMatching,
  type TagMessage,
  tagOf,
  type TagReceive,
  tagValue,
} from '../protocol/index.js';
import { UcsStatus } from '../wire/index.js';
import type { TagValue } from './pieces.js';
import { UcpError, UcpPending } from './errors.js';

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

/** What was received. */
export interface TagReceived {
  /** The sender's. */
  readonly tag: bigint;
  /** Bytes of the message. */
  readonly length: number;
}

export class PostedReceive extends UcpPending<TagReceived> implements TagReceive {
  readonly tag: Tag;
  readonly mask: Tag;
  #isGivenUp = false;

  constructor(
    private readonly matching: TagMatching,
    readonly buffer: Uint8Array,
    tag: TagValue,
    mask: TagValue | undefined,
    call = 'tagReceive',
  ) {
    super(call);
    this.tag = tagOf(tag);
    this.mask = mask === undefined ? FULL_MASK : tagOf(mask);
  }

  onDone(status: UcsStatus, message: TagInfo | undefined): void {
    // The program has given up, and is told its own reason.
    if (status === UcsStatus.UCS_ERR_CANCELED && this.#isGivenUp) return;
    if (status === UcsStatus.UCS_OK && message !== undefined) this.resolve(describeTag(message));
    else this.reject(new UcpError(this.call, status, this.#why(status, message)));
  }

  protected onGivenUp(): void {
    this.#isGivenUp = true;
    this.matching.cancel(this);
  }

  #why(status: UcsStatus, message: TagInfo | undefined): string | undefined {
    if (status !== UcsStatus.UCS_ERR_MESSAGE_TRUNCATED || message === undefined) return undefined;
    return `the message has ${message.length} bytes, and the buffer ${this.buffer.byteLength}`;
  }
}

export function describeTag({ tag, length }: TagInfo): TagReceived {
  return { tag: tagValue(tag), length };
}
