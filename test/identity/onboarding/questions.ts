import { describe, expect, test } from '@jest/globals'
import { times } from '../../support/at-once.ts'
import { bodyOf } from '../../support/factories.ts'
import { ADA, COMPANY, GRACE, setIdentities, submitted } from '../../support/identity/company.ts'
import { inReview, namesTold, service, tellingOf } from './onboarding-service.ts'

const { dash } = service
const QUESTIONS = { questions: ['Who owns the rest?', 'Which papers?'] }

/** A company in review with an open question of the operator. */
async function asked(members: Parameters<typeof inReview>[0] = {}) {
  const company = await inReview(members)
  const record = await bodyOf(dash.onboarding.requestInformation({ params: company.params, body: QUESTIONS }))
  return { ...company, record }
}

describe('questions of the operator', () => {
  test('wait thirty days for their answer, and are shown among what is missing', async () => {
    const { client, params, record } = await asked()
    expect(record).toMatchObject({
      status: 'needs_information',
      missing: ['an answer to: Who owns the rest?', 'an answer to: Which papers?'],
      informationRequests: [{ ...QUESTIONS, answeredAt: null, answer: null }],
    })
    const [round] = record.informationRequests
    expect(Date.parse(String(round?.expiresAt)) - Date.parse(String(round?.requestedAt))).toBe(
      30 * 86_400_000,
    )
    expect(await tellingOf(client)).toContainEqual([
      'onboarding.information_requested',
      expect.objectContaining({
        onboardingId: params.id,
        status: 'needs_information',
        expiresAt: round?.expiresAt,
      }),
    ])
  })

  test('can be asked before the review, one round at a time', async () => {
    const { client } = await service.owner()
    const { id } = await submitted(client)
    const params = { id }
    const answers = await times(4, () => dash.onboarding.requestInformation({ params, body: QUESTIONS }))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400])
    expect(answers.find(({ status }) => status === 400)?.code).toBe('answer_awaited')
  })

  test('end after twenty times: then it is to be decided', async () => {
    const { client, params } = await inReview()
    for (let n = 0; n < 20; n++) {
      await bodyOf(dash.onboarding.requestInformation({ params, body: QUESTIONS }))
      await bodyOf(client.onboarding.update({ params, body: { answer: `Answer ${n}` } }))
    }
    const more = await dash.onboarding.requestInformation({ params, body: QUESTIONS })
    expect(more).toMatchObject({ status: 400, code: 'too_many_questions' })
    const { informationRequests } = await bodyOf(client.onboarding.get({ params }))
    expect(informationRequests.map(({ answer }) => answer)).toEqual(
      Array.from({ length: 20 }, (_, n) => `Answer ${n}`),
    )
  })

  test.each([
    ['none', { questions: [] }],
    ['eleven', { questions: Array(11).fill('Why?') }],
    ['an empty one', { questions: [' '] }],
  ])('are refused where there are %s', async (_, body) => {
    const { params } = await inReview()
    const answer = await dash.onboarding.requestInformation({ params, body })
    expect(answer).toMatchObject({ status: 400, error: expect.stringContaining('questions') })
  })
})

describe('the answer of a company', () => {
  test('changes what it names, and brings it back into review', async () => {
    const { client, params } = await asked()
    const body = {
      answer: 'Nobody with more than a tenth.',
      registerNumber: 'HRB 9',
      legalName: COMPANY.legalName,
    }
    const answer = await bodyOf(client.onboarding.update({ params, body }))
    expect(answer).toMatchObject({
      status: 'in_review',
      registerNumber: 'HRB 9',
      missing: [],
      informationRequests: [{ ...QUESTIONS, answer: body.answer, answeredAt: expect.any(String) }],
    })
    expect(await bodyOf(client.onboarding.get({ params }))).toEqual(answer)
    const updated = (await tellingOf(client)).find(([event]) => event === 'onboarding.updated')
    expect(updated?.[1]).toMatchObject({ status: 'in_review', changed: ['registerNumber', 'answer'] })
  })

  test('keeps representatives that are listed again, verified or not, and removes the others', async () => {
    const { client, params } = await asked({
      representatives: [
        { ...ADA, position: 'Managing director' },
        { ...GRACE, position: 'Director' },
      ],
    })
    const before = await bodyOf(client.onboarding.get({ params }))
    const alan = { name: 'Alan Turing', dateOfBirth: '1980-06-23', country: 'NL', position: null }
    const representatives = [alan, { ...ADA, name: 'ada LOVELACE', position: 'Chair' }]
    const after = await bodyOf(client.onboarding.update({ params, body: { representatives } }))
    expect(after.representatives).toEqual([
      { ...alan, id: expect.not.stringMatching(before.representatives[0]?.id ?? ''), status: 'none' },
      { ...before.representatives[0], position: 'Chair' },
    ])
    expect(after.missing).toEqual(['the identity of Alan Turing'])
    const [told] = (await tellingOf(client)).filter(([event]) => event === 'onboarding.updated')
    expect(told?.[1]).toMatchObject({
      changed: ['representatives'],
      representativeIds: after.representatives.map(({ id }) => id),
    })
    const [gone] = await service.sql('select removed_at from onboarding_representatives where id = $1', [
      before.representatives[1]?.id,
    ])
    expect(gone?.removed_at).toBeInstanceOf(Date)
  })

  test('replaces the owners as a whole', async () => {
    const { client, params } = await asked()
    const beneficialOwners = [{ ...GRACE, sharePercent: 100 }]
    const { beneficialOwners: shown } = await bodyOf(
      client.onboarding.update({ params, body: { beneficialOwners } }),
    )
    expect(shown).toEqual([{ id: expect.any(String), ...beneficialOwners[0] }])
    expect((await bodyOf(client.onboarding.get({ params }))).beneficialOwners).toEqual(shown)
  })

  test('is refused without an open question, and without content', async () => {
    const { client, params } = await inReview()
    const unasked = await client.onboarding.update({ params, body: { answer: 'Hello' } })
    expect(unasked).toMatchObject({ status: 400, code: 'nothing_asked' })
    await bodyOf(dash.onboarding.requestInformation({ params, body: QUESTIONS }))
    const empty = await client.onboarding.update({ params, body: {} })
    expect(empty).toMatchObject({ status: 400, error: expect.stringContaining('answer:') })
    const minor = { representatives: [{ ...ADA, position: null, dateOfBirth: '2020-01-01' }] }
    const young = await client.onboarding.update({ params, body: minor })
    expect(young).toMatchObject({ status: 400, code: 'birth_unlikely' })
    expect(await bodyOf(client.onboarding.get({ params }))).toMatchObject({ status: 'needs_information' })
  })

  test('counts once, however often it is sent at once', async () => {
    const { client, params } = await asked()
    const answers = await times(4, n => client.onboarding.update({ params, body: { answer: `Answer ${n}` } }))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400])
    expect((await namesTold(client)).filter(name => name === 'updated')).toHaveLength(1)
  })
})

describe('a question that nobody answers', () => {
  test('ends the onboarding after thirty days of the owner’s clock, and not a minute sooner', async () => {
    const { client, params } = await asked()
    await bodyOf(client.sandbox.advance({ body: { minutes: 30 * 24 * 60 - 1 } }))
    expect(await bodyOf(client.onboarding.get({ params }))).toMatchObject({ status: 'needs_information' })
    await bodyOf(client.sandbox.advance({ body: { minutes: 1 } }))
    expect(await bodyOf(client.onboarding.get({ params }))).toMatchObject({
      status: 'expired',
      missing: [],
      endedAt: expect.any(String),
    })
    expect((await namesTold(client)).at(-1)).toBe('expired')
    const late = await client.onboarding.update({ params, body: { answer: 'Too late' } })
    expect(late).toMatchObject({
      status: 400,
      code: 'onboarding_ended',
      error: 'The onboarding is already expired.',
    })
    expect((await client.onboarding.create({ body: COMPANY })).status).toBe(201)
  })

  test('does not end one that was answered in time, however much time goes by', async () => {
    const { client, params } = await asked()
    await bodyOf(client.onboarding.update({ params, body: { answer: 'Here' } }))
    await bodyOf(client.sandbox.advance({ body: { days: 60 } }))
    expect(await bodyOf(client.onboarding.get({ params }))).toMatchObject({ status: 'in_review' })
  })

  test('and an answer that comes at that instant: one of both, and no more', async () => {
    const { client, params } = await asked()
    await bodyOf(client.sandbox.advance({ body: { minutes: 30 * 24 * 60 - 1 } }))
    const [, answer] = await Promise.all([
      client.sandbox.advance({ body: { minutes: 2 } }),
      client.onboarding.update({ params, body: { answer: 'Just in time' } }),
    ])
    const { status } = await bodyOf(client.onboarding.get({ params }))
    expect([answer.status, status]).toEqual(answer.status === 200 ? [200, 'in_review'] : [400, 'expired'])
  })

  test('before the people have sent anything is followed by a review once it is answered', async () => {
    const { client } = await service.owner()
    const { id } = await submitted(client)
    const params = { id }
    await bodyOf(dash.onboarding.requestInformation({ params, body: QUESTIONS }))
    await setIdentities(service, params, 'pending')
    const answer = await bodyOf(client.onboarding.update({ params, body: { answer: 'Here' } }))
    expect(answer).toMatchObject({
      status: 'in_review',
      missing: ['the identity of Ada Lovelace, which is about to be checked'],
    })
  })
})
