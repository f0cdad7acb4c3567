import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { withMachineLock } from '../../src/dev/processes/machine-lock.ts'
import { type PrintLine, withProgress } from '../../src/dev/processes/progress.ts'
import { buildTemporal } from '../../src/dev/temporal/build.ts'
import { temporalCacheFolder } from '../../src/dev/temporal/release.ts'
import production from '../../temporal-config/production-server.json' with { type: 'json' }

type Source = (typeof production.programs)[keyof typeof production.programs]

/** The builder sets a version variable in every program; these programs have none. */
const NO_STAMP = 'main.unused'

const releaseOf = (source: Source) => ({
  version: source.version.slice(1),
  source: { ...source, stamp: NO_STAMP },
})

/** Returns the folder with the programs of Temporal's images; each is built once for all checkouts. */
export async function temporalPrograms(tell: PrintLine): Promise<string> {
  const folder = temporalCacheFolder(process.env, { version: `server-${production.version}` })
  mkdirSync(folder, { recursive: true })
  const wait = () => tell('Another process is building the Temporal server; waiting for it')
  await withProgress(tell, () =>
    withMachineLock(folder, wait, async () => {
      for (const [name, source] of Object.entries(production.programs))
        await build(join(folder, name), source, tell)
    }),
  )
  return folder
}

/** Builds in a temporary folder and moves the result, so that an interruption leaves no partial program. */
async function build(program: string, source: Source, tell: PrintLine): Promise<void> {
  if (existsSync(program)) return
  const temporary = mkdtempSync(`${program}-`)
  try {
    const built = await buildTemporal(releaseOf(source), temporary, { env: process.env, tell })
    copyConfig(source, `${program}-config`)
    renameSync(built, program)
  } finally {
    rmSync(temporary, { recursive: true, force: true })
  }
}

/** Copies the configuration that the image has beside its program. */
function copyConfig({ module, version }: Source, to: string): void {
  const modules = execFileSync('go', ['env', 'GOMODCACHE'], { encoding: 'utf8' }).trim()
  cpSync(join(modules, `${module}@${version}`, 'config'), to, { recursive: true })
}
