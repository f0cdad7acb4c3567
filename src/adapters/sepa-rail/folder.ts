import { mkdir, open, rename } from 'node:fs/promises'
import { join } from 'node:path'
import type { SepaRail } from '../../kernel/sepa-rail.ts'

const OUT = 'out'
/** On the same disk, so that a file gets from here to there in one step. */
const STAGED = '.staged'

/** A folder that is shared with the bank's client: it takes away what is in `out`. */
export const outFolder = (folder: string): Pick<SepaRail, 'stage' | 'release'> => ({
  async stage(name, message) {
    await mkdir(join(folder, STAGED), { recursive: true, mode: 0o700 })
    await mkdir(join(folder, OUT), { recursive: true, mode: 0o700 })
    await writeWhole(join(folder, STAGED, name), message)
  },

  async release(name) {
    await rename(join(folder, STAGED, name), join(folder, OUT, name)).catch(
      (error: NodeJS.ErrnoException) => {
        // It has gone the way before, and may be on its way to the bank.
        if (error.code !== 'ENOENT') throw error
      },
    )
  },
})

/** On the disk, readable by its owner alone, before it bears its name. */
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
