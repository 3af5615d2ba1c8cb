/** What a command has come to, as the program gets it. */
export interface EncodedOutcome {
  readonly answer: Uint8Array;
  /** The part that rxe's provider reads. */
  readonly driver: Uint8Array;
  /** Ends what was made, where the program cannot be told of it. */
  readonly undo: (() => void) | undefined;
}
