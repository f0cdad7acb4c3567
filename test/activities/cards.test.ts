import { afterAll, afterEach, describe, expect, test } from '@jest/globals'
import { areas } from '../../src/areas.ts'
import { NoSuchRecord } from '../../src/kernel/run/steps.ts'
import { newId } from '../../src/values/ids.ts'
import { activitiesOf, pausedPastItsClaim } from '../support/activities.ts'
import { aCard, eventsOfCard, getCard, numbersOf } from '../support/cards/cards.ts'
import { recordingCardProcessor } from '../support/cards/processor.ts'
import { openEngine } from '../support/engine.ts'
import { anIntent, bodyOf } from '../support/factories.ts'
import { type FlakyProxy, flakyProxy } from '../support/flaky-proxy.ts'
import { startTestService } from '../support/harness.ts'
import { until } from '../support/until.ts'

const service = await startTestService({ own: true })

/** The run's worker, whose processor is at hand. */
const proxy: FlakyProxy = await flakyProxy(service.databaseUrl)
const worker = openEngine(areas, proxy.url)
afterAll(() => worker.close())

const { processor, calls, answers, sandbox, restore } = recordingCardProcessor()
Object.assign(worker.runtime.ports.systems, { cardProcessor: () => processor })
const caller = { requestIdOf: ({ id }: { readonly id: string }) => `workflow:card/${id}` }
const run = activitiesOf(worker.runtime)(caller)

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
  restore()
  await comeBack()
})

const issued = () => ({
  processorCardId: newId('issued'),
  brand: 'sandbox',
  last4: '4242',
  expMonth: 12,
  expYear: 2099,
})
const LATE = { failure: 'late' } as const

/** As if the time had come to ask the processor again. */
const callIsDue = (id: string) =>
  service.sql('update cards set call_due_at = created_at, due_at = created_at where id = $1', [id])

/** The processor has not answered the request that made the card. */
async function aPendingCard() {
  const owner = await service.owner()
  const { id } = await aCard(owner.client, { displayName: 'sandbox late' })
  await callIsDue(id)
  answers.issue = async () => issued()
  const ref = { id, ownerId: owner.ownerId, mode: 'test' } as const
  return { ref, client: owner.client, status: async () => (await getCard(owner.client, id)).status }
}

async function anActiveCard() {
  const owner = await service.owner()
  const { id } = await aCard(owner.client)
  return { ref: { id, ownerId: owner.ownerId, mode: 'test' } as const, client: owner.client }
}

const callsNow = () => calls.map(({ call, reference }) => `${call} ${reference}`)

describe('the deletion of an agent', () => {
  test('cancels no intent and ends no run before all its cards are closed', async () => {
    const { ref, client } = await anActiveCard()
    const { agentId } = await getCard(client, ref.id)
    const intent = await anIntent(client, agentId)
    const work = await bodyOf(client.runs.create({ body: { agentId, name: 'Research' } }))
    await bodyOf(client.agents.delete({ params: { id: agentId } }))
    const agent = { ...ref, id: agentId }
    await run.cancelIntents(agent)
    await run.endRuns(agent)
    const left = { card: ref.id, intent: intent.id, run: work.id }
    expect((await run.readAgent(agent)).left).toMatchObject(left)
    await run.closeCards(agent)
    await run.cancelIntents(agent)
    await run.endRuns(agent)
    expect((await run.readAgent(agent)).left).toMatchObject({ card: null, intent: null, run: null })
  })
})

describe('the return of a purse', () => {
  test('changes nothing the second time, also while the processor is still to be told', async () => {
    const { ref, client } = await anActiveCard()
    await bodyOf(client.cards.fund({ params: { id: ref.id }, body: { amountEuros: 5 } }))
    await bodyOf(client.cards.close({ params: { id: ref.id }, body: {} }))
    await callIsDue(ref.id)
    const changed: string[] = []
    const bound = activitiesOf(worker.runtime)({ ...caller, onChange: ({ key }) => void changed.push(key) })
    await bound.returnPurse(ref)
    await bound.returnPurse(ref)
    expect(changed).toEqual(['cards.returnPurse'])
  })
})

describe('the issuing of a card', () => {
  test('asks the processor once, also where it is repeated, or taken twice at the same time', async () => {
    const { ref } = await aPendingCard()
    const both = await Promise.all([run.issueCard(ref), run.issueCard(ref)])
    expect(both.map(({ status }) => status)).toContain('active')
    expect(await run.issueCard(ref)).toMatchObject({ status: 'active', next: 'tell' })
    expect(callsNow()).toEqual([`issue ${ref.id}`])
    expect(await numbersOf(service, ref.id)).toHaveLength(1)
    const events = ['card.created', 'card.issued', 'card.activated']
    expect(await eventsOfCard(service, ref.id)).toEqual(events)
  })

  test('waits longer each time where the processor does not answer, and repeats the reference', async () => {
    const { ref, status } = await aPendingCard()
    answers.issue = async () => LATE
    const pauses: number[] = []
    for (let attempt = 0; attempt < 3; attempt++) {
      const { next, dueInMs, deadline } = await run.issueCard(ref)
      expect([next, deadline]).toEqual(['issue', expect.stringMatching(/UTC$/)])
      pauses.push(Math.round(Number(dueInMs) / 10_000))
      await callIsDue(ref.id)
    }
    expect(pauses).toEqual([4, 8, 16])
    answers.issue = async () => issued()
    expect(await run.issueCard(ref)).toMatchObject({ status: 'active' })
    expect(callsNow()).toEqual(Array(4).fill(`issue ${ref.id}`))
    expect(await status()).toBe('active')
  })

  test('is recorded once the database is back, where it was away when the processor answered', async () => {
    const { ref, status } = await aPendingCard()
    answers.issue = async () => {
      await goAway()
      return issued()
    }
    const issuing = run.issueCard(ref)
    await until('the answer is kept', () => worker.runtime.unrecordedAnswers.count === 1)
    expect(await status()).toBe('pending')
    await comeBack()
    expect(await issuing).toMatchObject({ status: 'active' })
    expect(callsNow()).toEqual([`issue ${ref.id}`])
    expect(await status()).toBe('active')
  })

  test('asks nothing where the process was paused past its claim, and is asked for later', async () => {
    const { ref, status } = await aPendingCard()
    const row = { table: 'cards', id: ref.id }
    const refusal = await pausedPastItsClaim(worker.runtime, row, paused => paused.issueCard(ref))
    expect(refusal).toMatchObject({ code: 'outcome_unknown' })
    expect(calls).toEqual([])
    expect(await status()).toBe('pending')
    await callIsDue(ref.id)
    expect(await run.issueCard(ref)).toMatchObject({ status: 'active' })
  })
})

describe('what the processor is told', () => {
  test('is sent once for each change, and again under its reference where no answer came', async () => {
    const { ref, client } = await anActiveCard()
    expect(await run.tellProcessor(ref)).toMatchObject({ next: 'end' })
    await bodyOf(client.cards.freeze({ params: { id: ref.id }, body: {} }))
    answers.setState = async () => LATE
    expect(await run.tellProcessor(ref)).toMatchObject({ status: 'frozen', next: 'tell' })
    answers.setState = sandbox.setState
    await callIsDue(ref.id)
    expect(await run.tellProcessor(ref)).toMatchObject({ status: 'frozen', next: 'end' })
    await run.tellProcessor(ref)
    const [number] = await numbersOf(service, ref.id)
    const [first, second] = [`setState ${number?.id}-state-1`, `setState ${number?.id}-state-2`]
    expect(callsNow()).toEqual([first, second, second])
  })

  test('is recorded once the database is back', async () => {
    const { ref } = await anActiveCard()
    answers.setState = async (...call) => {
      await goAway()
      return sandbox.setState(...call)
    }
    const telling = run.tellProcessor(ref)
    await until('the answer is kept', () => worker.runtime.unrecordedAnswers.count === 1)
    await comeBack()
    expect(await telling).toMatchObject({ next: 'end' })
    expect(calls).toHaveLength(1)
  })
})

describe('another number', () => {
  test('is asked for once', async () => {
    const { ref, client } = await anActiveCard()
    await bodyOf(client.cards.rotate({ params: { id: ref.id }, body: {} }))
    answers.replace = async () => issued()
    const both = await Promise.all([run.replaceNumber(ref), run.replaceNumber(ref)])
    expect(both.map(({ next }) => next)).toContain('tell')
    expect(await run.replaceNumber(ref)).toMatchObject({ status: 'active', next: 'tell' })
    expect(calls.filter(({ call }) => call === 'replace')).toHaveLength(1)
    expect(await numbersOf(service, ref.id)).toHaveLength(2)
  })
})

describe('a step that is not due', () => {
  test('changes nothing, and calls nothing', async () => {
    const { ref } = await anActiveCard()
    await run.tellProcessor(ref)
    restore()
    const before = await service.sql('select * from cards where id = $1', [ref.id])
    const { issueCard, replaceNumber, tellProcessor, endCard, returnPurse } = run
    for (const step of [issueCard, replaceNumber, tellProcessor, endCard, returnPurse])
      expect(await step(ref)).toMatchObject({ status: 'active', next: 'end', closed: false })
    expect(await service.sql('select * from cards where id = $1', [ref.id])).toEqual(before)
    expect(calls).toEqual([])
  })

  test('fails for an unknown card', async () => {
    const unknown = { id: newId('card'), ownerId: newId('customer'), mode: 'test' } as const
    for (const step of [run.readCard, run.issueCard, run.endCard, run.returnPurse])
      await expect(step(unknown)).rejects.toThrow(NoSuchRecord)
    expect(calls).toEqual([])
  })
})
