import './beneficiaries/beneficiary-changes.ts'
import { describe, expect, test } from '@jest/globals'
import { aBeneficiary, aLiveClient, anAgent, aToken, bodyOf } from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'
import {
  beneficiaryIds,
  DUTCH,
  deleteBeneficiary,
  GERMAN,
  readBeneficiary,
  updateBeneficiary,
  verifyBeneficiary,
} from '../support/money/beneficiaries.ts'
import { traceOf, transactionCount } from '../support/trace.ts'

const service = await startTestService()

describe('a new beneficiary', () => {
  test('has a plain IBAN, its name in SEPA characters, and the country of the IBAN', async () => {
    const { client, ownerId } = await service.owner()
    const { status, body } = await client.beneficiaries.create({
      body: { name: ' Bäckerei Müller ', iban: 'de89 3704 0044 0532 0130 00', bic: 'cobadeffxxx' },
    })
    expect(status).toBe(201)
    expect(body).toEqual({
      id: expect.stringMatching(/^beneficiary_[0-9a-z]{26}$/),
      ownerId,
      mode: 'test',
      name: 'Bäckerei Müller',
      sepaName: 'Baeckerei Mueller',
      iban: GERMAN,
      bic: 'COBADEFFXXX',
      country: 'DE',
      email: null,
      verification: null,
      duplicateOf: null,
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updatedAt: body.createdAt,
    })
    expect(await readBeneficiary(client, body.id)).toEqual(body)
  })

  test('keeps a given country and email', async () => {
    const { client } = await service.owner()
    const body = { country: 'US', email: 'ada@example.com' }
    expect(await aBeneficiary(client, body)).toMatchObject({ ...body, bic: null })
  })

  test('records its event, without the IBAN, in the same transaction', async () => {
    const { client } = await service.owner()
    const answer = await client.beneficiaries.create({ body: { name: 'Ada', iban: GERMAN } })
    expect(await traceOf(service, answer)).toEqual({
      events: ['beneficiary.created'],
      actions: ['beneficiaries.create'],
      entries: 1,
    })
    expect(await transactionCount(service, answer, 'beneficiaries', answer.body.id)).toBe(1)
    const [event] = (await bodyOf(client.events.list({ query: { limit: 1 } }))).data
    expect(event?.data).toEqual({
      beneficiaryId: answer.body.id,
      name: 'Ada',
      country: 'DE',
      verification: null,
      duplicateOf: null,
    })
  })

  test('can have a name of 140 characters, cut to 70 for SEPA', async () => {
    const { client } = await service.owner()
    const { name, sepaName } = await aBeneficiary(client, { name: 'ü'.repeat(140) })
    expect([name, sepaName]).toEqual(['ü'.repeat(140), 'ue'.repeat(35)])
  })

  test.each([
    ['no name', { name: undefined }, /^name: /],
    ['an empty name', { name: '  ' }, /^name: /],
    ['a name that is too long', { name: 'n'.repeat(141) }, /^name: /],
    [
      'a name that SEPA cannot spell',
      { name: '王小明' },
      /^name: None of its characters can be written in a SEPA message\./,
    ],
    ['a name of signs', { name: '!?' }, /^name: None of its characters/],
    ['no IBAN', { iban: undefined }, /^iban: /],
    [
      'a short IBAN',
      { iban: GERMAN.slice(0, -1) },
      /^iban: An IBAN of DE has 22 characters, this has 21 \(it is "DE89/,
    ],
    [
      'an IBAN that does not add up',
      { iban: 'DE88370400440532013000' },
      /^iban: The check digits do not fit/,
    ],
    [
      'an IBAN from elsewhere',
      { iban: 'TR330006100519786457841326' },
      /^iban: TR lies outside the SEPA area \(it is "TR33/,
    ],
    [
      'an IBAN of no country',
      { iban: 'ZZ330006100519786457841326' },
      /^iban: There is no country ZZ \(it is "ZZ33/,
    ],
    ['half a BIC', { bic: 'COBADE' }, /^bic: A BIC has 8 or 11 characters, this has 6 \(it is "COBADE"\)$/],
    ['a BIC from elsewhere', { bic: 'BNPAFRPP' }, /^bic: The bank is in FR, the account in DE\.$/],
    ['a country that is none', { country: 'Germany' }, /^country: /],
    ['an email that is none', { email: 'ada' }, /^email: /],
    ['a verification', { verification: { result: 'match' } }, /^verification: unknown field/],
    ['an owner', { ownerId: 'customer_1' }, /^ownerId: unknown field/],
  ])('is refused with %s', async (_, wrong, message) => {
    const { client, key } = await service.owner()
    const body = { name: 'Ada', iban: GERMAN, ...wrong }
    const answer = await service.http('POST', '/beneficiaries', { token: key, body })
    expect([answer.status, answer.body.error]).toEqual([400, expect.stringMatching(message)])
    expect(await beneficiaryIds(client)).toEqual([])
  })

  test('is also found under /vendors', async () => {
    const { client, key } = await service.owner()
    const body = { name: 'Ada', iban: GERMAN }
    const { status, body: vendor } = await service.http('POST', '/vendors', { token: key, body })
    expect([status, await readBeneficiary(client, vendor.id)]).toEqual([201, vendor])
  })
})

describe('a deleted beneficiary', () => {
  test('is not found by anybody, and its row stays', async () => {
    const { client } = await service.owner()
    const { id } = await aBeneficiary(client)
    const answer = await deleteBeneficiary(client, id)
    expect([answer.status, answer.body]).toEqual([204, undefined])
    expect((await traceOf(service, answer))?.events).toEqual(['beneficiary.deleted'])
    expect(await beneficiaryIds(client)).toEqual([])
    const params = { id }
    for (const gone of [
      await client.beneficiaries.get({ params }),
      await updateBeneficiary(client, id, { email: null }),
      await deleteBeneficiary(client, id),
      await verifyBeneficiary(client, id),
    ])
      expect(gone).toMatchObject({ status: 404, code: 'beneficiary_not_found' })
    expect(
      await service.sql('select deleted_at is not null as gone from beneficiaries where id = $1', [id]),
    ).toEqual([{ gone: true }])
  })

  test('makes its IBAN available again', async () => {
    const { client } = await service.owner()
    const first = await aBeneficiary(client)
    await deleteBeneficiary(client, first.id)
    expect((await aBeneficiary(client)).duplicateOf).toBe(null)
  })
})

describe('a list of beneficiaries', () => {
  test('is newest first and can be filtered', async () => {
    const { client } = await service.owner()
    const german = await aBeneficiary(client)
    const dutch = await aBeneficiary(client, { iban: DUTCH, name: 'Close Adler' })
    const again = await aBeneficiary(client)
    await bodyOf(verifyBeneficiary(client, german.id))
    await bodyOf(verifyBeneficiary(client, dutch.id))
    expect(await beneficiaryIds(client)).toEqual([again.id, dutch.id, german.id])
    expect(await beneficiaryIds(client, { iban: 'nl91 ABNA 0417 1643 00' })).toEqual([dutch.id])
    expect(await beneficiaryIds(client, { iban: 'nothing' })).toEqual([])
    expect(await beneficiaryIds(client, { country: 'DE' })).toEqual([again.id, german.id])
    expect(await beneficiaryIds(client, { verification: 'match' })).toEqual([german.id])
    expect(await beneficiaryIds(client, { verification: 'close_match' })).toEqual([dutch.id])
    expect(await beneficiaryIds(client, { verification: 'none' })).toEqual([again.id])
    expect(await beneficiaryIds(client, { verification: 'none', country: 'NL' })).toEqual([])
  })

  test('continues after its page with the same filters', async () => {
    const { client } = await service.owner()
    const all = []
    for (let count = 0; count < 3; count++) all.unshift((await aBeneficiary(client)).id)
    const query = { limit: 2, iban: 'de89 3704 0044 0532 0130 00' }
    const first = await bodyOf(client.beneficiaries.list({ query }))
    const rest = await bodyOf(
      client.beneficiaries.list({ query: { ...query, cursor: String(first.nextCursor) } }),
    )
    expect([...first.data, ...rest.data].map(({ id }) => id)).toEqual(all)
  })
})

describe('other callers', () => {
  test('do not find an owner’s beneficiary, and live mode not the one of test mode', async () => {
    const owner = await service.owner()
    const { id } = await aBeneficiary(owner.client)
    for (const client of [(await service.owner()).client, await aLiveClient(service, owner)]) {
      for (const answer of [
        await client.beneficiaries.get({ params: { id } }),
        await updateBeneficiary(client, id, { email: null }),
        await deleteBeneficiary(client, id),
        await verifyBeneficiary(client, id),
      ])
        expect(answer).toMatchObject({ status: 404, code: 'beneficiary_not_found' })
      expect(await beneficiaryIds(client)).toEqual([])
    }
    expect((await readBeneficiary(owner.client, id)).verification).toBe(null)
  })

  test('with an agent’s token see no beneficiary', async () => {
    const { client } = await service.owner()
    const agent = await anAgent(client)
    const { token } = await aToken(client, agent.id)
    expect(await service.client(String(token)).beneficiaries.list()).toMatchObject({
      status: 403,
      code: 'wrong_caller',
    })
    const request = {
      params: { id: agent.id },
      body: { label: 'x', scopes: ['beneficiaries:read' as const] },
    }
    expect((await client.agentTokens.create(request)).status).toBe(400)
  })
})
