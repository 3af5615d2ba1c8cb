import { UcpDatatype, type UcpDatatypeOps, type UcpTyped } from '../../worker/datatype.js';

interface Told {
  readonly calls: string[];
}

/** Every other byte of some memory: the program packs as many at a time as it likes. */
export interface Strided extends Told {
  readonly memory: Uint8Array;
}

/** Bytes that it packs at a time. */
export const MOST = 1000;

const OPS: UcpDatatypeOps<Strided> = {
  startPack: ({ memory, calls }) => ({
    packedSize: memory.length >> 1,
    pack: (offset, into) => {
      const count = Math.min(into.length, MOST);
      for (let i = 0; i < count; i += 1) into[i] = memory[2 * (offset + i)];
      calls.push('pack');
      return count;
    },
    finish: () => calls.push('finish'),
  }),
  startUnpack: ({ memory, calls }) => ({
    packedSize: memory.length >> 1,
    unpack: (bytes) => {
      for (const [i, byte] of bytes.entries()) memory[2 * i] = byte;
      calls.push(`unpack ${bytes.length}`);
    },
    finish: () => calls.push('finish'),
  }),
};

export const strided = new UcpDatatype(OPS);
export const memoryOf = (length: number): Strided => ({ memory: new Uint8Array(2 * length), calls: [] });

export function filled(bytes: Uint8Array): Strided {
  const made = memoryOf(bytes.length);
  for (const [i, byte] of bytes.entries()) made.memory[2 * i] = byte;
  return made;
}

export const NO = new Error('no');
const no = (): never => {
  throw NO;
};

/** Callbacks for one byte, but for what is changed of them. */
export const one = (changes: object) => ({ packedSize: 1, pack: () => 1, unpack: () => undefined, ...changes });
export const typed = (what: () => object | undefined): UcpTyped =>
  // What JavaScript allows, and types do not.
  new UcpDatatype<undefined>({ startPack: what, startUnpack: what } as UcpDatatypeOps<undefined>).of(undefined);

/** Callbacks that make no sense to a send, and what it rejects with. */
export const BAD_SENDS: Readonly<Record<string, readonly [() => object | undefined, object]>> = {
  'throw at first': [no, NO],
  'give nothing': [() => undefined, { errno: 'EINVAL' }],
  'throw when they pack': [() => one({ pack: no }), NO],
  'throw at the end': [() => one({ finish: no }), NO],
  'say no number of bytes': [() => one({ packedSize: '1' }), { errno: 'EINVAL' }],
  'say fewer than no bytes': [() => one({ packedSize: -1 }), { errno: 'EINVAL' }],
  'say more bytes than there are anywhere': [() => one({ packedSize: 2 ** 52 }), { errno: 'ENOMEM' }],
  'pack nothing': [() => one({ pack: () => 0 }), { errno: 'EINVAL' }],
  'pack more than there is': [() => one({ pack: () => 2 }), { errno: 'EINVAL' }],
  'pack no number': [() => one({ pack: () => undefined }), { errno: 'EINVAL' }],
};
/** The same, to a receive. */
export const BAD_RECEIVES: Readonly<Record<string, readonly [() => object | undefined, object]>> = {
  'throw at first': [no, NO],
  'give nothing': [() => undefined, { errno: 'EINVAL' }],
  'throw when they unpack': [() => one({ unpack: no }), NO],
  'throw later when they unpack': [() => one({ unpack: () => Promise.reject(NO) }), NO],
  'throw at the end': [() => one({ finish: no }), NO],
  'say no number of bytes': [() => one({ packedSize: NaN }), { errno: 'EINVAL' }],
  'say more bytes than there are anywhere': [() => one({ packedSize: 2 ** 52 }), { errno: 'ENOMEM' }],
};
