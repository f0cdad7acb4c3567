import {
  chmodSync,
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { CommandFailure, type CommandIo, exitCodes, usageError } from './io.ts'

export interface CommandProfile {
  readonly url: string
  readonly key: string
  readonly keyId: string
  readonly ownerId: string
}

export interface KeyFile {
  readonly current: string | null
  readonly profiles: Readonly<Record<string, CommandProfile>>
}

export const DEFAULT_PROFILE = 'default'

const NAME = /^[A-Za-z0-9][\w.-]{0,49}$/

export function checkProfileName(name: string): string {
  if (NAME.test(name)) return name
  throw usageError('A profile name has 1 to 50 letters, digits, -, _ and ., such as work.')
}

/** `~/.config/agentpay/credentials.json`, or below `XDG_CONFIG_HOME`. */
export function keyFilePath({ env }: Pick<CommandIo, 'env'>): string {
  const configuration = env.XDG_CONFIG_HOME || join(env.HOME || homedir(), '.config')
  return join(configuration, 'agentpay', 'credentials.json')
}

/** Why other users could read the keys; undefined if they cannot or there is no file. */
export function keyFileExposure(path: string): string | undefined {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0
  if ((mode & 0o077) === 0) return undefined
  return `Other users of this machine can read ${path}. Run chmod 600 ${path}, and sign in again if you do not trust them.`
}

export const EMPTY_KEY_FILE: KeyFile = { current: null, profiles: {} }

/** Returns an empty file if there is none. Keys that other users may read are refused. */
export function readKeyFile(io: Pick<CommandIo, 'env'>): KeyFile {
  const path = keyFilePath(io)
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return EMPTY_KEY_FILE
    throw new CommandFailure(exitCodes.notSignedIn, `${path} cannot be read: ${(error as Error).message}`)
  }
  const exposure = keyFileExposure(path)
  if (exposure) throw new CommandFailure(exitCodes.notSignedIn, exposure)
  return parsed(text, path)
}

function parsed(text: string, path: string): KeyFile {
  try {
    const { current, profiles } = JSON.parse(text) as KeyFile
    const kept = Object.entries(profiles).filter(([, one]) => isProfile(one))
    return { current: typeof current === 'string' ? current : null, profiles: Object.fromEntries(kept) }
  } catch {
    throw new CommandFailure(exitCodes.notSignedIn, `${path} is damaged. Delete it and sign in again.`)
  }
}

const isProfile = (value: CommandProfile): boolean =>
  [value?.url, value?.key, value?.keyId, value?.ownerId].every(member => typeof member === 'string')

export const findProfile = ({ profiles }: KeyFile, name: string): CommandProfile | undefined =>
  Object.hasOwn(profiles, name) ? profiles[name] : undefined

const LOCK_WAITS = 50
const LOCK_WAIT_MS = 100

/** Replaces the file atomically. Of two concurrent commands, the second sees the first one's change. */
export async function changeKeyFile(io: CommandIo, change: (kept: KeyFile) => KeyFile): Promise<void> {
  const path = keyFilePath(io)
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  chmodSync(dirname(path), 0o700)
  const next = `${path}.new`
  const handle = await openAlone(next, io)
  try {
    writeSync(handle, `${JSON.stringify(change(readKeyFile(io)), null, 2)}\n`)
    fsyncSync(handle)
    renameSync(next, path)
  } catch (error) {
    rmSync(next, { force: true })
    throw error
  } finally {
    closeSync(handle)
  }
}

/** Creates the new file exclusively, so only one command at a time changes it. */
async function openAlone(path: string, io: CommandIo): Promise<number> {
  for (let waits = 0; waits < LOCK_WAITS; waits += 1) {
    try {
      return openSync(path, 'wx', 0o600)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      await io.wait(LOCK_WAIT_MS)
    }
  }
  throw usageError(`Another agentpay process seems to be writing keys. If none is running, delete ${path}`)
}

export const withKeyProfile =
  (name: string, profile: CommandProfile) =>
  ({ profiles }: KeyFile): KeyFile => ({ current: name, profiles: { ...profiles, [name]: profile } })

export const withoutKeyProfile =
  (name: string, keyId: string) =>
  (kept: KeyFile): KeyFile => {
    if (findProfile(kept, name)?.keyId !== keyId) return kept
    const { [name]: _, ...profiles } = kept.profiles
    return { current: kept.current === name ? null : kept.current, profiles }
  }
