import type { Waiting } from '../uct/index.js';
import { UcsStatus } from '../wire/index.js';

/** Has something sent as soon as there is room: the parts of an endpoint do. */
export interface Way {
  go(waiting: Waiting): void;
}

export interface Operation {
  /**
   * Goes on.
   *
   * @returns UCS_ERR_NO_RESOURCE to be called again when there is room; UCS_ERR_BUSY when it waits for something else, whose end has the queue
   *   {@link OperationQueue.resume}; all else ends it here
   */
  step(): UcsStatus;
}

/** Operations for one endpoint, which begin in the order in which they were asked for. */
export class OperationQueue implements Waiting {
  readonly #operations: Operation[] = [];
  #isRunning = false;
  /** Whether the transport calls when there is room. */
  #isAwaitingRoom = false;
  #hasEnded = false;

  constructor(private readonly way: Way) {}

  add(operation: Operation): void {
    this.#operations.push(operation);
    this.resume();
  }

  /** Goes on, where nothing is to be waited for any more. */
  resume(): void {
    if (this.#isAwaitingRoom) return;
    this.#isAwaitingRoom = true;
    this.way.go(this);
  }

  /** The endpoint has ended: nothing waits for anything any more. */
  end(): void {
    this.#hasEnded = true;
    this.resume();
  }

  retry(): UcsStatus {
    const status = this.#run();
    // Who waits for something else keeps nobody from the room that there is.
    this.#isAwaitingRoom = status === UcsStatus.UCS_ERR_NO_RESOURCE;
    return status;
  }

  #run(): UcsStatus {
    if (this.#isRunning) return UcsStatus.UCS_OK;
    this.#isRunning = true;
    try {
      while (this.#operations.length > 0) {
        const status = this.#operations[0].step();
        if (status === UcsStatus.UCS_ERR_NO_RESOURCE) return status;
        if (status === UcsStatus.UCS_ERR_BUSY && !this.#hasEnded) break;
        this.#operations.shift();
      }
      return UcsStatus.UCS_OK;
    } finally {
      this.#isRunning = false;
    }
  }
}
