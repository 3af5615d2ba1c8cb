import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { GpuKind } from '../../../entry/gpu.js';
import type { Copy } from '../../../device/nic/index.js';
import { CopyMachine, type GpuDriver, type GpuHandle, type GpuSession } from '../index.js';
import { loadCudaDriver } from '../kinds/cuda/cuda-driver.js';
import { loadCuda } from '../kinds/cuda/cuda-library.js';
import { loadOpenClDriver } from '../kinds/opencl/opencl-driver.js';
import { loadOpenCl } from '../kinds/opencl/opencl-library.js';
import { KIND, withoutGpu } from './support.js';

const WORD_BYTES = 8;
/** CL_OUT_OF_RESOURCES, and CUDA_ERROR_OUT_OF_MEMORY. */
const [CL_REFUSAL, CUDA_REFUSAL] = [-5, 2];

/** Has the next copy out of the device refused. */
let refusesRead = false;

function refused(): boolean {
  const refuses = refusesRead;
  refusesRead = false;
  return refuses;
}

function loadDriver(): GpuDriver {
  if (KIND === GpuKind.CUDA) {
    const calls = loadCuda();
    return loadCudaDriver({
      ...calls,
      memcpyDtoHAsync: (...args) => (refused() ? CUDA_REFUSAL : calls.memcpyDtoHAsync(...args)),
    });
  }
  const calls = loadOpenCl();
  return loadOpenClDriver({
    ...calls,
    enqueueReadBuffer: (...args) => (refused() ? CL_REFUSAL : calls.enqueueReadBuffer(...args)),
  });
}

class Ended implements Copy {
  copiedBytes: number | undefined;

  finish(copiedBytes: number): void {
    this.copiedBytes = copiedBytes;
  }
}

describe(`what a kernel finds, when ${KIND} refuses to fetch it`, { skip: withoutGpu }, () => {
  let session: GpuSession;
  let machine: CopyMachine;
  let buffer: GpuHandle;
  before(() => {
    session = loadDriver().open(0);
    machine = new CopyMachine(session);
    buffer = session.alloc(WORD_BYTES);
  });
  after(() => {
    machine.close();
    session.free(buffer);
    session.close();
  });

  function word(): bigint {
    const bytes = new Uint8Array(WORD_BYTES);
    machine.read(buffer, 0, bytes, 0, WORD_BYTES, new Ended());
    machine.finish();
    return new DataView(bytes.buffer).getBigUint64(0, true);
  }

  function setWord(value: bigint): void {
    const bytes = new Uint8Array(new BigUint64Array([value]).buffer);
    machine.write(buffer, 0, bytes, 0, WORD_BYTES, new Ended());
    machine.finish();
  }

  /** Adds 3 to the word. */
  function begin(copy: Copy, found = new Uint8Array(WORD_BYTES)): boolean {
    return machine.atomic(session.prepareAtomics(), buffer, 0, { compare: undefined, operand: 3n }, found, copy);
  }

  it('is that of an atomic which has ended, once, by the time that it has failed', () => {
    setWord(5n);
    const copy = new Ended();
    refusesRead = true;
    // It is under way: nobody may take the memory for its own yet.
    assert.deepEqual([begin(copy), copy.copiedBytes], [true, undefined]);
    machine.finish();
    assert.deepEqual([copy.copiedBytes, machine.slotsInUse, word()], [0, 0, 8n]);
  });

  it('does not hold up the atomic behind it', () => {
    setWord(5n);
    const [first, second] = [new Ended(), new Ended()];
    const found = new Uint8Array(WORD_BYTES);
    refusesRead = true;
    begin(first);
    begin(second, found);
    machine.finish();
    assert.deepEqual([first.copiedBytes, second.copiedBytes, found[0], word()], [0, WORD_BYTES, 8, 11n]);
  });

  it('is of no use to who gives the atomic up, and that has ended then', () => {
    const other = session.alloc(WORD_BYTES);
    const copy = new Ended();
    refusesRead = true;
    machine.atomic(session.prepareAtomics(), other, 0, { compare: 0n, operand: 1n }, new Uint8Array(WORD_BYTES), copy);
    machine.cancel(copy);
    session.free(other);
    machine.finish();
    assert.deepEqual([copy.copiedBytes, machine.slotsInUse], [undefined, 0]);
  });

  it('fails a comparison, which has ended by then', () => {
    const other = session.alloc(WORD_BYTES);
    const copy = new Ended();
    refusesRead = true;
    assert.ok(machine.compare(buffer, other, WORD_BYTES, () => undefined, copy));
    machine.finish();
    session.free(other);
    assert.deepEqual([copy.copiedBytes, machine.slotsInUse], [0, 0]);
  });
});
