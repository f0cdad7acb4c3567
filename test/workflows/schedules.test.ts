import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, describe, expect, test } from '@jest/globals'
import { filesOnDisk } from '../../src/adapters/files-on-disk/files-on-disk.ts'
import { ensureSchedules, removeEarlierRuns } from '../../src/app/schedules.ts'
import { startTemporalWorker } from '../../src/app/worker-service.ts'
import { openVault } from '../../src/ports/vault.ts'
import { addCalendarDays, bankDateOf } from '../../src/values/bank-calendar.ts'
import { firstIdAt } from '../../src/values/ids.ts'
import { refusal, startStripeDouble } from '../support/cards/stripe-double.ts'
import { aWebhook } from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'
import { referenceRatesFile } from '../support/money/reference-rates.ts'
import { fundingByStripe, stripePayers } from '../support/money/stripe-payers.ts'
import { ENCRYPTION_KEY } from '../support/services/settings.ts'
import { lyingIn, makeOld } from '../support/stored-files.ts'
import { temporalOfRun } from '../support/temporal/access.ts'
import { runViewer } from '../support/temporal/runs.ts'
import { scheduleOf } from '../support/temporal/schedules.ts'
import { until } from '../support/until.ts'
import { openWorkerRuntime } from '../support/worker-runtime.ts'

const today = bankDateOf(new Date())
/** Publishes the rates of this day; without one it fails. */
const bank = { day: today as string | undefined, asked: 0 }
const server = createServer((_, response) => {
  bank.asked++
  if (bank.day) response.end(referenceRatesFile(bank.day, { USD: '1.16' }))
  else response.writeHead(503).end()
})
await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
afterAll(() => new Promise(resolve => server.close(resolve)))

const stripe = await startStripeDouble()
const temporal = temporalOfRun()
const { taskQueue } = temporal
const env = {
  ...fundingByStripe(stripe.url),
  EXCHANGE_RATES_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/eurofxref-daily.xml`,
  OUTBOUND_ALLOW_CIDRS: '127.0.0.1/32',
}
const service = await startTestService({ temporal, env })
const { client, of } = await runViewer()
const at = (name: string) => scheduleOf(client, taskQueue, name)
const [rates, returns, oldDeliveries, unusedFiles] = [
  at('exchange-rates'),
  at('returns'),
  at('old-deliveries'),
  at('unused-files'),
]

/** A second worker on the same database and task queue. */
const second = startTemporalWorker(
  await openWorkerRuntime(service, { ...env, FILES_DIR: service.filesDir }),
  temporal,
)

afterEach(() => stripe.heal())
afterAll(() => second.stop())

const storedRates = async (): Promise<string[]> =>
  (await service.sql<{ day: string }>('select date::text as day from exchange_rates')).map(({ day }) => day)

const setDayOfRates = (day: string) => service.sql('update exchange_rates set date = $1', [day])

const ends = (run: { readonly workflowId: string }) => of(run).untilEnded()

describe('a schedule', () => {
  test.each([
    ['exchange-rates', 'Exchange rates of the day', { hour: [{ start: 14, end: 21, step: 1 }] }],
    ['returns', 'What was returned at Stripe', 3_600_000],
    ['old-deliveries', 'Deliveries of webhooks after 30 days', 3_600_000],
    ['unused-files', 'Files that no record uses', 1_800_000],
    [
      'statements',
      'Statements of the month that is over, of all wallets',
      { dayOfMonth: [{ start: 1, end: 1, step: 1 }] },
    ],
  ])('is seen with what it does and when: %s', async (name, summary, when) => {
    const { spec, action, policies, state } = await at(name).described()
    expect(action).toMatchObject({ workflowType: name, taskQueue, staticSummary: summary })
    expect(action.staticDetails).toBeTruthy()
    expect(action.priority).toMatchObject({ priorityKey: 4 })
    expect(policies.overlap).toBe('SKIP')
    expect(state.paused).toBe(false)
    if (typeof when === 'number') expect(spec.intervals?.map(({ every }) => every)).toEqual([when])
    else expect(spec.calendars).toEqual([expect.objectContaining(when)])
  })

  test('of the rates begins with the installation, once with two workers', async () => {
    const first = await until('it has begun', () => rates.lastRun())
    await ends(first)
    expect(await storedRates()).toEqual([today])
    await ensureSchedules(client, taskQueue)
    expect((await rates.described()).info.numActionsTaken).toBe(1)
    expect(bank.asked).toBe(1)
  })

  test('started by hand acts once, whichever worker it is', async () => {
    await setDayOfRates(addCalendarDays(today, -2))
    const before = bank.asked
    const run = await rates.trigger()
    await ends(run)
    expect(bank.asked - before).toBe(1)
    expect((await storedRates()).toSorted()).toEqual([addCalendarDays(today, -2), today])
    expect(await of(run).activityNames()).toEqual(['fetchRates', 'removeEarlierRuns'])
    await ends(await rates.trigger())
    expect(bank.asked - before).toBe(1)
  })

  test('whose work fails tries again until it has succeeded, and begins no second run meanwhile', async () => {
    await service.sql('delete from exchange_rates')
    bank.day = undefined
    const run = await rates.trigger()
    await of(run).untilPending(/^fetchRates failed: Error/)
    const { numActionsSkippedOverlap: skipped } = (await rates.described()).info
    await rates.handle.trigger('SKIP')
    await until('the second is skipped', async () => {
      const { info } = await rates.described()
      return info.numActionsSkippedOverlap > skipped
    })
    bank.day = today
    await ends(run)
    expect(await storedRates()).toEqual([today])
    expect(await rates.lastRun()).toEqual(run)
  })

  test('whose run was terminated begins another one', async () => {
    await service.sql('delete from exchange_rates')
    bank.day = undefined
    const run = await rates.trigger()
    await of(run).untilPending(/fetchRates failed/)
    await of(run).handle.terminate()
    bank.day = today
    await ends(await rates.trigger())
    expect(await storedRates()).toEqual([today])
  })

  test('that is paused stays paused with a new version, gets its new times, and starts by hand', async () => {
    const { handle, described, trigger } = unusedFiles
    const usual = (await described()).spec.intervals
    await handle.pause('The disk is being replaced.')
    await handle.update(before => ({ ...before, spec: { intervals: [{ every: '5 hours' }] } }))
    await ensureSchedules(client, taskQueue)
    const { spec, state } = await described()
    expect(spec.intervals).toEqual(usual)
    expect(state).toMatchObject({ paused: true, note: 'The disk is being replaced.' })
    await ends(await trigger())
    await handle.unpause()
  })

  test('keeps a day of its completed runs, and those that were ended otherwise', async () => {
    const completed = [await rates.trigger(), await rates.trigger()]
    await Promise.all(completed.map(ends))
    const listed = async () => {
      const runs: string[] = []
      const query = `TemporalScheduledById = '${taskQueue}-exchange-rates'`
      for await (const { workflowId, status } of client.workflow.list({ query }))
        runs.push(`${status.name} ${workflowId}`)
      return runs
    }
    const shown = completed.map(({ workflowId }) => `COMPLETED ${workflowId}`)
    await until('they are listed', async () => {
      const all = await listed()
      return shown.every(one => all.includes(one))
    })
    await removeEarlierRuns(client, 'exchange-rates', taskQueue)
    expect(await listed()).toEqual(expect.arrayContaining(shown))
    await removeEarlierRuns(client, 'exchange-rates', taskQueue, 0)
    await until('they are gone', async () => !(await listed()).some(one => one.startsWith('COMPLETED')))
    expect(await listed()).toEqual([expect.stringMatching(/^TERMINATED /)])
  })
})

test('the schedule of returns books what no event has told, and one list that fails holds up no other', async () => {
  const { aPayer, intentOf } = stripePayers(service, stripe)
  const { funded, fundingOf, available } = await aPayer()
  const { id } = await funded()
  stripe.fundings.takeBack(intentOf(id).id, 2_500)
  stripe.break(/^GET disputes$/, refusal(500, { message: 'Not now.' }))
  const run = await returns.trigger()
  await of(run).untilPending(/^findReturnedFundings failed: Error/)
  expect((await fundingOf(id)).status).toBe('settled')
  stripe.heal()
  await ends(run)
  expect([(await fundingOf(id)).status, await available()]).toEqual(['reversed', 0])
  expect((await of(run).activityNames()).toSorted()).toEqual([
    'findReturnedFundings',
    'findReturnedPayments',
    'removeEarlierRuns',
  ])
})

test('a round that fails ends before the next one, which would not begin beside it', async () => {
  const run = await returns.trigger()
  await ends(run)
  const { events } = await of(run).handle.fetchHistory()
  const limits = (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: scheduled }) =>
    scheduled ? Number(scheduled.scheduleToCloseTimeout?.seconds) : [],
  )
  expect(limits).toHaveLength(3)
  for (const seconds of limits) expect(seconds).toBeLessThan(3_600)
})

test('the schedule of old deliveries removes them after 30 days', async () => {
  const { client: owner, ownerId } = await service.owner()
  const webhook = await aWebhook(owner, { url: 'https://example.com/', events: ['agent.created'] })
  const aged = (days: number) => firstIdAt('delivery', new Date(Date.now() - days * 86_400_000))
  const [old, young] = [aged(31), aged(29)]
  await service.sql(
    `insert into deliveries (id, owner_id, mode, created_at, updated_at, webhook_id, event_id, event, status, due_at,
       claims, tries, attempts)
     select id, $1, 'test', now(), now(), $2, 'event_' || substr(id, 10), 'agent.created', 'dead', null, 0, 0, '[]'
     from unnest($3::text[]) as d(id)`,
    [ownerId, webhook.id, [old, young]],
  )
  await ends(await oldDeliveries.trigger())
  const left = await service.sql<{ id: string }>('select id from deliveries where owner_id = $1', [ownerId])
  expect(left.map(({ id }) => id)).toEqual([young])
})

test('the schedule of unused files erases what has no row after an hour', async () => {
  const files = filesOnDisk(service.filesDir, openVault(ENCRYPTION_KEY))
  const owner = { ownerId: (await service.owner()).ownerId, mode: 'test' }
  const [old, young] = await Promise.all(
    ['left by a crash', 'just uploaded'].map(text => files.put(owner, Buffer.from(text))),
  )
  makeOld(lyingIn(service.filesDir, String(old?.sha256)))
  await ends(await unusedFiles.trigger())
  expect(await files.keptAt(owner, String(old?.sha256))).toBeUndefined()
  expect(await files.keptAt(owner, String(young?.sha256))).toBeDefined()
})
