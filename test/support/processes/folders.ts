import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from '@jest/globals'
import { removePostgres } from '../../../src/dev/postgres/embedded-postgres.ts'

const made: string[] = []
const endings: (() => Promise<void>)[] = []

/** A directory for this test file. As root, other users can enter it or not. */
export function temporaryFolder(mode = 0o755): string {
  const folder = mkdtempSync(join(tmpdir(), 'agentpay-'))
  chmodSync(folder, mode)
  made.push(folder)
  return folder
}

/** What keeps something running in such a directory ends before the directory goes. */
export const endBefore = (end: () => Promise<void>): void => void endings.push(end)

afterAll(async () => {
  await Promise.all(endings.map(end => end()))
  for (const folder of made) {
    await removePostgres(folder)
    rmSync(folder, { recursive: true, force: true })
  }
})
