import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client, Connection } from '@temporalio/client'
import pg from 'pg'
import { areas } from '../../../src/areas.ts'
import type { RunningInstance } from '../../../src/dev/instance-file.ts'
import { removePostgres } from '../../../src/dev/postgres/embedded-postgres.ts'
import { workflowIdOf } from '../../../src/kernel/contract/process.ts'
import { clientAt } from '../../support/client.ts'
import { openReceiver, type Receiver } from '../../support/delivery/receiver-server.ts'
import { bodyOf } from '../../support/factories.ts'
import { lastingPort } from '../../support/processes/lasting-port.ts'
import { UNLIMITED } from '../../support/services/settings.ts'
import { until } from '../../support/until.ts'
import { checkBooks, checkPaidOnce, untilSealed } from './checks.ts'
import { type Installation, openAccount, SERVICES } from './installation.ts'
import { aPayer, type Payer, startLoad } from './load.ts'
import { finishProcesses, openProcesses, signerOf, stageAt, untilRunning } from './open-processes.ts'
import { type Program, startProgram } from './program.ts'
import { answeredOtherwise, askUnderKeys } from './repeated-keys.ts'
import type { Report } from './report.ts'

export const versionIn = (checkout: string): string =>
  JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8')).version

/** docs/how-to/upgrade.md has a section for each step at which all programs must be stopped. */
export const mustStopAll = (from: string, to: string): boolean =>
  readFileSync('docs/how-to/upgrade.md', 'utf8').includes(`\n## From ${from} to ${to}, once\n`)

/** `npm start` of a checkout on a data folder, as an operator of one machine runs it. */
async function startOn(dataDir: string, checkout: string, port: string): Promise<Program> {
  const env = { ...UNLIMITED, DATA_DIR: dataDir, PORT: port, OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8' }
  const log = `${dataDir}.${versionIn(checkout)}.log`
  const program = startProgram({ name: 'start', checkout, env }, log)
  await program.untilSays(/The service is ready/)
  return program
}

const instanceIn = (dataDir: string): Promise<RunningInstance> =>
  until('Temporal', () => {
    const instance: RunningInstance = JSON.parse(readFileSync(join(dataDir, 'instance.json'), 'utf8'))
    return instance.temporalAddress ? instance : undefined
  })

/** Stops the older version with a process of every kind open, and starts this one on its data folder. */
export async function takeOver(folder: string, older: string, report: Report): Promise<void> {
  const dataDir = join(folder, 'taken-over')
  mkdirSync(dataDir)
  const port = String(await lastingPort())
  const running = {
    program: await report.timed(`start of ${versionIn(older)}`, () => startOn(dataDir, older, port)),
  }
  const { url, dashboardSecret, databaseUrl, temporalAddress } = await instanceIn(dataDir)
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 2 })
  pool.on('error', () => undefined)
  const connection = await Connection.connect({ address: String(temporalAddress) })
  const receiver = await openReceiver()
  const place: Place = {
    url,
    temporal: new Client({ connection }),
    dash: clientAt({ url, dashboardSecret }),
    client: token => clientAt({ url, ...(token ? { token } : {}) }),
    sql: async (text, values = []) => (await pool.query(text, [...values])).rows,
  }
  try {
    const restart = async () => {
      running.program.kill('SIGTERM')
      await running.program.exit
      running.program = await startOn(dataDir, process.cwd(), port)
      await instanceIn(dataDir)
    }
    await checkTakeover(place, receiver, restart, report)
  } finally {
    running.program.kill('SIGTERM')
    await Promise.all([running.program.exit, connection.close(), pool.end()])
    receiver.close()
    await removePostgres(dataDir)
  }
}

interface Place extends Pick<Installation, 'temporal' | 'dash' | 'client' | 'sql'> {
  readonly url: string
}

async function checkTakeover(
  place: Place,
  receiver: Receiver,
  restart: () => Promise<void>,
  report: Report,
): Promise<void> {
  const account = await openAccount(place, 'Company of the older version')
  const payer = await aPayer(await openAccount(place, 'Payer of the older version'))
  const clients = [account.client, payer.client]
  const { client } = account
  const stage = stageAt(place.temporal, { ...place, client, signer: signerOf(place, account) }, receiver)
  const load = startLoad(payer, [place.url])
  const { open, refused } = await openProcesses(stage)
  report.check('the older version opens a process of every kind', refused.length === 0, refused)
  await load.more(20)
  const payments = await load.stop()
  const asked = await askUnderKeys(client, place.url)
  await untilSealed(clients)
  const before = await untilRunning(stage, open)

  await report.timed('takeover of a data folder: stop, migrate, start', restart)
  const { version } = await bodyOf(place.client().health.health())
  report.check(`it is served by ${version}`, version === versionIn('.'))
  const others = await answeredOtherwise(asked)
  report.check(`${asked.length} idempotency keys get the same answers`, others.length === 0, others)
  const goesOn = async ({ workflowId }: { readonly workflowId: string }) => {
    const runId = await stage.runIdOf(workflowId)
    return runId === undefined || runId === before.get(workflowId)
  }
  const untilBegunAnew = () =>
    until('runs of this version', async () => {
      const old = await Promise.all(open.map(goesOn))
      return old.every(isOld => !isOld)
    })
  await report.timed('a new run for each open record', untilBegunAnew)
  const runless = await openRecordsWithoutRun(place)
  report.check('each open record of the database has a run', runless.length === 0, runless)
  const wrong = await finishProcesses(stage, open)
  report.check('they come to their ends', wrong.length === 0, wrong)
  await checkPaidOnce(place, payer, payments, report)
  await checkBooks(place, clients, report)
}

/** The workflow ids of open records whose run is not running. */
async function openRecordsWithoutRun({ sql, temporal }: Place): Promise<string[]> {
  const runless: string[] = []
  for (const { process, select } of Object.values(areas).flatMap(({ openRecords }) => openRecords))
    for (const { id } of await sql<{ id: string }>(`select id from (${select}) as open order by id`)) {
      const workflowId = workflowIdOf(process, id)
      const run = await temporal.workflow
        .getHandle(workflowId)
        .describe()
        .catch(() => undefined)
      if (run?.status.name !== 'RUNNING') runless.push(workflowId)
    }
  return runless
}

/** As docs/how-to/upgrade.md says: one process after the other, the relay last. */
export async function roll(
  place: Installation,
  payer: Payer,
  checkouts: { readonly from: string; readonly to: string },
  report: Report,
): Promise<void> {
  const { from, to } = checkouts
  const load = startLoad(payer, place.urls)
  await load.more(20)
  const versions = `${versionIn(from)} to ${versionIn(to)}`
  await report.timed(`rolling from ${versions}, under load`, async () => {
    await place.run('migrate', { checkout: to })
    await place.run('namespace', { checkout: to })
    for (const name of SERVICES) {
      await place.stop(name)
      await place.start([name], to)
      await load.more(20)
    }
  })
  const payments = await load.stop()
  const retried = payments.filter(({ wasRetried }) => wasRetried).length
  report.note('payments meanwhile', `${payments.length}, ${retried} of them by a second attempt`)
  const failed = payments.filter(({ id }) => id === undefined)
  report.check('every payment succeeded, at the second attempt at the latest', failed.length === 0, failed)
  await checkPaidOnce(place, payer, payments, report)
}
