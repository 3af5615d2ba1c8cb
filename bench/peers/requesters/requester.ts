/** What asks a server, and awaits the answer. */
export interface Requester {
  /**
   * Sends a request with a body, and resolves with the response, all of it, with a body of the same length.
   *
   * @param lane of the requests that are under way at a time, which this is
   */
  request(body: Uint8Array, lane: number): Promise<Uint8Array>;
}

export interface Asking {
  readonly bytes: number;
  readonly depth: number;
}

export interface RequestWay {
  /** Answers each request with as many bytes. @returns where clients connect to */
  serve(address: string): Promise<string>;
  /** @param from the client's own address, for those that have one */
  connect(place: string, from: string, asking: Asking): Promise<Requester>;
}

/** The most bytes of a body. */
export const MAX_BYTES = 1 << 20;
