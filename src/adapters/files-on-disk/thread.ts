import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type Seal, sealFile } from './seal.ts'
import { writeWhole } from './write.ts'

/** Writes a file, encrypted and flushed, under a name that says nothing. It knows the key of this one file alone. */
export async function writeSealed(bytes: Uint8Array, unnamed: string, seal: Seal): Promise<void> {
  const parts = await sealFile(bytes, seal)
  await mkdir(dirname(unnamed), { recursive: true, mode: 0o700 })
  await writeWhole(unnamed, parts)
}
