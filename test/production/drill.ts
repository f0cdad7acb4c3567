import { join, resolve } from 'node:path'
import { openReceiver, type Receiver } from '../support/delivery/receiver-server.ts'
import { devServer } from './dev-server.ts'
import {
  archiveWal,
  baseBackupBytes,
  copyFiles,
  restoreBase,
  restoreFiles,
  takeBaseBackup,
  untilArchived,
  untilRecovered,
  verifyBaseBackup,
} from './drill/backup.ts'
import type { Bank } from './drill/bank.ts'
import { checkBooks, checkPayments } from './drill/checks.ts'
import { copyErasures, erase, hasName, reapplyErasures, untilErased } from './drill/erasure.ts'
import { type Installation, openAccount, openInstallation, SERVICES } from './drill/installation.ts'
import { aPayer, type Load, send, startLoad } from './drill/load.ts'
import { finishProcesses, untilRunning } from './drill/open-processes.ts'
import { type PostgresProgram, postgresPrograms } from './drill/postgres-programs.ts'
import { releasedCheckout } from './drill/released.ts'
import type { Report } from './drill/report.ts'
import { mustStopAll, roll, takeOver, versionIn } from './drill/upgrade.ts'
import { hasFile, openWork, type Work } from './drill/work.ts'
import { rehearse } from './rehearsal.ts'

/** A checkout of an older version with its packages, or `released`: the last released one, out of the history. */
const OLDER = process.env.DRILL_OLDER

/** The short form has fewer payments. */
const PAYMENTS = process.argv.includes('--short') ? 20 : 200

/** One API process, one worker and one relay; the rolling upgrade adds a second API process and worker. */
const ONE_OF_EACH = ['api-1', 'worker-1', 'relay-1'] as const

/** A disaster and an upgrade, on this machine: docs/how-to/backup.md and docs/how-to/upgrade.md, carried out. */
rehearse('drill', async ({ folder, report, closeLater }) => {
  const program = await postgresPrograms(join(folder, 'programs'), report.tell)
  const place = await openInstallation(folder, await devServer())
  const receiver = await openReceiver()
  closeLater(place.close)
  closeLater(receiver.close)
  const work = await recoverFromDisaster({ place, program }, receiver, report)
  await upgrade(place, work, folder, report)
})

interface Backed {
  readonly place: Installation
  /** The base backup is made by it. */
  readonly program: PostgresProgram | undefined
}

async function recoverFromDisaster(backed: Backed, receiver: Receiver, report: Report): Promise<Work> {
  const { place } = backed
  report.tell('An installation at work')
  await report.timed('start of the installation', () => install(place))
  const work = await report.timed('a process of every kind is opened', () => openWork(place, receiver))
  const load = startLoad(work.payer, [place.urls[0]])
  const fate = await untilDisaster(backed, work, load, report)

  report.tell('The disaster: everything is killed, and the data is deleted')
  const began = performance.now()
  await place.destroy()
  const payments = await load.stop()

  report.tell('The restore')
  await restoreDatabase(place, fate, report)
  await restoreRest(place, work, fate, report)
  const first = await report.timed('first payment', () => send(work.payer, place.urls[0], 'drill-first'))
  report.check('the first payment is made', first.id !== undefined, first.failure)
  report.note(
    'from the disaster to the first payment',
    `${((performance.now() - began) / 1_000).toFixed(1)} s`,
  )

  report.tell('The checks')
  await checkPayments(place, work.payer, { payments, instantMs: fate.instantMs }, report)
  await checkProcesses(work, report)
  await checkRest(place, work, fate, report)
  return work
}

async function install(place: Installation): Promise<void> {
  await Promise.all([place.startTemporal(), place.startPostgres().then(() => archiveWal(place))])
  await place.run('migrate')
  await place.run('namespace')
  await place.start(ONE_OF_EACH)
}

interface Fate {
  /** Everything until then must come back, and nothing that came later. */
  readonly instant: string
  readonly instantMs: number
  /** A payment that the database has at the instant, and that the bank got after it. */
  readonly unsent: string
  /** A payment of after the instant. */
  readonly lost: string
  readonly deletionId: string
}

const INSTANT = `
select at::text as instant, extract(epoch from at)::float8 * 1000 as "instantMs"
from (select clock_timestamp() as at) as clock`

async function untilDisaster(
  { place, program }: Backed,
  work: Work,
  load: Load,
  report: Report,
): Promise<Fate> {
  const { bank, erasure } = work
  await load.more(PAYMENTS)
  const way = await report.timed('base backup under load', () => takeBaseBackup(place, program))
  report.note(`size of the base backup, by ${way}`, `${Math.round(baseBackupBytes(place) / 2 ** 20)} MiB`)
  if (program) await verifyBaseBackup(place, program, report)
  await report.timed('copy of the files', () => copyFiles(place))
  await load.more(PAYMENTS)

  // No worker runs at the instant, so the database of that instant has not handed this payment over.
  await place.stop('worker-1')
  const unsent = await bank.pay()
  const [clock] = await place.sql<Pick<Fate, 'instant' | 'instantMs'>>(INSTANT)
  if (!clock) throw new Error('PostgreSQL does not tell the time.')

  await place.start(['worker-1'])
  const lost = await bank.pay()
  for (const reference of [unsent, lost]) await bank.untilPaid(reference)
  await bank.handInDebits([work.submitted])
  await load.more(PAYMENTS)
  const deletionId = await erase(erasure)
  await copyErasures(place)
  await report.timed('until the archive has the last commit', () => untilArchived(place))
  return { ...clock, unsent, lost, deletionId }
}

async function restoreDatabase(place: Installation, { instant }: Fate, report: Report): Promise<void> {
  await report.timed('restore of the base backup', () => restoreBase(place, instant))
  await report.timed('replay of the WAL', async () => {
    await place.startPostgres()
    await untilRecovered(place)
  })
}

async function restoreRest(place: Installation, work: Work, { unsent }: Fate, report: Report): Promise<void> {
  await report.timed('restore of the files', () => restoreFiles(place))
  report.check('the restored database knows the deleted person', await hasName(place, work.erasure))
  await report.timed('migrate, and deletions applied again', async () => {
    await place.run('migrate')
    const outcomes = await reapplyErasures(place)
    report.check('the deletion is applied again', outcomes.includes('again'), outcomes)
  })
  await report.timed('start with an empty Temporal', async () => {
    await place.startTemporal()
    await place.run('namespace')
    await place.start(['api-1'])
    const cancelled = await work.bank.cancelSent()
    report.check('the bank’s folder shows which payment would be sent twice', String(cancelled) === unsent)
    await place.start(['worker-1', 'relay-1'])
  })
}

async function checkProcesses({ open, stage, receiver }: Work, report: Report): Promise<void> {
  const runs = stage()
  const running = await report.timed('until each open process has a run again', () =>
    untilRunning(runs, open),
  )
  const missing = open.filter(({ workflowId }) => !running.has(workflowId))
  report.check(`${open.length} open processes of all kinds have a run`, missing.length === 0, missing)
  const wrong = await report.timed('until all of them have ended', () => finishProcesses(runs, open))
  report.check('they come to their ends', wrong.length === 0, wrong)
  report.check('webhooks are sent again', receiver.at('/up').length > 0)
}

async function checkRest(place: Installation, work: Work, fate: Fate, report: Report): Promise<void> {
  const { bank, submitted, erasure, clients } = work
  report.check('the uploaded file is there, and opens', await hasFile(place, work))
  await untilErased(erasure, fate.deletionId)
  report.check('the deleted data is deleted again', !(await hasName(place, erasure)))
  const outcomes = await bank.handInDebits([submitted, fate.unsent, fate.lost])
  const named = ['taken', 'unknown_payment', 'unknown_payment']
  report.check(
    'the bank’s files name what the database does not know',
    String(outcomes) === String(named),
    outcomes,
  )
  await bank.untilCompleted(submitted)
  await checkBank(bank, [fate.unsent, fate.lost], report)
  const twice = bank.orderedTwice()
  report.check('the bank is asked for no payment twice', twice.length === 0, twice)
  await checkBooks(place, clients, report)
}

/** Assigns the debits that the restored database does not know, and compares the wallet with the bank. */
async function checkBank(bank: Bank, unknown: readonly string[], report: Report): Promise<void> {
  const before = await bank.paidEuros()
  report.check('the wallet still has what the bank has paid', before.byBank > before.byWallet, before)
  await bank.assignDebits(unknown)
  for (const reference of unknown) await bank.untilCompleted(reference)
  const outcomes = await bank.handInDebits(unknown)
  report.check('their transfers are known again', String(outcomes) === 'taken,taken', outcomes)
  const after = await bank.paidEuros()
  report.check('the wallet and the bank agree', after.byBank === after.byWallet, after)
}

/** From the last released version if there is a checkout of it; otherwise a rolling restart. */
async function upgrade(place: Installation, work: Work, folder: string, report: Report): Promise<void> {
  const here = process.cwd()
  report.tell('The upgrade')
  const older = await olderCheckout(folder, report)
  if (older) await takeOver(folder, older, report)
  const [from, to] = [versionIn(older ?? here), versionIn(here)]
  if (older && !mustStopAll(from, to)) return rollFromOlder(older, folder, report)
  if (older) report.tell(`  From ${from} to ${to} all programs stop, as docs/how-to/upgrade.md says.`)
  await place.start(['api-2', 'worker-2'])
  await roll(place, work.payer, { from: here, to: here }, report)
}

async function olderCheckout(folder: string, report: Report): Promise<string | undefined> {
  if (OLDER === 'released') return releasedCheckout(folder, report)
  if (OLDER) return resolve(OLDER)
  report.tell('  No takeover: DRILL_OLDER is neither released nor a checkout of an older version.')
  return undefined
}

async function rollFromOlder(older: string, folder: string, report: Report): Promise<void> {
  const place = await openInstallation(join(folder, 'rolling'), await devServer())
  try {
    await Promise.all([place.startTemporal(), place.startPostgres()])
    for (const job of ['migrate', 'namespace'] as const) await place.run(job, { checkout: older })
    await place.start(SERVICES, older)
    const payer = await aPayer(await openAccount(place, 'Payer'))
    await roll(place, payer, { from: older, to: process.cwd() }, report)
    await checkBooks(place, [payer.client], report)
  } finally {
    await place.close()
  }
}
