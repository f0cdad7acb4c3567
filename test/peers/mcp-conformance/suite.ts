import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { runNpm } from '../../support/packages/installed.ts'
import { temporaryFolder } from '../../support/processes/folders.ts'

/** The suite, installed by npm in its own folder, in the versions that the lockfile here pins. */
export async function theSuite(): Promise<{ readonly folder: string; readonly program: string }> {
  const folder = temporaryFolder()
  for (const name of ['package.json', 'package-lock.json'])
    copyFileSync(new URL(name, import.meta.url), join(folder, name))
  await runNpm(['ci', '--ignore-scripts', '--no-audit', '--no-fund'], folder)
  return { folder, program: join(folder, 'node_modules/@modelcontextprotocol/conformance/dist/index.js') }
}
