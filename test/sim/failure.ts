export class SimulationFailure extends Error {
  override readonly name = 'SimulationFailure';
}

export function check(condition: boolean, message: () => string): asserts condition {
  if (!condition) throw new SimulationFailure(message());
}
