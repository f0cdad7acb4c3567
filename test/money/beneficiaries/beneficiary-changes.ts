import { describe, expect, test } from '@jest/globals'
import { aBeneficiary, aLiveClient, bodyOf, type TestClient } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import {
  DUTCH,
  deleteBeneficiary,
  FRENCH,
  GERMAN,
  readBeneficiary,
  updateBeneficiary,
  verifyBeneficiary,
} from '../../support/money/beneficiaries.ts'
import { traceOf, transactionCount } from '../../support/trace.ts'

const service = await startTestService()

describe('a second beneficiary with the same IBAN', () => {
  test('is flagged, not refused, within the owner and mode', async () => {
    const owner = await service.owner()
    const { client } = owner
    const first = await aBeneficiary(client)
    const second = await aBeneficiary(client, { name: 'Müller' })
    const third = await aBeneficiary(client, { iban: GERMAN.toLowerCase() })
    const elsewhere = await aBeneficiary(client, { iban: DUTCH })
    const stranger = await aBeneficiary((await service.owner()).client)
    const live = await aBeneficiary(await aLiveClient(service, owner))
    const flags = [first, second, third, elsewhere, stranger, live].map(({ duplicateOf }) => duplicateOf)
    expect(flags).toEqual([null, first.id, first.id, null, null, null])
  })

  test('is flagged for ten concurrent requests, too', async () => {
    const { client } = await service.owner()
    const all = await Promise.all(Array.from({ length: 10 }, () => aBeneficiary(client)))
    const originals = all.filter(({ duplicateOf }) => duplicateOf === null)
    expect(originals).toHaveLength(1)
    const flags = new Set(
      all.filter(beneficiary => beneficiary !== originals[0]).map(({ duplicateOf }) => duplicateOf),
    )
    expect([...flags]).toEqual([originals[0]?.id])
  })

  test.each([
    ['is deleted', (client: TestClient, id: string) => deleteBeneficiary(client, id)],
    ['gets another IBAN', (client: TestClient, id: string) => updateBeneficiary(client, id, { iban: DUTCH })],
  ])('becomes the original when the first one %s, with an event', async (_, leave) => {
    const { client } = await service.owner()
    const first = await aBeneficiary(client)
    const [second, third] = [await aBeneficiary(client), await aBeneficiary(client)]
    const answer = await leave(client, first.id)
    expect(answer.status).toBeLessThan(300)
    expect((await readBeneficiary(client, second.id)).duplicateOf).toBe(null)
    expect((await readBeneficiary(client, third.id)).duplicateOf).toBe(second.id)
    const events: string[] = (await traceOf(service, answer))?.events
    expect(events.filter(event => event === 'beneficiary.updated').length).toBeGreaterThanOrEqual(2)
  })

  test('is recognized, and no longer, when an IBAN changes', async () => {
    const { client } = await service.owner()
    const [german, dutch] = [await aBeneficiary(client), await aBeneficiary(client, { iban: DUTCH })]
    expect((await bodyOf(updateBeneficiary(client, german.id, { iban: DUTCH }))).duplicateOf).toBe(dutch.id)
    expect((await bodyOf(updateBeneficiary(client, german.id, { iban: FRENCH }))).duplicateOf).toBe(null)
  })

  test('is recognized while originals are deleted concurrently', async () => {
    const { client } = await service.owner()
    const first = await aBeneficiary(client)
    const [, ...duplicates] = await Promise.all([
      deleteBeneficiary(client, first.id),
      ...Array.from({ length: 5 }, () => aBeneficiary(client)),
    ])
    const now = await Promise.all(duplicates.map(({ id }) => readBeneficiary(client, id)))
    const originals = now.filter(({ duplicateOf }) => duplicateOf === null).map(({ id }) => id)
    expect(originals).toHaveLength(1)
    for (const { duplicateOf } of now) expect([null, originals[0]]).toContain(duplicateOf)
  })
})

describe('changing a beneficiary', () => {
  test('changes the given members only', async () => {
    const { client } = await service.owner()
    const before = await aBeneficiary(client, { bic: 'COBADEFFXXX', email: 'ada@example.com' })
    const answer = await updateBeneficiary(client, before.id, { email: null, country: 'AT' })
    const after = { ...before, email: null, country: 'AT', updatedAt: expect.any(String) }
    expect(answer).toMatchObject({ status: 200, body: after })
    expect(await readBeneficiary(client, before.id)).toEqual(answer.body)
    const [event] = (await bodyOf(client.events.list({ query: { limit: 1 } }))).data
    expect(event).toMatchObject({ event: 'beneficiary.updated', data: { changed: ['country', 'email'] } })
    expect(await transactionCount(service, answer, 'beneficiaries', before.id)).toBe(1)
  })

  test('to the same values changes nothing and records nothing', async () => {
    const { client } = await service.owner()
    const { id, name } = await aBeneficiary(client)
    await bodyOf(verifyBeneficiary(client, id))
    const before = await readBeneficiary(client, id)
    for (const body of [
      {},
      { name },
      { name, iban: 'DE89 3704 0044 0532 0130 00', bic: null, country: 'DE' },
    ]) {
      const answer = await updateBeneficiary(client, id, body)
      expect([answer.status, answer.body]).toEqual([200, before])
      expect((await traceOf(service, answer))?.events).toEqual([])
    }
  })

  test.each([
    ['the IBAN', { iban: DUTCH }, null],
    ['the name', { name: 'Bäckerei Maier' }, null],
    ['the email', { email: 'a@example.com' }, 'match'],
    ['the country', { country: 'AT' }, 'match'],
    ['the BIC', { bic: 'COBADEFFXXX' }, 'match'],
  ])('by %s updates the verification accordingly', async (_, body, result) => {
    const { client } = await service.owner()
    const { id } = await aBeneficiary(client)
    await bodyOf(verifyBeneficiary(client, id))
    expect((await bodyOf(updateBeneficiary(client, id, body))).verification?.result ?? null).toBe(result)
  })

  test('by name changes the SEPA name', async () => {
    const { client } = await service.owner()
    const { id } = await aBeneficiary(client)
    expect((await bodyOf(updateBeneficiary(client, id, { name: 'Größer' }))).sepaName).toBe('Groesser')
  })

  test('by IBAN changes the country, unless that was set apart', async () => {
    const { client } = await service.owner()
    const atHome = await aBeneficiary(client)
    const abroad = await aBeneficiary(client, { country: 'US' })
    expect((await bodyOf(updateBeneficiary(client, atHome.id, { iban: DUTCH }))).country).toBe('NL')
    expect((await bodyOf(updateBeneficiary(client, abroad.id, { iban: DUTCH }))).country).toBe('US')
    expect(
      (await bodyOf(updateBeneficiary(client, atHome.id, { iban: FRENCH, country: 'MC' }))).country,
    ).toBe('MC')
  })

  test('is refused if BIC and IBAN would not fit', async () => {
    const { client } = await service.owner()
    const before = await aBeneficiary(client, { bic: 'COBADEFFXXX' })
    const refused = [
      await updateBeneficiary(client, before.id, { iban: DUTCH }),
      await updateBeneficiary(client, before.id, { bic: 'ABNANL2A' }),
    ]
    for (const answer of refused) expect(answer).toMatchObject({ status: 400, code: 'bic_does_not_fit' })
    expect(refused[0]?.error).toBe('bic: the bank is in DE, the account in NL.')
    expect(await readBeneficiary(client, before.id)).toEqual(before)
    const both = await updateBeneficiary(client, before.id, { iban: DUTCH, bic: 'ABNANL2A' })
    expect(both.body).toMatchObject({ iban: DUTCH, bic: 'ABNANL2A', country: 'NL' })
    expect((await updateBeneficiary(client, before.id, { iban: FRENCH, bic: null })).status).toBe(200)
  })

  test.each([
    ['no name', { name: null }, 'name'],
    ['no IBAN', { iban: null }, 'iban'],
    ['a wrong IBAN', { iban: 'DE1' }, 'iban'],
    ['a verification', { verification: null }, 'verification'],
    ['another original', { duplicateOf: null }, 'duplicateOf'],
  ])('is refused with %s', async (_, body, named) => {
    const { client, key } = await service.owner()
    const { id } = await aBeneficiary(client)
    const answer = await service.http('PATCH', `/beneficiaries/${id}`, { token: key, body })
    expect([answer.status, answer.body.error]).toEqual([400, expect.stringMatching(`^${named}: `)])
  })
})
