import { describe, expect, test } from '@jest/globals'
import { bodyOf } from '../../support/factories.ts'
import { ADA, COMPANY, GRACE, setIdentities, submitted } from '../../support/identity/company.ts'
import { inReview, namesTold, service } from './onboarding-service.ts'

const { dash } = service
const REASON = { reason: 'The register knows no company of this number.' }

describe('a review', () => {
  test.each([
    ['pending', 'in_review'],
    ['in_review', 'in_review'],
    ['verified', 'in_review'],
    ['rejected', 'submitted'],
    ['none', 'submitted'],
  ])('once identities are %s: the onboarding is %s', async (identity, status) => {
    const { client } = await service.owner()
    const { id } = await submitted(client)
    await setIdentities(service, { id }, identity)
    await bodyOf(client.sandbox.advance({ body: { minutes: 1 } }))
    expect(await bodyOf(client.onboarding.get({ params: { id } }))).toMatchObject({ status })
    expect(await namesTold(client)).toEqual(
      status === 'in_review' ? ['submitted', 'in_review'] : ['submitted'],
    )
  })

  test('says of each person what is missing, in words', async () => {
    const { client } = await service.owner()
    const { id } = await submitted(client)
    const wordsOf = async (status: string) => {
      await setIdentities(service, { id }, status)
      return (await bodyOf(client.onboarding.get({ params: { id } }))).missing
    }
    expect(await wordsOf('pending')).toEqual(['the identity of Ada Lovelace, which is about to be checked'])
    expect(await wordsOf('in_review')).toEqual(['the identity of Ada Lovelace, which is being checked'])
    expect(await wordsOf('rejected')).toEqual([
      'the identity of Ada Lovelace: what was sent has been rejected, send it again',
    ])
    expect(await wordsOf('verified')).toEqual([])
  })
})

describe('an approval', () => {
  test('ends the onboarding, and nothing changes it any more', async () => {
    const { client, params } = await inReview()
    expect(await bodyOf(dash.onboarding.approve({ params }))).toMatchObject({
      status: 'approved',
      missing: [],
      decidedBy: 'operator',
      endedAt: expect.any(String),
    })
    expect(await namesTold(client)).toEqual(['submitted', 'in_review', 'approved'])
    for (const answer of [
      await dash.onboarding.approve({ params }),
      await dash.onboarding.reject({ params, body: REASON }),
      await dash.onboarding.requestInformation({ params, body: { questions: ['Why?'] } }),
      await client.onboarding.withdraw({ params }),
      await client.onboarding.update({ params, body: { answer: 'Thanks' } }),
    ])
      expect(answer).toMatchObject({
        status: 400,
        code: 'onboarding_ended',
        error: 'The onboarding is already approved.',
      })
  })

  test('names who is not verified, and changes nothing', async () => {
    const { client } = await service.owner()
    const representatives = [
      { ...ADA, position: 'Managing director' },
      { ...GRACE, position: 'Director' },
    ]
    const { id } = await submitted(client, { representatives })
    await service.sql(
      `update onboarding_representatives set status = 'verified' where onboarding_id = $1 and name like 'Ada%'`,
      [id],
    )
    const answer = await dash.onboarding.approve({ params: { id } })
    expect(answer).toMatchObject({ status: 400, code: 'identities_missing' })
    expect(answer.error).toContain('Grace Hopper')
    expect(answer.error).not.toContain('Ada')
    expect(await bodyOf(client.onboarding.get({ params: { id } }))).toMatchObject({ status: 'submitted' })
    expect(await namesTold(client)).toEqual(['submitted'])
  })

  test('does not wait for the process if every representative is verified', async () => {
    const { client } = await service.owner()
    const { id } = await submitted(client)
    await setIdentities(service, { id }, 'verified')
    expect((await bodyOf(dash.onboarding.approve({ params: { id } }))).status).toBe('approved')
    expect(await namesTold(client)).toEqual(['submitted', 'in_review', 'approved'])
  })

  test('names what it is for: a company that has changed meanwhile is read again', async () => {
    const { client, params } = await inReview()
    const seen = await bodyOf(client.onboarding.get({ params }))
    await bodyOf(dash.onboarding.requestInformation({ params, body: { questions: ['Which office?'] } }))
    await bodyOf(client.onboarding.update({ params, body: { answer: 'This one.', legalName: 'Other GmbH' } }))
    const body = { updatedAt: seen.updatedAt }
    expect(await dash.onboarding.approve({ params, body })).toMatchObject({
      status: 409,
      code: 'onboarding_changed',
    })
    await setIdentities(service, { id: params.id }, 'verified')
    const { updatedAt } = await bodyOf(client.onboarding.get({ params }))
    expect(await bodyOf(dash.onboarding.approve({ params, body: { updatedAt } }))).toMatchObject({
      status: 'approved',
      legalName: 'Other GmbH',
    })
  })

  test('waits for the answer to a question', async () => {
    const { params } = await inReview()
    await bodyOf(dash.onboarding.requestInformation({ params, body: { questions: ['Why?'] } }))
    expect(await dash.onboarding.approve({ params })).toMatchObject({ status: 400, code: 'answer_awaited' })
  })

  test('and a withdrawal at once: exactly one of both', async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, async (_, n) => {
        const { client, params } = await inReview()
        const both = [() => dash.onboarding.approve({ params }), () => client.onboarding.withdraw({ params })]
        const answers = await Promise.all((n % 2 ? both : both.toReversed()).map(send => send()))
        const { status } = await bodyOf(client.onboarding.get({ params }))
        const told = (await namesTold(client)).filter(name => name === 'approved' || name === 'withdrawn')
        expect(told).toEqual([status])
        return answers.map(answer => answer.status).sort()
      }),
    )
    expect(outcomes).toEqual(Array(8).fill([200, 400]))
  })
})

describe('a rejection', () => {
  test('states the reason, and allows another submission', async () => {
    const { client, params } = await inReview()
    expect(await bodyOf(dash.onboarding.reject({ params, body: REASON }))).toMatchObject({
      status: 'rejected',
    })
    expect(await bodyOf(client.onboarding.get({ params }))).toMatchObject({
      status: 'rejected',
      missing: [],
      decidedBy: 'operator',
      ...REASON,
    })
    expect((await namesTold(client)).at(-1)).toBe('rejected')
    expect((await client.onboarding.create({ body: COMPANY })).status).toBe(201)
  })

  test('is possible before the review, and while an answer is awaited', async () => {
    const { client } = await service.owner()
    const { id } = await submitted(client)
    expect((await dash.onboarding.reject({ params: { id }, body: REASON })).status).toBe(200)
    const { params } = await inReview()
    await bodyOf(dash.onboarding.requestInformation({ params, body: { questions: ['Why?'] } }))
    expect((await dash.onboarding.reject({ params, body: REASON })).status).toBe(200)
  })

  test('without a reason is a 400', async () => {
    const { params } = await inReview()
    const answer = await dash.onboarding.reject({ params, body: { reason: ' ' } })
    expect(answer).toMatchObject({ status: 400, error: expect.stringContaining('reason') })
  })
})

describe('a withdrawal', () => {
  test('is possible while the onboarding is open', async () => {
    const { client } = await service.owner()
    const { id } = await submitted(client)
    expect(await bodyOf(client.onboarding.withdraw({ params: { id } }))).toMatchObject({
      status: 'withdrawn',
      decidedBy: null,
    })
    expect(await namesTold(client)).toEqual(['submitted', 'withdrawn'])
    expect(await client.onboarding.withdraw({ params: { id } })).toMatchObject({
      status: 400,
      code: 'onboarding_ended',
    })
  })
})
