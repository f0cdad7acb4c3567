import { execFile } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { schemaHistory } from '../../../src/migrations/index.ts'
import type { Report } from './report.ts'

const run = promisify(execFile)

/** A checkout of the last released version with its packages; undefined where the history lacks its commit. */
export async function releasedCheckout(folder: string, report: Report): Promise<string | undefined> {
  const last = Object.entries(schemaHistory().released).at(-1)
  if (!last) return undefined
  const [version, { commit }] = last
  try {
    await run('git', ['cat-file', '-e', `${commit}^{commit}`])
  } catch (error) {
    report.tell(`  No takeover of ${version}, the last released version: ${(error as Error).message.trim()}`)
    return undefined
  }
  const checkout = join(folder, `released-${version}`)
  await report.timed(`checkout of ${version} (${commit.slice(0, 9)}), with its packages`, () =>
    install(commit, checkout),
  )
  return checkout
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
