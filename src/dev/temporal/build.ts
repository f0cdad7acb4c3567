import { type ExecFileException, type ExecFileOptions, execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { guardedChild } from '../processes/guarded-child.ts'
import type { PrintLine } from '../processes/progress.ts'
import type { GoSource, TemporalRelease } from './release.ts'

const DOWNLOAD_MS = 30_000

export async function buildTemporal(
  { version, source: module }: Pick<Required<TemporalRelease>, 'version' | 'source'>,
  folder: string,
  { env, tell }: { env: NodeJS.ProcessEnv; tell: PrintLine },
): Promise<string> {
  const source = await verifiedSource(module, folder, env)
  tell(`Building Temporal ${version} with Go: once for all checkouts, usually about three minutes`)
  const { package: name, stamp } = module
  const built = join(folder, 'temporal')
  const flags = ['-mod=readonly', '-buildvcs=false', `-ldflags=-s -w -X ${stamp}=${version}`]
  const log = join(folder, 'build.log')
  const command = ['go', 'build', ...flags, '-o', built, name]
  // Go ignores SIGTERM here; the folder it leaves is removed.
  const settings = { ...env, ...OWN_MACHINE, GOTMPDIR: folder }
  await guardedChild(command, { user: {}, cwd: source, log, env: settings, signal: 'KILL' }).ended
  if (existsSync(built)) return built
  throw new Error(readFileSync(log, 'utf8').trim().split('\n').at(-1) || 'it was stopped')
}

/** Overrides Go settings of the user's other projects. */
const OWN_MACHINE = { GOFLAGS: '', GOWORK: 'off', GOOS: '', GOARCH: '', CGO_ENABLED: '' }

/**
 * Verifies the module against its pinned checksum. Its files include the checksums of all dependencies, so
 * the checksum database, which may be unreachable, is not queried.
 */
async function verifiedSource(
  { module, version, sum }: GoSource,
  cwd: string,
  outer: NodeJS.ProcessEnv,
): Promise<string> {
  const env = { ...outer, ...OWN_MACHINE, GONOSUMDB: module }
  const { Dir, Sum } = await download(`${module}@${version}`, { cwd, env, timeout: DOWNLOAD_MS })
  if (Sum !== sum) throw new Error(`${module} ${version} has an unexpected checksum`)
  return Dir
}

async function download(module: string, options: ExecFileOptions): Promise<{ Dir: string; Sum: string }> {
  try {
    const { stdout } = await promisify(execFile)('go', ['mod', 'download', '-json', module], options)
    return JSON.parse(String(stdout))
  } catch (error) {
    throw new Error(reason(error as ExecFileException))
  }
}

function reason({ code, killed, stdout, message }: ExecFileException): string {
  if (String(code) === 'ENOENT') return 'Go is not installed'
  if (killed) return `its source did not arrive within ${DOWNLOAD_MS / 1000} s`
  return stdout?.startsWith('{') ? JSON.parse(stdout).Error : message
}
