import type { UcpWorld } from './world.js';

/** Calls of one family, as programs make them, and the model beside them. */
export abstract class Family<Step extends { readonly atUs: number }> {
  constructor(
    protected readonly world: UcpWorld,
    private readonly steps: readonly Step[],
  ) {}

  /** Has all steps taken when it is their time. */
  schedule(): void {
    for (const step of this.steps) this.world.at(step.atUs, () => this.take(step));
  }

  begin(): void {
    // Most need nothing more.
  }

  /** Takes what has come and nobody has asked for. @returns whether there was something */
  drain(): Promise<boolean> {
    return Promise.resolve(false);
  }

  /** All has come that will ever come, and the workers are still there. */
  finish(): Promise<void> {
    return Promise.resolve();
  }

  /** @param isCalm nothing was given up, and nothing befell anybody. @throws SimulationFailure */
  abstract verify(isCalm: boolean): void;

  abstract counts(): Record<string, number>;

  protected abstract take(step: Step): Promise<void>;
}
