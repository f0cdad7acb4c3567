import './onboarding/company-runs.ts'
import './onboarding/documented.ts'
import './onboarding/identities-at-once.ts'
import './onboarding/lists.ts'
import './onboarding/questions.ts'
import './onboarding/refused-companies.ts'
import './onboarding/reviews.ts'
import { describe, expect, test } from '@jest/globals'
import { times } from '../support/at-once.ts'
import { bodyOf } from '../support/factories.ts'
import { ADA, COMPANY, GRACE, submitted } from '../support/identity/company.ts'
import { traceOf } from '../support/trace.ts'
import { service, tellingOf } from './onboarding/onboarding-service.ts'

describe('a company that is submitted', () => {
  test('is shown with its people, what is missing in words, and its run', async () => {
    const { client, ownerId } = await service.owner()
    const answer = await client.onboarding.create({ body: COMPANY })
    expect(answer.status).toBe(201)
    const { id, representatives } = answer.body
    expect(answer.body).toEqual({
      id: expect.stringMatching(/^onboarding_[0-9a-z]{26}$/),
      ownerId,
      mode: 'test',
      ...COMPANY,
      status: 'submitted',
      missing: ['the identity of Ada Lovelace'],
      representatives: [
        { id: expect.stringMatching(/^representative_/), ...COMPANY.representatives[0], status: 'none' },
      ],
      beneficialOwners: [{ id: expect.stringMatching(/^beneficialowner_/), ...COMPANY.beneficialOwners[0] }],
      informationRequests: [],
      reason: null,
      decidedBy: null,
      endedAt: null,
      workflowId: `onboarding/${id}`,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    })
    expect((await client.onboarding.get({ params: { id } })).body).toEqual(answer.body)
    expect((await service.dash.onboarding.get({ params: { id } })).body).toEqual(answer.body)
    expect(await tellingOf(client)).toEqual([
      [
        'onboarding.submitted',
        {
          onboardingId: id,
          customerId: ownerId,
          status: 'submitted',
          representativeIds: [representatives[0]?.id],
        },
      ],
    ])
    expect(await traceOf(service, answer)).toMatchObject({
      events: expect.arrayContaining(['onboarding.submitted']),
      actions: ['onboarding.create'],
    })
  })

  test('emits events without the names of the company and its people', async () => {
    const { client } = await service.owner()
    const { id } = await submitted(client)
    await bodyOf(
      service.dash.onboarding.reject({ params: { id }, body: { reason: 'Ada Lovelace is not known' } }),
    )
    const [rows] = await service.sql(
      `select string_agg(data::text, ' ') as told from events where data->>'onboardingId' = $1`,
      [id],
    )
    expect(rows?.told).toContain('rejected')
    for (const secret of ['Lovelace', 'Analytical', 'HRB', '1985-', 'Torstraße'])
      expect(rows?.told).not.toContain(secret)
  })

  test('is one at a time, however many come at once; after its end there can be another one', async () => {
    const { client } = await service.owner()
    const answers = await times(6, () => client.onboarding.create({ body: COMPANY }))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400, 400, 400])
    const { id } = answers.find(({ status }) => status === 201)?.body ?? { id: '' }
    const refused = answers.find(({ status }) => status === 400)
    expect(refused).toMatchObject({ code: 'onboarding_under_way', error: expect.stringContaining(id) })
    await bodyOf(client.onboarding.withdraw({ params: { id } }))
    expect((await client.onboarding.create({ body: COMPANY })).status).toBe(201)
  })

  test('may lack a website and owners of more than a quarter, and keeps its people in order', async () => {
    const { client } = await service.owner()
    const { website: _, beneficialOwners: __, ...rest } = COMPANY
    const body = { ...rest, representatives: [GRACE, ADA] }
    const made = await bodyOf(client.onboarding.create({ body }))
    expect(made).toMatchObject({ website: null, beneficialOwners: [] })
    expect(made.representatives.map(({ name, position }) => [name, position])).toEqual([
      ['Grace Hopper', null],
      ['Ada Lovelace', null],
    ])
    expect(made.missing).toEqual(['the identity of Grace Hopper', 'the identity of Ada Lovelace'])
  })

  test('is visible only to its owner and mode', async () => {
    const { client } = await service.owner()
    const { id } = await submitted(client)
    const other = await service.owner()
    for (const answer of [
      await other.client.onboarding.get({ params: { id } }),
      await other.client.onboarding.update({ params: { id }, body: { answer: 'Mine' } }),
      await other.client.onboarding.withdraw({ params: { id } }),
    ])
      expect(answer).toMatchObject({ status: 404, code: 'onboarding_not_found' })
  })
})
