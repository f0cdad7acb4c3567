import { type Seal, sealFile } from './seal.ts'
import { writeWhole } from './write.ts'

/** Writes a file, encrypted and flushed, under a name that says nothing. It knows the key of this one file alone. */
export async function writeSealed(bytes: Uint8Array, unnamed: string, seal: Seal): Promise<void> {
  await writeWhole(unnamed, await sealFile(bytes, seal))
}
