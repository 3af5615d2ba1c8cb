import type { Mr, Pd, Qp, QpInitAttr, RegistrableMemory } from '../../verbs/index.js';
import { accessProblem, invalid, refuse, Resource, VerbsError } from '../../verbs/index.js';
import type { SoftContext } from './context.js';
import { SUPPORTED_ACCESS } from './device-facts.js';
import { SoftMr } from './memory-region.js';
import { SoftQp } from './queue-pair.js';

function bytesOf(memory: RegistrableMemory): Uint8Array {
  try {
    return ArrayBuffer.isView(memory)
      ? new Uint8Array(memory.buffer, memory.byteOffset, memory.byteLength)
      : new Uint8Array(memory);
  } catch (error) {
    const problem = invalid('the memory is detached: it was transferred away', 'Register it before, or use alloc()');
    throw new VerbsError('ibv_reg_mr', problem, { cause: error });
  }
}

function isMemory(memory: unknown): boolean {
  return ArrayBuffer.isView(memory) || memory instanceof ArrayBuffer || memory instanceof SharedArrayBuffer;
}

/** A protection domain. */
export class SoftPd extends Resource implements Pd {
  readonly handle: number;
  protected readonly label: string;

  constructor(readonly context: SoftContext) {
    const handle = context.command('ibv_alloc_pd', 'allocPd', undefined);
    super('ibv_dealloc_pd', [context]);
    this.handle = handle;
    this.label = `PD ${handle}`;
  }

  regMr(memory: RegistrableMemory, access = 0): Mr {
    this.assertAlive('ibv_reg_mr');
    refuse('ibv_reg_mr', accessProblem(access, SUPPORTED_ACCESS));
    if (!isMemory(memory))
      refuse('ibv_reg_mr', invalid('that is no memory', 'Give an ArrayBuffer, a SharedArrayBuffer or a view of one'));
    const bytes = bytesOf(memory);
    if (bytes.length === 0) refuse('ibv_reg_mr', invalid('the memory has no bytes', 'It needs at least one'));
    return new SoftMr(this, bytes, access);
  }

  createQp(init: QpInitAttr): Qp {
    this.assertAlive('ibv_create_qp');
    return new SoftQp(this, init);
  }

  dealloc(): void {
    this.end();
  }

  protected release(): void {
    this.context.endCommand('ibv_dealloc_pd', 'deallocPd', this.handle);
  }
}
