/**
 * Gives the memory of bytes back at once that nobody reads any more. Large buffers lie outside of the heap: left to the
 * garbage collector, those of a few uploads make it look at the whole heap. Memory that others share is left as it is.
 */
export function freeMemory(bytes: Uint8Array): void {
  const { buffer } = bytes
  if (buffer instanceof ArrayBuffer && !buffer.detached && buffer.byteLength === bytes.byteLength)
    buffer.transfer(0)
}
