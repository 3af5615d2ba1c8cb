/** Whether a buffer may grow, shrink and vanish under the views of it. Of any realm. */
export function isResizable(buffer: ArrayBufferLike): boolean {
  try {
    // Asked of the language: a property of the buffer's own could say anything. Shared memory has no such property.
    return Reflect.get(ArrayBuffer.prototype, 'resizable', buffer) === true;
  } catch {
    return false;
  }
}
