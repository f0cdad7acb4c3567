import { describe, expect, test } from '@jest/globals'
import { newId } from '../../../src/values/ids.ts'
import { forget } from '../../support/compliance/forgotten.ts'
import { sealTrail } from '../../support/compliance/trail.ts'
import { startReceiver } from '../../support/delivery/receiver.ts'
import { aBeneficiary, anIntent, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { anOwnerWithAssistant } from '../../support/http/proposing.ts'
import { until } from '../../support/until.ts'
import { advance, ask, MARK, read, textsOf } from './asking.ts'
import { service } from './service.ts'
import { unzipped } from './unzip.ts'

const model = await startReceiver()
const talking = await startTestService({
  env: {
    CANVAS_MODEL_URL: `${model.url}/v1`,
    CANVAS_MODEL: 'test-model',
    OUTBOUND_ALLOW_CIDRS: '127.0.0.1',
  },
})

const CONVERSATION = newId('conversation')
const QUESTION = `What did ${MARK} spend?`

/** Tables with texts of people and agents about a person, and their actions. */
const WORDS = ['outcomes', 'proposals', 'conversations', 'conversation_turns', 'idempotency_keys']

/** A payee named by an intent, its outcome, a proposal and a question in a sentence. */
async function aPayeeSpokenOf() {
  const owner = await anOwnerWithAssistant(service)
  const { client, key, agent } = owner
  const { id } = await aBeneficiary(client, { name: MARK, email: 'mark@example.com' })
  const intent = await anIntent(client, agent.id, { beneficiaryId: id })
  expect(intent.status).toBe('created')
  await owner.propose('beneficiaries.update', { id, name: `${MARK} & Sons` })
  const asked = { message: 'What is waiting?' }
  const { text } = await service.http('POST', '/canvas/messages', { token: key, body: asked })
  expect(text).toContain(id)
  const outcome = { intentId: intent.id, success: false, note: `${MARK} was late` }
  await bodyOf(client.outcomes.create({ body: outcome }))
  await bodyOf(client.intents.cancel({ params: { id: intent.id }, body: {} }))
  await client.beneficiaries.delete({ params: { id } })
  await sealTrail(service)
  return { owner, subject: { type: 'beneficiary', id } as const }
}

describe('what was asked, proposed and reported', () => {
  test('about an unpaid payee is deleted with the payee', async () => {
    const { owner, subject } = await aPayeeSpokenOf()
    for (const table of ['outcomes', 'proposals', 'conversation_turns'])
      expect([table, await textsOf(owner, table)]).toEqual([table, expect.stringContaining(MARK)])
    const { id } = await bodyOf(ask(owner, subject))
    await advance(owner, { days: 8 })
    // The proposal has ended meanwhile, and its event names it.
    await sealTrail(service)
    await advance(owner, { days: 1 })
    const { status, kept } = await read(owner, id)
    expect([status, kept.filter(({ ground }) => ground === 'payments')]).toEqual(['completed', []])
    expect(await textsOf(owner, ...WORDS, 'decisions', 'intents')).not.toContain(MARK)
  })

  test('by a person is in their export, and forgotten with them', async () => {
    const owner = await service.owner()
    const { client, key, ownerId } = owner
    const { id } = await bodyOf(client.people.create({ body: { name: 'Ada', role: 'viewer' } }))
    await service.sql(
      `insert into conversations (owner_id, mode, id, created_at, updated_at, caller_id, title)
       values ($1, 'test', $2, now(), now(), $3, $4)`,
      [ownerId, CONVERSATION, id, QUESTION],
    )
    await service.sql(
      `insert into conversation_turns (owner_id, mode, id, created_at, updated_at, conversation_id, message, lines)
       values ($1, 'test', $2, now(), now(), $3, $4, $5)`,
      [ownerId, newId('turn'), CONVERSATION, QUESTION, JSON.stringify([{ type: 'text', text: MARK }])],
    )
    const subject = { type: 'person', id } as const
    const { id: exportId } = await bodyOf(client.gdpr.createExport({ body: { subject } }))
    await advance(owner, { seconds: 1 })
    const archive = await fetch(`${service.url}/gdpr/exports/${exportId}/archive`, {
      headers: { authorization: `Bearer ${key}` },
    })
    const files = unzipped(Buffer.from(await archive.arrayBuffer()))
    for (const table of ['conversations', 'conversation_turns'])
      expect([table, [...files].find(([name]) => name.endsWith(`/${table}.json`))?.[1].toString()]).toEqual([
        table,
        expect.stringContaining(MARK),
      ])
    await client.people.remove({ params: { id } })
    const made = await bodyOf(ask(owner, subject))
    await sealTrail(service)
    await advance(owner, { days: 8 })
    expect((await read(owner, made.id)).status).toBe('completed')
    expect(await textsOf(owner, 'conversations', 'conversation_turns')).not.toContain(MARK)
  })
})

describe('an answer that takes longer than the account is there', () => {
  test('ends with the account, and nothing of it is kept', async () => {
    const owner = await talking.owner()
    const answers: ((text: string) => void)[] = []
    model.treat('/v1/chat/completions', response => {
      answers.push(content => response.end(JSON.stringify({ choices: [{ message: { content } }] })))
    })
    const body = { message: `Tell me a story about ${MARK}` }
    const told = talking.http('POST', '/canvas/messages', { token: owner.key, body })
    await until('the model is asked', () => answers.length === 1)
    await forget(talking, owner)
    answers[0]?.(`There was ${MARK}.`)
    expect((await told).text).not.toContain('There was')
    const turns = await talking.sql('select message, lines from conversation_turns where owner_id = $1', [
      owner.ownerId,
    ])
    expect(turns).toEqual([{ message: '[forgotten]', lines: null }])
  })
})
