/** What udpong's sides say to each other (`librdmacm/examples/udpong.c`). */

export const Operation = { LOGIN: 0, START: 1, DATA: 2, ECHO: 3, END: 4 } as const;

/** Bytes of LOGIN, START and END, and of the others at least. */
export const CONTROL_BYTES = 16;
/** Bytes of a message at most. */
export const MAX_BYTES = 2048;

const OPERATION_AT = 0;
const ID_AT = 1;
const SEQUENCE_AT = 2;
const DATA_AT = 4;

/** A message in its buffer, which is sent and received again and again. */
export class Message {
  readonly bytes = Buffer.alloc(MAX_BYTES);

  get operation(): number {
    return this.bytes.readUInt8(OPERATION_AT);
  }

  set operation(operation: number) {
    this.bytes.writeUInt8(operation, OPERATION_AT);
  }

  /** Which client: the server gives it at the LOGIN. */
  get id(): number {
    return this.bytes.readUInt8(ID_AT);
  }

  set id(id: number) {
    this.bytes.writeUInt8(id, ID_AT);
  }

  get sequence(): number {
    return this.bytes.readUInt8(SEQUENCE_AT);
  }

  set sequence(sequence: number) {
    this.bytes.writeUInt8(sequence, SEQUENCE_AT);
  }

  /** Of the answer to END: how many messages have come. */
  get data(): number {
    return this.bytes.readUInt32BE(DATA_AT);
  }

  set data(data: number) {
    this.bytes.writeUInt32BE(data >>> 0, DATA_AT);
  }
}
