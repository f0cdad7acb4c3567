import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import versions from '../../../src/migrations/released.json' with { type: 'json' }
import type { Report } from './report.ts'

const run = promisify(execFile)

const MIGRATIONS = 'src/migrations'

const [version = '', migrations = {}] = Object.entries(versions).at(-1) ?? []

/** A checkout of the last released version with its packages; undefined where the history does not give it. */
export async function releasedCheckout(folder: string, report: Report): Promise<string | undefined> {
  const commit = await releasedCommit().catch((error: Error) => {
    report.tell(`  No takeover of ${version}, the last released version: ${error.message.trim()}`)
  })
  if (!commit) return undefined
  const checkout = join(folder, `released-${version}`)
  await report.timed(`checkout of ${version} (${commit.slice(0, 9)}), with its packages`, () =>
    install(commit, checkout),
  )
  return checkout
}

/** The last commit without a migration that the version does not have. */
async function releasedCommit(): Promise<string> {
  const later = readdirSync(MIGRATIONS)
    .filter(name => /^\d{4}-/.test(name))
    .sort()
    .find(name => !(name.replace(/\.sql$/, '') in migrations))
  if (!later) throw new Error('it has every migration that is here')
  const added = ['log', '-1', '--diff-filter=A', '--format=%H', '--', join(MIGRATIONS, later)]
  const { stdout: commit } = await run('git', added)
  const { stdout } = await run('git', ['rev-parse', '--verify', `${commit.trim()}^`])
  return stdout.trim()
}

async function install(commit: string, checkout: string): Promise<void> {
  const archive = `${checkout}.tar`
  mkdirSync(checkout)
  await run('git', ['archive', `--output=${archive}`, commit])
  await run('tar', ['-xf', archive, '-C', checkout])
  // Beneath `npm run`, npm would take the folder of the outer project.
  const options = ['--include=dev', '--include=optional', '--no-audit', '--no-fund', '--loglevel=error']
  await run('npm', ['ci', `--prefix=${checkout}`, ...options], { cwd: checkout })
}
