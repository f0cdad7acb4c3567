import { join } from 'node:path'
import { openReceiver, type Receiver, respondWith } from '../support/delivery/receiver-server.ts'
import { until } from '../support/until.ts'
import { lastBuild, nextBuild } from './builds/checkouts.ts'
import { historyOf, openRunsOf, troublesOf } from './builds/histories.ts'
import { type Company, eachRun, endPinned, goOnWith, type OpenRun, openCompany } from './builds/open-runs.ts'
import { startTransfers } from './builds/transfers.ts'
import { devServer } from './dev-server.ts'
import { checkBooks, untilSealed } from './drill/checks.ts'
import { type Installation, openInstallation } from './drill/installation.ts'
import { finishProcesses } from './drill/open-processes.ts'
import type { Report } from './drill/report.ts'
import { rehearse } from './rehearsal.ts'

const DEPLOYMENT = 'agentpay'

/** How many accounts begin a run of each flow with each build: more than 500 runs, or 57 in the short form. */
const COMPANIES = process.argv.includes('--short') ? 1 : 9

/** The checkouts of the builds. */
interface Builds {
  readonly first: string
  readonly next: string
  readonly last: string
}

/** Three builds that take over from each other over open runs, as docs/how-to/upgrade.md says. */
rehearse('builds', async ({ folder, report, closeLater }) => {
  const place = await openInstallation(folder, await devServer(), { TEMPORAL_DEPLOYMENT: DEPLOYMENT })
  const receiver = await openReceiver()
  closeLater(place.close)
  closeLater(receiver.close)
  const builds: Builds = {
    first: process.cwd(),
    next: nextBuild(join(folder, 'next')),
    last: lastBuild(join(folder, 'last')),
  }
  report.tell('An installation at work, with the first build')
  await report.timed('start of the installation', () => install(place))
  const rollout = openRollout(place, receiver, report)
  const transfers = await startTransfers(place)
  await rollThrough(place, builds, rollout)
  report.tell('The runs end')
  await endRuns(place, rollout, report)
  await transfers.stop()

  report.tell('The checks')
  await checkRuns(place, rollout, report)
  await transfers.check(place, report)
  const clients = [transfers.client, ...rollout.companies.map(({ client }) => client)]
  await untilSealed(clients)
  await checkBooks(place, clients, report)
})

async function install(place: Installation): Promise<void> {
  await Promise.all([place.startTemporal(), place.startPostgres()])
  await place.run('migrate')
  await place.run('namespace')
  await place.start(['api-1', 'worker-1', 'relay-1'])
}

interface Rollout {
  readonly companies: readonly Company[]
  /** In the order in which they became current. */
  readonly buildIds: readonly string[]
  readonly runs: readonly OpenRun[]
  /** The job `current` of this checkout; then all open runs go on. */
  makeCurrent(checkout: string): Promise<void>
  /** Begins runs with the build that is current. */
  beginRuns(): Promise<void>
}

function openRollout(place: Installation, receiver: Receiver, report: Report): Rollout {
  const companies: Company[] = []
  const buildIds: string[] = []
  const runs = () => companies.flatMap(company => company.runs)
  return {
    companies,
    buildIds,
    get runs() {
      return runs()
    },
    async makeCurrent(checkout) {
      const said = await place.run('current', { checkout })
      const buildId = /^The build (\S+) is current\.$/m.exec(said)?.[1] ?? ''
      buildIds.push(buildId)
      report.tell(`  ${buildId} is current`)
      await report.timed(`${runs().length} open runs go on`, () => goOnWith(place, runs(), buildId))
    },
    async beginRuns() {
      const opening = Array.from({ length: COMPANIES }, () => openCompany(place, receiver))
      companies.push(...(await report.timed('runs of all flows begin', () => Promise.all(opening))))
    },
  }
}

/** From the first build to the next one, back once, and to the last one. */
async function rollThrough(
  place: Installation,
  { first, next, last }: Builds,
  rollout: Rollout,
): Promise<void> {
  await rollout.makeCurrent(first)
  await rollout.beginRuns()
  await place.start(['worker-2'], next)
  await rollout.makeCurrent(next)
  await rollout.beginRuns()
  await rollout.makeCurrent(first)
  await place.start(['worker-3'], last)
  await rollout.makeCurrent(last)
  await rollout.beginRuns()
}

/** The workers of the older builds end once no run stays with them. */
async function endRuns(place: Installation, { companies, buildIds }: Rollout, report: Report): Promise<void> {
  const older = buildIds.slice(0, -1)
  for (const { stage } of companies) stage.receiver.treat('/down', respondWith(204))
  await report.timed('deliveries of the older builds end', () => endPinned(place, companies, older))
  for (const build of new Set(older))
    await until(
      `no run stays with ${build}`,
      async () => (await openRunsOf(place.temporal, DEPLOYMENT, build)) === 0,
    )
  await Promise.all([place.stop('worker-1'), place.stop('worker-2')])
  const wrong = await report.timed('all runs end', () =>
    Promise.all(companies.map(({ stage, runs }) => finishProcesses(stage, runs))),
  )
  report.check('all runs come to their ends', wrong.flat().length === 0, wrong.flat())
}

async function checkRuns(
  { temporal }: Installation,
  { runs, buildIds }: Rollout,
  report: Report,
): Promise<void> {
  const last = buildIds.at(-1)
  report.check('three builds were current', new Set(buildIds).size === 3, buildIds)
  const beginners = new Set(runs.filter(({ isPinned }) => isPinned).map(({ begunBy }) => begunBy))
  report.check('each has begun runs that stay with it', beginners.size === 3, [...beginners])
  const strayed = await eachRun(runs, async ({ workflowId, isPinned, begunBy }) => {
    const { builds } = await historyOf(temporal, workflowId)
    const isRight = isPinned ? builds.every(build => build === begunBy) : builds.at(-1) === last
    return isRight ? [] : [`${workflowId}: ${builds.join(', ')}`]
  })
  const pinned = runs.filter(({ isPinned }) => isPinned).length
  report.check(
    `${pinned} pinned runs ended with their builds, and ${runs.length - pinned} others with the last one`,
    strayed.flat().length === 0,
    strayed.flat(),
  )
  const troubles = await troublesOf(temporal)
  report.check(
    `no workflow task of ${troubles.runs} runs failed, and none was ended from outside`,
    troubles.lines.length === 0,
    troubles.lines.slice(0, 10),
  )
}
