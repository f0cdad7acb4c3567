import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { withMachineLock } from '../../src/dev/processes/machine-lock.ts'
import { type Tell, withProgress } from '../../src/dev/processes/progress.ts'
import { buildTemporal } from '../../src/dev/temporal/build.ts'
import { cacheFolder, type Release } from '../../src/dev/temporal/release.ts'
import production from '../../temporal-config/production-server.json' with { type: 'json' }

type Source = (typeof production.programs)[keyof typeof production.programs]

/** The builder tells every program its version by a variable; these have none. */
const NO_STAMP = 'main.unused'

const releaseOf = (source: Source): Release => ({
  version: source.version.slice(1),
  oldestServer: production.version,
  archives: {},
  source: { ...source, stamp: NO_STAMP },
})

/** The folder with the programs that are in Temporal's images; each is built once for all checkouts. */
export async function temporalPrograms(tell: Tell): Promise<string> {
  const anyOne = releaseOf(production.programs['temporal-server'])
  const folder = cacheFolder(process.env, { ...anyOne, version: `server-${production.version}` })
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

/** Made aside and moved at the end: an interruption leaves no half of a program. */
async function build(program: string, source: Source, tell: Tell): Promise<void> {
  if (existsSync(program)) return
  const aside = mkdtempSync(`${program}-`)
  try {
    const built = await buildTemporal(releaseOf(source), aside, { env: process.env, tell })
    copyConfig(source, `${program}-config`)
    renameSync(built, program)
  } finally {
    rmSync(aside, { recursive: true, force: true })
  }
}

/** An image has its program's configuration beside it. */
function copyConfig({ module, version }: Source, to: string): void {
  const modules = execFileSync('go', ['env', 'GOMODCACHE'], { encoding: 'utf8' }).trim()
  cpSync(join(modules, `${module}@${version}`, 'config'), to, { recursive: true })
}
