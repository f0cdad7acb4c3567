import { describe, expect, test } from '@jest/globals'
import { times } from '../../support/at-once.ts'
import { bodyOf } from '../../support/factories.ts'
import { ADA, GRACE, submitted } from '../../support/identity/company.ts'
import { aSubmission } from '../../support/identity/kyc.ts'
import { namesTold, service } from './onboarding-service.ts'

const { dash } = service

/** A company of two people, each of whom has submitted a passport. */
async function shown() {
  const owner = await service.owner()
  const { client } = owner
  const people = [ADA, GRACE].map(person => ({ ...person, position: 'Director' }))
  const { id, representatives } = await submitted(client, { representatives: people })
  const submissions: string[] = []
  for (const { id: representativeId, name, dateOfBirth } of representatives)
    submissions.push((await aSubmission(client, name, { representativeId, dateOfBirth })).id)
  const verify = submissions.map(one => () => dash.kyc.approve({ params: { id: one } }))
  return { ...owner, params: { id }, people, verify }
}

describe('identities that are verified', () => {
  test('all at one instant are all noted, and the approval that comes with them knows all or names who is missing', async () => {
    const { client, params, verify } = await shown()
    const [approved] = await Promise.all([dash.onboarding.approve({ params }), ...verify.map(send => send())])
    const { representatives, status } = await bodyOf(client.onboarding.get({ params }))
    expect(representatives.map(person => person.status)).toEqual(['verified', 'verified'])
    if (approved.status === 200) expect(status).toBe('approved')
    else expect(approved).toMatchObject({ code: 'identities_missing' })
    if (approved.status !== 200) await bodyOf(dash.onboarding.approve({ params }))
    expect((await bodyOf(client.customers.me())).kycStatus).toBe('verified')
  })

  test('while the company withdraws change nothing about the onboarding', async () => {
    const outcomes = await times(4, async () => {
      const { client, params, verify } = await shown()
      const answers = await Promise.all([
        client.onboarding.withdraw({ params }),
        ...verify.map(send => send()),
      ])
      const { status, missing } = await bodyOf(client.onboarding.get({ params }))
      return [answers[0].status, status, missing, answers.some(answer => answer.status >= 500)]
    })
    expect(outcomes).toEqual(Array(4).fill([200, 'withdrawn', [], false]))
  })

  test('of a removed representative do not complete the onboarding', async () => {
    const { client, params, people, verify } = await shown()
    await bodyOf(
      dash.onboarding.requestInformation({ params, body: { questions: ['Is Grace still there?'] } }),
    )
    const alan = { name: 'Alan Turing', dateOfBirth: '1980-06-23', country: 'NL', position: null }
    const representatives = [people[0] ?? alan, alan]
    const [answered, ...rest] = await Promise.all([
      client.onboarding.update({ params, body: { representatives } }),
      ...verify.map(send => send()),
    ])
    expect([answered.status, rest.some(answer => answer.status >= 500)]).toEqual([200, false])
    const { missing } = await bodyOf(client.onboarding.get({ params }))
    expect(missing).toEqual(['the identity of Alan Turing'])
    const refused = await dash.onboarding.approve({ params })
    expect(refused).toMatchObject({
      code: 'identities_missing',
      error: 'Not every representative is verified. Missing: the identity of Alan Turing.',
    })
    expect(await namesTold(client)).not.toContain('approved')
  })

  test('bring the onboarding into review, by what is due and without the operator', async () => {
    const { client, params } = await shown()
    await bodyOf(client.sandbox.advance({ body: { days: 1 } }))
    await bodyOf(client.sandbox.advance({ body: { minutes: 1 } }))
    expect(await bodyOf(client.onboarding.get({ params }))).toMatchObject({
      status: 'in_review',
      missing: [],
    })
  })
})
