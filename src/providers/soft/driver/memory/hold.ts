import { Resource } from '../../../../api/verbs/index.js';

/** One object's use of another, where that can change during its life: a region can move to another domain. */
export class Hold extends Resource {
  /**
   * @param used what cannot be ended meanwhile
   * @param name how errors name the one who holds it
   */
  constructor(
    used: Resource,
    private readonly name: () => string,
  ) {
    super('', [used]);
  }

  letGo(): void {
    if (!this.destroyed) this.end();
  }

  protected get label(): string {
    return this.name();
  }

  protected release(): void {
    // No device knows of it.
  }
}
