import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import settings from '../../../temporal-config/dev-server.json' with { type: 'json' }
import { TEMPORAL_RELEASES } from './release.ts'

const VERSION_MS = 30_000

/** The version of the server in a Temporal CLI; undefined for a file that is none, or does not run here. */
export async function serverOf(binary: string): Promise<string | undefined> {
  const run = promisify(execFile)(binary, ['--version'], { timeout: VERSION_MS })
  const { stdout } = await run.catch(() => ({ stdout: '' }))
  return /\bServer (\d+\.\d+\.\d+)/.exec(stdout)?.[1]
}

/** `1.32` of `1.32.0`: servers differ in tables and settings from one such version to the next. */
export const minorOf = (version: string): string => version.split('.').slice(0, 2).join('.')

export const isServed = (server: string): boolean => !isOlder(server, settings.oldestServer)

/** One line for a developer whose server is older than production's. */
export function olderServerNotes(server: string | undefined): string[] {
  const [ours] = TEMPORAL_RELEASES
  if (!server || !ours || !isOlder(server, ours.server)) return []
  return [
    `This is Temporal server ${server}, and production runs ${ours.server}: with the Temporal CLI ${ours.version}, pip or uv here, the next start takes that one.`,
  ]
}

/** Whether the Web UI asks its makers for news, and has a flag against it. */
export const hasNews = (server: string | undefined): boolean =>
  server !== undefined && !isOlder(server, '1.32')

const isOlder = (server: string, than: string): boolean =>
  minorOf(server).localeCompare(minorOf(than), 'en', { numeric: true }) < 0
