import { link, mkdir, open, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { BankFileHandOver } from '../../ports/sepa-rail.ts'

const OUT = 'out'
/** On the same disk as `out`, so that a rename releases files atomically. */
const STAGED = '.staged'
const SENT = 'sent'

export function outboundFolder(folder: string): BankFileHandOver {
  const at = (place: string, name = ''): string => join(folder, place, name)
  return {
    async stage(name, message) {
      for (const place of [OUT, STAGED, SENT]) await mkdir(at(place), { recursive: true, mode: 0o700 })
      await writeWhole(at(STAGED, name), message)
      await link(at(STAGED, name), at(SENT, name)).catch(unless('EEXIST'))
      for (const place of [STAGED, SENT]) await sync(at(place))
    },

    async release(name) {
      await rename(at(STAGED, name), at(OUT, name)).catch(unless('ENOENT'))
      // A file missing here was released before; a name that was never staged is an error.
      await stat(at(SENT, name))
      await sync(at(OUT))
    },
  }
}

const unless =
  (code: string) =>
  (error: NodeJS.ErrnoException): void => {
    if (error.code !== code) throw error
  }

async function writeWhole(path: string, text: string): Promise<void> {
  const unfinished = `${path}.${process.pid}`
  const file = await open(unfinished, 'w', 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(unfinished, path)
}

/** A rename survives a loss of power only after its folder is flushed. */
async function sync(folder: string): Promise<void> {
  const opened = await open(folder)
  try {
    await opened.sync()
  } finally {
    await opened.close()
  }
}
