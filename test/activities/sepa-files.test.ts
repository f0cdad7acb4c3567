import { afterAll, afterEach, describe, expect, test } from '@jest/globals'
import { areas } from '../../src/areas.ts'
import { NoSuchRecord } from '../../src/kernel/run/steps.ts'
import { newId } from '../../src/values/ids.ts'
import { activitiesOf, pausedPastItsClaim } from '../support/activities.ts'
import { openEngine } from '../support/engine.ts'
import { flakyProxy } from '../support/flaky-proxy.ts'
import { bankFiles } from '../support/money/bank-files.ts'
import { until } from '../support/until.ts'

const bank = await bankFiles()
const { service, aSubmitted, closeFiles, filesOf } = bank
const proxy = await flakyProxy(service.databaseUrl)
const engine = openEngine(areas, proxy.url)
afterAll(() => engine.close())

const rail = bank.worker.ports.systems.sepaRail('live')
const calls: string[] = []
let meanwhile = async (): Promise<void> => undefined
const recorded = {
  async stage(name: string, message: string) {
    calls.push(`stage ${name}`)
    await rail.files?.stage(name, message)
    await meanwhile()
  },
  async release(name: string) {
    calls.push(`release ${name}`)
    await rail.files?.release(name)
    await meanwhile()
  },
}
Object.assign(engine.runtime.ports.systems, { sepaRail: () => ({ ...rail, files: recorded }) })
const caller = { requestIdOf: ({ id }: { readonly id: string }) => `workflow:sepa-file/${id}` }
const run = activitiesOf(engine.runtime)(caller)

let isAway = false

async function goAway(): Promise<void> {
  isAway = true
  await proxy.close()
}

async function comeBack(): Promise<void> {
  if (isAway) await proxy.open()
  isAway = false
}

afterEach(async () => {
  await comeBack()
  calls.splice(0)
  meanwhile = async () => undefined
})

/** A file with one payment, at its cut-off. */
async function aFile() {
  const { endToEndId } = await aSubmitted()
  await closeFiles()
  const [file] = await service.sql<{ id: string; ownerId: string; name: string }>(
    `select f.id, f.owner_id as "ownerId", f.scheme || '-' || f.execute_on || '-' || f.message_id || '.xml' as name
     from sepa_files f join sepa_instructions i on i.file_id = f.id where i.end_to_end_id = $1`,
    [endToEndId],
  )
  const { id = '', ownerId = '', name = '' } = file ?? {}
  return { ref: { id, ownerId, mode: 'live' } as const, name, endToEndId }
}

const statusOf = async ({ id }: { readonly id: string }) =>
  (await service.sql<{ status: string }>('select status from sepa_files where id = $1', [id]))[0]?.status

/** The attempt that claimed the file is over. */
const claimEnds = ({ id }: { readonly id: string }) =>
  service.sql('update sepa_files set due_at = now() where id = $1 and due_at > now()', [id])

const eventsOf = async ({ id }: { readonly id: string }) =>
  (
    await service.sql<{ event: string }>('select event from events where resource_id = $1 order by id', [id])
  ).map(({ event }) => event)

describe('the hand-over of a file', () => {
  test('happens once, also where each step is repeated, or taken twice at the same time', async () => {
    const { ref, name, endToEndId } = await aFile()
    const { makeSepaFile, stageSepaFile, handOverSepaFile } = run
    for (const step of [makeSepaFile, stageSepaFile, handOverSepaFile]) {
      await Promise.all([step(ref), step(ref)])
      await step(ref)
    }
    expect(await run.readSepaFile(ref)).toMatchObject({ status: 'handed_over', report: 'awaited' })
    expect(calls).toEqual([`stage ${name}`, `release ${name}`])
    expect(await filesOf(endToEndId)).toEqual([name])
    const events = ['sepa.file_made', 'sepa.file_staged', 'sepa.file_handed_over']
    expect(await eventsOf(ref)).toEqual(events)
  })

  test('is recorded once the database is back, where it was away at that instant', async () => {
    const { ref, name, endToEndId } = await aFile()
    await run.makeSepaFile(ref)
    await run.stageSepaFile(ref)
    meanwhile = goAway
    const handingOver = run.handOverSepaFile(ref)
    await until('the answer is kept', () => engine.runtime.unrecordedAnswers.count === 1)
    expect([await statusOf(ref), await filesOf(endToEndId)]).toEqual(['staged', [name]])
    meanwhile = async () => undefined
    await comeBack()
    expect(await handingOver).toMatchObject({ status: 'handed_over' })
    expect(calls).toEqual([`stage ${name}`, `release ${name}`])
  })

  test('does not happen where the process was paused past its claim, and happens later', async () => {
    const { ref, name, endToEndId } = await aFile()
    await run.makeSepaFile(ref)
    await run.stageSepaFile(ref)
    calls.splice(0)
    const row = { table: 'sepa_files', id: ref.id }
    const refusal = await pausedPastItsClaim(engine.runtime, row, paused => paused.handOverSepaFile(ref))
    expect(refusal).toMatchObject({ code: 'outcome_unknown' })
    expect([calls, await statusOf(ref), await filesOf(endToEndId)]).toEqual([[], 'staged', []])
    const { dueInMs } = await run.handOverSepaFile(ref)
    expect(Number(dueInMs)).toBeGreaterThan(60_000)
    await claimEnds(ref)
    expect(await run.handOverSepaFile(ref)).toMatchObject({ status: 'handed_over' })
    expect(calls).toEqual([`release ${name}`])
  })
})

describe('a step that is not due', () => {
  test('changes nothing, and calls nothing', async () => {
    const { ref } = await aFile()
    const { makeSepaFile, stageSepaFile, handOverSepaFile, sayReportIsLate, takeReport } = run
    for (const step of [makeSepaFile, stageSepaFile, handOverSepaFile]) await step(ref)
    calls.splice(0)
    const before = await service.sql('select * from sepa_files where id = $1', [ref.id])
    for (const step of [makeSepaFile, stageSepaFile, handOverSepaFile, sayReportIsLate, takeReport])
      expect(await step(ref)).toMatchObject({ status: 'handed_over', report: 'awaited', closed: false })
    expect(await service.sql('select * from sepa_files where id = $1', [ref.id])).toEqual(before)
    expect(calls).toEqual([])
  })

  test('fails for an unknown file', async () => {
    const unknown = { id: newId('sepafile'), ownerId: newId('customer'), mode: 'live' } as const
    for (const step of [run.readSepaFile, run.makeSepaFile, run.stageSepaFile, run.takeReport])
      await expect(step(unknown)).rejects.toThrow(NoSuchRecord)
    expect(calls).toEqual([])
  })
})
