import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { join } from 'node:path'
import { host } from '../host.mjs'
import {
  canUserRun,
  giveOwnership,
  type SystemUser,
  unprivilegedUser,
} from '../processes/unprivileged-user.ts'

export interface PostgresPaths {
  user: SystemUser
  home: string
  bin: string
}

const PACKAGE = join(import.meta.dirname, '../../../node_modules', host.packages.postgres)
const NATIVE = join(PACKAGE, 'native')

/** Parents for a directory of another user, who cannot reach the data directory. */
const ELSEWHERE = ['/var/lib', '/var/tmp']
const PREFIX = 'agentpay-'

/** PostgreSQL refuses to run as root. Then another user runs it, in a directory that this user can reach. */
export function postgresPaths(dataDir: string): PostgresPaths {
  if (!existsSync(NATIVE))
    throw new Error(`There is no embedded PostgreSQL for ${host.name}: set DATABASE_URL.`)
  const home = join(dataDir, 'postgres')
  const root = process.getuid?.() === 0
  const user = root ? ownerOrUnprivileged(home) : {}
  return {
    user,
    home: reachableHome(home, user),
    bin: root ? reachableBin(dataDir, user) : join(NATIVE, 'bin'),
  }
}

export function removePostgresPaths(dataDir: string): void {
  for (const path of [join(dataDir, 'postgres'), join(dataDir, 'postgres-binaries')]) {
    const target = existsSync(path) ? realpathSync(path) : path
    const elsewhere = ELSEWHERE.some(folder => target.startsWith(join(folder, PREFIX)))
    if (elsewhere) rmSync(target, { recursive: true })
    rmSync(path, { recursive: true, force: true })
  }
}

/** Root continues a data directory that an ordinary user created as that user. */
function ownerOrUnprivileged(home: string): SystemUser {
  const { uid, gid } = existsSync(home) ? statSync(home) : { uid: 0, gid: 0 }
  return uid === 0 ? unprivilegedUser() : { uid, gid }
}

function reachableHome(home: string, user: SystemUser): string {
  if (existsSync(home)) return realpathSync(home)
  rmSync(home, { force: true })
  mkdirSync(home, { mode: 0o700 })
  giveOwnership(home, user)
  if (canUserRun(user, 'test', '-w', home)) return home
  rmSync(home, { recursive: true })
  return directoryOutside(home, user)
}

function reachableBin(dataDir: string, user: SystemUser): string {
  if (canUserRun(user, join(NATIVE, 'bin/initdb'), '--version')) return join(NATIVE, 'bin')
  const link = join(dataDir, 'postgres-binaries')
  const room = existsSync(link) ? realpathSync(link) : directoryOutside(link, user)
  const { version } = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8'))
  const copy = join(room, version)
  if (!existsSync(copy)) copyTree(NATIVE, copy)
  return join(copy, 'bin')
}

function directoryOutside(link: string, user: SystemUser): string {
  const folder = ELSEWHERE.find(
    candidate => canUserRun(user, 'test', '-x', candidate) && canUserRun({}, 'test', '-w', candidate),
  )
  if (!folder)
    throw new Error(`The user that runs PostgreSQL can reach neither ${link} nor ${ELSEWHERE.join(' nor ')}.`)
  const room = mkdtempSync(join(folder, PREFIX))
  giveOwnership(room, user)
  rmSync(link, { force: true })
  symlinkSync(room, link)
  return room
}

function copyTree(from: string, to: string): void {
  const unfinished = `${to}.unfinished`
  rmSync(unfinished, { recursive: true, force: true })
  execFileSync('cp', ['-R', from, unfinished])
  execFileSync('chmod', ['-R', 'a+rX', unfinished])
  renameSync(unfinished, to)
}
