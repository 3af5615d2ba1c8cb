/** What users of a transport have for each other in the private data of rdma_cm, behind what its ends say there. */
export interface Words {
  readonly say?: Uint8Array | undefined;
  /** Is given what the peer has said, with zeros at its end, before the connection is there. */
  readonly onSaid?: ((bytes: Uint8Array) => void) | undefined;
}

/** What is said in all. */
export function behind(hello: Uint8Array, { say }: Words): Uint8Array {
  return say === undefined ? hello : Uint8Array.of(...hello, ...say);
}
