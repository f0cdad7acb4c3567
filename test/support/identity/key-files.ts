import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { KeyFile } from '../../../src/command/key-file.ts'
import { temporaryFolder } from '../processes/folders.ts'

/** A user's settings folder on a new machine: empty. */
export function aConfiguration() {
  const folder = temporaryFolder()
  const path = join(folder, 'agentpay', 'credentials.json')
  return {
    path,
    env: { XDG_CONFIG_HOME: folder },
    read: (): KeyFile => JSON.parse(readFileSync(path, 'utf8')),
    write(content: string, mode = 0o600): void {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
      writeFileSync(path, content, { mode })
    },
    /** The modes of file and folder, in octal. */
    modes: () => [path, dirname(path)].map(one => (statSync(one).mode & 0o777).toString(8)),
  }
}
