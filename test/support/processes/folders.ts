import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from '@jest/globals'
import { removePostgres } from '../../../src/dev/postgres/embedded-postgres.ts'

const folders: string[] = []
const endings: (() => Promise<void>)[] = []

/** A directory for this test file, removed after it. The mode decides whether other users can enter it. */
export function temporaryFolder(mode = 0o755): string {
  const folder = mkdtempSync(join(tmpdir(), 'agentpay-'))
  chmodSync(folder, mode)
  folders.push(folder)
  return folder
}

/** Registers what must end before the directories are removed, such as a server in one. */
export const beforeRemoval = (end: () => Promise<void>): void => void endings.push(end)

afterAll(async () => {
  await Promise.all(endings.map(end => end()))
  for (const folder of folders) {
    await removePostgres(folder)
    rmSync(folder, { recursive: true, force: true })
  }
})
