import type { FileSink } from '../../ports/files.ts'
import { type FileDataKey, FileEncryptor } from '../files-on-disk/seal.ts'

/**
 * Seals a file while it arrives, and writes it to a presigned URL, which lasts a few minutes and works for
 * nothing else. The thread has no key of the store. An object is written in one request, so the sealed bytes
 * stay in memory until it is named.
 */
export function writeSealed(seal: FileDataKey): FileSink {
  const sealing = new FileEncryptor(seal)
  let parts: Uint8Array[] = []
  return {
    write(bytes) {
      parts.push(...sealing.add(bytes))
      return undefined
    },
    async end(sha256) {
      const { last, head } = sealing.end(sha256)
      parts = [...head, ...parts, ...last]
    },
    async finish(...args) {
      const [address, timeoutMs] = args as [string, number]
      const { status } = await fetch(address, {
        method: 'PUT',
        body: new Blob(parts as Uint8Array<ArrayBuffer>[]),
        redirect: 'error',
        signal: AbortSignal.timeout(timeoutMs),
      })
      if (status >= 300) throw new Error(`The store of files has answered ${status} to PUT.`)
    },
    async drop() {
      parts = []
    },
  }
}
