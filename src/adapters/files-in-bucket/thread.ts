import { type Seal, sealFile } from '../files-on-disk/seal.ts'

/**
 * Seals a file and writes it to this one address, which lasts a few minutes and is good for nothing else. The thread knows
 * no key of the store.
 */
export async function writeSealed(
  bytes: Uint8Array,
  address: string,
  seal: Seal,
  timeoutMs: number,
): Promise<void> {
  const body = new Blob((await sealFile(bytes, seal)) as Uint8Array<ArrayBuffer>[])
  const { status } = await fetch(address, {
    method: 'PUT',
    body,
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
  })
  if (status >= 300) throw new Error(`The store of files has answered ${status} to PUT.`)
}
