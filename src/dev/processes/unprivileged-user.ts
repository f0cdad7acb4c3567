import { spawnSync } from 'node:child_process'
import { chownSync, readFileSync, renameSync, writeFileSync } from 'node:fs'

export function writePrivateFile(path: string, text: string, owner: SystemUser = {}): void {
  const unfinished = `${path}.${process.pid}`
  writeFileSync(unfinished, text, { mode: 0o600, flush: true })
  giveOwnership(unfinished, owner)
  renameSync(unfinished, path)
}

export interface SystemUser {
  uid?: number
  gid?: number
}

const ADVICE = 'PostgreSQL refuses to run as root. Start as an ordinary user, or set DATABASE_URL.'

export function unprivilegedUser(): SystemUser {
  const user = findUnprivilegedAccount(readFileSync('/etc/passwd', 'utf8'))
  if (!user) throw new Error(`There is no user "postgres" or "nobody". ${ADVICE}`)
  if (!canUserRun(user, 'true')) throw new Error(`This process cannot switch to another user. ${ADVICE}`)
  return user
}

/** On macOS `postgres` starts with an underscore, and `nobody` has a negative uid, which no process can be given. */
export function findUnprivilegedAccount(passwd: string): { uid: number; gid: number } | undefined {
  const accounts = passwd.split('\n').map(line => line.split(':'))
  const found = ['postgres', '_postgres', 'nobody'].flatMap(name =>
    accounts.filter(([other, , uid]) => other === name && Number(uid) > 0),
  )
  return found[0] && { uid: Number(found[0][2]), gid: Number(found[0][3]) }
}

/** Whether a command succeeds for a user: asking the system is more reliable than reading permissions. */
export function canUserRun(user: SystemUser, command: string, ...args: string[]): boolean {
  return spawnSync(command, args, { ...user, cwd: '/', stdio: 'ignore' }).status === 0
}

export function giveOwnership(path: string, { uid, gid }: SystemUser): void {
  if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid)
}
