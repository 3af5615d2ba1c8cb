/**
 * What a host interface whose rings are not ours wants to know of a queue (`docs/internals/host-interface.md`). The NIC calls from the
 * midst of its work: a watcher reads and writes rings, and starts nothing else. Absent for our own driver.
 */
export interface WorkQueueWatcher {
  /** The NIC looks for more entries than are published. What is posted elsewhere can be published now. */
  refill?(): void;
  /** The NIC has given slots back: CONSUMER has moved. */
  taken(): void;
}

export interface QueuePairWatcher {
  readonly send: WorkQueueWatcher;
  /** Absent where the queue pair has no receive queue of its own. */
  readonly receive?: WorkQueueWatcher | undefined;
  /** The queue pair is in another state, or was told to be in the same once more. */
  stateChanged(): void;
}

export interface CompletionQueueWatcher {
  /** An entry was written, or an event was raised. */
  completed(): void;
  /** There is no room for an entry. What the watcher takes now makes room. */
  full(): void;
}
