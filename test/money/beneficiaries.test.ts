import { describe, expect, test } from '@jest/globals'
import { aBeneficiary, aLiveClient, anAgent, aToken, made, type TestClient } from '../support/factories.ts'
import { startHouse } from '../support/harness.ts'
import { traceOf, transactionsOf } from '../support/trace.ts'

const house = await startHouse()

const GERMAN = 'DE89370400440532013000'
const DUTCH = 'NL91ABNA0417164300'
const FRENCH = 'FR1420041010050500013M02606'

const idsOf = async (client: TestClient, query = {}): Promise<string[]> =>
  (await made(client.beneficiaries.list({ query }))).data.map(({ id }) => id)

const read = (client: TestClient, id: string) => made(client.beneficiaries.get({ params: { id } }))
const change = (client: TestClient, id: string, body: object) =>
  client.beneficiaries.update({ params: { id }, body })
const remove = (client: TestClient, id: string) => client.beneficiaries.delete({ params: { id } })
const verify = (client: TestClient, id: string) => client.beneficiaries.verify({ params: { id } })

describe('a new beneficiary', () => {
  test('has its IBAN in plain, its name for SEPA, and the country of the IBAN', async () => {
    const { client, ownerId } = await house.owner()
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
    expect(await read(client, body.id)).toEqual(body)
  })

  test('keeps the country and the email that it is given', async () => {
    const { client } = await house.owner()
    const body = { country: 'US', email: 'ada@example.com' }
    expect(await aBeneficiary(client, body)).toMatchObject({ ...body, bic: null })
  })

  test('leaves its event, without the account number, and audit entry in the same transaction', async () => {
    const { client } = await house.owner()
    const answer = await client.beneficiaries.create({ body: { name: 'Ada', iban: GERMAN } })
    expect(await traceOf(house, answer)).toEqual({
      events: ['beneficiary.created'],
      actions: ['beneficiaries.create'],
      entries: 1,
    })
    expect(await transactionsOf(house, answer, 'beneficiaries', answer.body.id)).toBe(1)
    const [event] = (await made(client.events.list({ query: { limit: 1 } }))).data
    expect(event?.data).toEqual({
      beneficiaryId: answer.body.id,
      name: 'Ada',
      country: 'DE',
      verification: null,
      duplicateOf: null,
    })
  })

  test('has a name of 140 characters, cut at 70 for SEPA', async () => {
    const { client } = await house.owner()
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
      /^name: Nothing of it can be spelled in a SEPA message\./,
    ],
    ['a name of signs', { name: '!?' }, /^name: Nothing of it/],
    ['no IBAN', { iban: undefined }, /^iban: /],
    ['a short IBAN', { iban: GERMAN.slice(0, -1) }, /^iban: An IBAN of DE has 22 characters, this has 21\.$/],
    [
      'an IBAN that does not add up',
      { iban: 'DE88370400440532013000' },
      /^iban: The check digits do not fit/,
    ],
    [
      'an IBAN from elsewhere',
      { iban: 'TR330006100519786457841326' },
      /^iban: TR lies outside the SEPA area\.$/,
    ],
    ['an IBAN of no country', { iban: 'ZZ330006100519786457841326' }, /^iban: There is no country ZZ\.$/],
    ['half a BIC', { bic: 'COBADE' }, /^bic: A BIC has 8 or 11 characters, this has 6\.$/],
    ['a BIC from elsewhere', { bic: 'BNPAFRPP' }, /^bic: The bank is in FR, the account in DE\.$/],
    ['a country that is none', { country: 'Germany' }, /^country: /],
    ['an email that is none', { email: 'ada' }, /^email: /],
    ['a verification', { verification: { result: 'match' } }, /^verification: there is no such member/],
    ['an owner', { ownerId: 'customer_1' }, /^ownerId: there is no such member/],
  ])('is refused with %s', async (_, wrong, said) => {
    const { client, key } = await house.owner()
    const body = { name: 'Ada', iban: GERMAN, ...wrong }
    const answer = await house.http('POST', '/beneficiaries', { token: key, body })
    expect([answer.status, answer.body.error]).toEqual([400, expect.stringMatching(said)])
    expect(await idsOf(client)).toEqual([])
  })

  test('is a vendor too', async () => {
    const { client, key } = await house.owner()
    const body = { name: 'Ada', iban: GERMAN }
    const { status, body: vendor } = await house.http('POST', '/vendors', { token: key, body })
    expect([status, await read(client, vendor.id)]).toEqual([201, vendor])
  })
})

describe('a second beneficiary with the same IBAN', () => {
  test('is flagged, not refused; another owner’s and one of live mode are strangers to it', async () => {
    const owner = await house.owner()
    const { client } = owner
    const first = await aBeneficiary(client)
    const second = await aBeneficiary(client, { name: 'Müller' })
    const third = await aBeneficiary(client, { iban: GERMAN.toLowerCase() })
    const elsewhere = await aBeneficiary(client, { iban: DUTCH })
    const stranger = await aBeneficiary((await house.owner()).client)
    const live = await aBeneficiary(await aLiveClient(house, owner))
    const flags = [first, second, third, elsewhere, stranger, live].map(({ duplicateOf }) => duplicateOf)
    expect(flags).toEqual([null, first.id, first.id, null, null, null])
  })

  test('is flagged though ten come at once', async () => {
    const { client } = await house.owner()
    const all = await Promise.all(Array.from({ length: 10 }, () => aBeneficiary(client)))
    const originals = all.filter(({ duplicateOf }) => duplicateOf === null)
    expect(originals).toHaveLength(1)
    const flags = new Set(all.filter(one => one !== originals[0]).map(({ duplicateOf }) => duplicateOf))
    expect([...flags]).toEqual([originals[0]?.id])
  })

  test.each([
    ['is deleted', (client: TestClient, id: string) => remove(client, id)],
    ['gets another IBAN', (client: TestClient, id: string) => change(client, id, { iban: DUTCH })],
  ])('takes the place of the first one when that %s, and says so', async (_, leave) => {
    const { client } = await house.owner()
    const first = await aBeneficiary(client)
    const [second, third] = [await aBeneficiary(client), await aBeneficiary(client)]
    const answer = await leave(client, first.id)
    expect(answer.status).toBeLessThan(300)
    expect((await read(client, second.id)).duplicateOf).toBe(null)
    expect((await read(client, third.id)).duplicateOf).toBe(second.id)
    const events: string[] = (await traceOf(house, answer))?.events
    expect(events.filter(event => event === 'beneficiary.updated').length).toBeGreaterThanOrEqual(2)
  })

  test('is one by a change of the IBAN, and no longer by another', async () => {
    const { client } = await house.owner()
    const [german, dutch] = [await aBeneficiary(client), await aBeneficiary(client, { iban: DUTCH })]
    expect((await made(change(client, german.id, { iban: DUTCH }))).duplicateOf).toBe(dutch.id)
    expect((await made(change(client, german.id, { iban: FRENCH }))).duplicateOf).toBe(null)
  })

  test('is told apart while first ones are deleted', async () => {
    const { client } = await house.owner()
    const first = await aBeneficiary(client)
    const [, ...made] = await Promise.all([
      remove(client, first.id),
      ...Array.from({ length: 5 }, () => aBeneficiary(client)),
    ])
    const now = await Promise.all(made.map(({ id }) => read(client, id)))
    const originals = now.filter(({ duplicateOf }) => duplicateOf === null).map(({ id }) => id)
    expect(originals).toHaveLength(1)
    for (const { duplicateOf } of now) expect([null, originals[0]]).toContain(duplicateOf)
  })
})

describe('changing a beneficiary', () => {
  test('writes what is named and leaves the rest', async () => {
    const { client } = await house.owner()
    const before = await aBeneficiary(client, { bic: 'COBADEFFXXX', email: 'ada@example.com' })
    const answer = await change(client, before.id, { email: null, country: 'AT' })
    const after = { ...before, email: null, country: 'AT', updatedAt: expect.any(String) }
    expect(answer).toMatchObject({ status: 200, body: after })
    expect(await read(client, before.id)).toEqual(answer.body)
    const [event] = (await made(client.events.list({ query: { limit: 1 } }))).data
    expect(event).toMatchObject({ event: 'beneficiary.updated', data: { changed: ['country', 'email'] } })
    expect(await transactionsOf(house, answer, 'beneficiaries', before.id)).toBe(1)
  })

  test('for what it is already changes nothing and leaves nothing behind', async () => {
    const { client } = await house.owner()
    const { id, name } = await aBeneficiary(client)
    await made(verify(client, id))
    const before = await read(client, id)
    for (const body of [
      {},
      { name },
      { name, iban: 'DE89 3704 0044 0532 0130 00', bic: null, country: 'DE' },
    ]) {
      const answer = await change(client, id, body)
      expect([answer.status, answer.body]).toEqual([200, before])
      expect((await traceOf(house, answer))?.events).toEqual([])
    }
  })

  test.each([
    ['the IBAN', { iban: DUTCH }, null],
    ['the name', { name: 'Bäckerei Maier' }, null],
    ['the email', { email: 'a@example.com' }, 'match'],
    ['the country', { country: 'AT' }, 'match'],
    ['the BIC', { bic: 'COBADEFFXXX' }, 'match'],
  ])('by %s: the verification is what it then can be', async (_, body, result) => {
    const { client } = await house.owner()
    const { id } = await aBeneficiary(client)
    await made(verify(client, id))
    expect((await made(change(client, id, body))).verification?.result ?? null).toBe(result)
  })

  test('by its name: the name for SEPA follows', async () => {
    const { client } = await house.owner()
    const { id } = await aBeneficiary(client)
    expect((await made(change(client, id, { name: 'Größer' }))).sepaName).toBe('Groesser')
  })

  test('by its IBAN: the country goes along, unless it was another', async () => {
    const { client } = await house.owner()
    const atHome = await aBeneficiary(client)
    const abroad = await aBeneficiary(client, { country: 'US' })
    expect((await made(change(client, atHome.id, { iban: DUTCH }))).country).toBe('NL')
    expect((await made(change(client, abroad.id, { iban: DUTCH }))).country).toBe('US')
    expect((await made(change(client, atHome.id, { iban: FRENCH, country: 'MC' }))).country).toBe('MC')
  })

  test('never parts BIC and IBAN', async () => {
    const { client } = await house.owner()
    const before = await aBeneficiary(client, { bic: 'COBADEFFXXX' })
    const refused = [
      await change(client, before.id, { iban: DUTCH }),
      await change(client, before.id, { bic: 'ABNANL2A' }),
    ]
    for (const answer of refused) expect(answer).toMatchObject({ status: 400, code: 'bic_does_not_fit' })
    expect(refused[0]?.error).toBe('bic: The bank is in DE, the account in NL.')
    expect(await read(client, before.id)).toEqual(before)
    const both = await change(client, before.id, { iban: DUTCH, bic: 'ABNANL2A' })
    expect(both.body).toMatchObject({ iban: DUTCH, bic: 'ABNANL2A', country: 'NL' })
    expect((await change(client, before.id, { iban: FRENCH, bic: null })).status).toBe(200)
  })

  test.each([
    ['no name', { name: null }, 'name'],
    ['no IBAN', { iban: null }, 'iban'],
    ['a wrong IBAN', { iban: 'DE1' }, 'iban'],
    ['a verification', { verification: null }, 'verification'],
    ['another original', { duplicateOf: null }, 'duplicateOf'],
  ])('is refused with %s', async (_, body, named) => {
    const { client, key } = await house.owner()
    const { id } = await aBeneficiary(client)
    const answer = await house.http('PATCH', `/beneficiaries/${id}`, { token: key, body })
    expect([answer.status, answer.body.error]).toEqual([400, expect.stringMatching(`^${named}: `)])
  })
})

describe('a deleted beneficiary', () => {
  test('is gone for everybody, and its row stays', async () => {
    const { client } = await house.owner()
    const { id } = await aBeneficiary(client)
    const answer = await remove(client, id)
    expect([answer.status, answer.body]).toEqual([204, undefined])
    expect((await traceOf(house, answer))?.events).toEqual(['beneficiary.deleted'])
    expect(await idsOf(client)).toEqual([])
    const params = { id }
    for (const gone of [
      await client.beneficiaries.get({ params }),
      await change(client, id, { email: null }),
      await remove(client, id),
      await verify(client, id),
    ])
      expect(gone).toMatchObject({ status: 404, code: 'beneficiary_not_found' })
    expect(
      await house.sql('select deleted_at is not null as gone from beneficiaries where id = $1', [id]),
    ).toEqual([{ gone: true }])
  })

  test('leaves its IBAN free', async () => {
    const { client } = await house.owner()
    const first = await aBeneficiary(client)
    await remove(client, first.id)
    expect((await aBeneficiary(client)).duplicateOf).toBe(null)
  })
})

describe('a list of beneficiaries', () => {
  test('has the newest first, and can be narrowed', async () => {
    const { client } = await house.owner()
    const german = await aBeneficiary(client)
    const dutch = await aBeneficiary(client, { iban: DUTCH, name: 'Close Adler' })
    const again = await aBeneficiary(client)
    await made(verify(client, german.id))
    await made(verify(client, dutch.id))
    expect(await idsOf(client)).toEqual([again.id, dutch.id, german.id])
    expect(await idsOf(client, { iban: 'nl91 ABNA 0417 1643 00' })).toEqual([dutch.id])
    expect(await idsOf(client, { iban: 'nothing' })).toEqual([])
    expect(await idsOf(client, { country: 'DE' })).toEqual([again.id, german.id])
    expect(await idsOf(client, { verification: 'match' })).toEqual([german.id])
    expect(await idsOf(client, { verification: 'close_match' })).toEqual([dutch.id])
    expect(await idsOf(client, { verification: 'none' })).toEqual([again.id])
    expect(await idsOf(client, { verification: 'none', country: 'NL' })).toEqual([])
  })

  test('goes on where its page ended, filters and all', async () => {
    const { client } = await house.owner()
    const all = []
    for (let count = 0; count < 3; count++) all.unshift((await aBeneficiary(client)).id)
    const query = { limit: 2, iban: 'de89 3704 0044 0532 0130 00' }
    const first = await made(client.beneficiaries.list({ query }))
    const rest = await made(
      client.beneficiaries.list({ query: { ...query, cursor: String(first.nextCursor) } }),
    )
    expect([...first.data, ...rest.data].map(({ id }) => id)).toEqual(all)
  })
})

describe('others', () => {
  test('do not find an owner’s beneficiary, and live mode not the one of test mode', async () => {
    const owner = await house.owner()
    const { id } = await aBeneficiary(owner.client)
    for (const client of [(await house.owner()).client, await aLiveClient(house, owner)]) {
      for (const answer of [
        await client.beneficiaries.get({ params: { id } }),
        await change(client, id, { email: null }),
        await remove(client, id),
        await verify(client, id),
      ])
        expect(answer).toMatchObject({ status: 404, code: 'beneficiary_not_found' })
      expect(await idsOf(client)).toEqual([])
    }
    expect((await read(owner.client, id)).verification).toBe(null)
  })

  test('an agent’s token sees none of them', async () => {
    const { client } = await house.owner()
    const agent = await anAgent(client)
    const { token } = await aToken(client, agent.id)
    expect(await house.client(String(token)).beneficiaries.list()).toMatchObject({
      status: 403,
      code: 'wrong_caller',
    })
    const asked = { params: { id: agent.id }, body: { label: 'x', scopes: ['beneficiaries:read' as const] } }
    expect((await client.agentTokens.create(asked)).status).toBe(400)
  })
})
