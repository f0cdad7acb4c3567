/**
 * Frees the memory of bytes that are no longer read. Large buffers lie outside of the heap: left to the
 * garbage collector, those of a few uploads make it scan the whole heap. Shared memory is left as it is.
 */
export function detachBytes(bytes: Uint8Array): void {
  const { buffer } = bytes
  if (buffer instanceof ArrayBuffer && !buffer.detached && buffer.byteLength === bytes.byteLength)
    buffer.transfer(0)
}
