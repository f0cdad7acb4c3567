import { renameSync, writeFileSync } from 'node:fs'
import { give, type User } from './processes/unprivileged-user.ts'

/** Writes a file that only its owner can read, whole or not at all. */
export function writePrivateFile(path: string, text: string, owner: User = {}): void {
  const unfinished = `${path}.${process.pid}`
  writeFileSync(unfinished, text, { mode: 0o600, flush: true })
  give(unfinished, owner)
  renameSync(unfinished, path)
}
