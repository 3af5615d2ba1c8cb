/** What an adapter on a machine has done now and then beside its work. A simulated one has nothing of the kind to do. */
export interface AdapterChores {
  /** When {@link run} is due, as long as the adapter has its turns: the one comparison that all this costs a turn. */
  readonly dueUs: number;
  /** Whether the link had its address when it was last asked. */
  readonly hasAddress: boolean;
  /** Whether the administrator has the port up. */
  wanted: boolean;
  /** Called after each {@link run}, which may have changed {@link nextUs}. */
  onRun: (() => void) | undefined;

  /** Does what is due. */
  run(nowUs: number): void;
  /** When something is to be done though the adapter sleeps. */
  nextUs(): number;
  /** The device has failed; its address does not matter any more. */
  stopWatching(): void;
  close(): void;
}
