import type { CreateCq, CreateQp, MrKeys } from '../nic/index.js';
import type { ErrnoName, QpAttr } from '../spec/index.js';

/**
 * Where the memory of a region is, said so that whoever hosts the NIC finds it: `view` for a NIC in the same thread,
 * `address` for one in another thread of the process, `shared` for memory that every thread may hold.
 */
export type MemoryRef =
  | { readonly kind: 'view'; readonly bytes: Uint8Array }
  | { readonly kind: 'address'; readonly address: bigint; readonly lengthBytes: number }
  | {
      readonly kind: 'shared';
      readonly buffer: SharedArrayBuffer;
      readonly byteOffset: number;
      readonly lengthBytes: number;
    };

/** What a registration asks for. */
export interface RegisterMr {
  readonly pd: number;
  readonly memory: MemoryRef;
  /** Address of the first byte as peers and work requests name it. */
  readonly iova: bigint;
  readonly access: number;
}

/** A change of a queue pair's attributes. */
export interface ModifyQp {
  readonly qpn: number;
  readonly attr: Partial<QpAttr>;
}

/** What the adapter has counted: the NIC and the link below it. */
export interface AdapterCounters {
  readonly nic: Record<string, number>;
  readonly link: Record<string, number>;
}

/** Every control verb of an adapter: `[argument, value]`. All of it is plain data that can be cloned to another thread. */
export interface CommandTable {
  allocPd: [argument: undefined, value: number];
  deallocPd: [argument: number, value: undefined];
  regMr: [argument: RegisterMr, value: MrKeys];
  deregMr: [argument: number, value: undefined];
  createCompChannel: [argument: SharedArrayBuffer, value: number];
  destroyCompChannel: [argument: number, value: undefined];
  createCq: [argument: CreateCq, value: number];
  destroyCq: [argument: number, value: undefined];
  createQp: [argument: CreateQp, value: { readonly qpn: number }];
  modifyQp: [argument: ModifyQp, value: undefined];
  queryQp: [argument: number, value: QpAttr];
  destroyQp: [argument: number, value: undefined];
  counters: [argument: undefined, value: AdapterCounters];
}

export type Verb = keyof CommandTable;
export type Argument<V extends Verb> = CommandTable[V][0];
export type Value<V extends Verb> = CommandTable[V][1];

/** One command, as it crosses to wherever the adapter lives. */
export type AdapterCommand = { [V in Verb]: { readonly verb: V; readonly argument: Argument<V> } }[Verb];

/** The answer to a command: a value, or why it was refused; nothing has changed then. */
export type AdapterReply<V extends Verb = Verb> =
  { readonly value: Value<V> } | { readonly errno: ErrnoName; readonly message: string };
