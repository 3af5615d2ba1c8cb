/** What the thread that starts the program is told. */
export interface ProgramOrder {
  readonly filter: Uint8Array;
  /** An event descriptor to ring after each message. */
  readonly wakeFd: number;
  readonly file: string;
  readonly args: readonly string[];
  /** Becomes 1 once somebody answers the calls of the filter. */
  readonly go: Int32Array;
}

/** What it tells. After the last three it has nothing more to do, and ends. */
export type FromWorker =
  | { readonly kind: 'filtered'; readonly listenerFd: number }
  | { readonly kind: 'refused'; readonly errno: string }
  | { readonly kind: 'started'; readonly pid: number }
  | { readonly kind: 'failed'; readonly errno: string };
