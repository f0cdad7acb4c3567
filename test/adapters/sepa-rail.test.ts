import { describe, expect, test } from '@jest/globals'
import { sandboxSepaRail } from '../../src/adapters/sepa-rail/sandbox.ts'
import { Problem } from '../../src/kernel/contract/problem.ts'
import { externalSystemsFor } from '../support/commerce/rail.ts'
import './sepa-rail/sepa-payments.ts'

const rail = sandboxSepaRail()

const ask = (name: string) =>
  rail.verifyPayee(
    { name, iban: 'DE89370400440532013000', bic: null },
    { reference: 'payeecheck_1', requestId: 'request-1' },
  )

describe('the payee verification of the sandbox', () => {
  test.each([
    ['Bäckerei Müller', 'match', null],
    ['Close', 'match', null],
    ['Closet Ltd', 'match', null],
    ['Nomatchbox Ltd', 'match', null],
    ['Close Adler GmbH', 'close_match', 'Adler GmbH'],
    ['close adler', 'close_match', 'adler'],
    ['Nomatch', 'no_match', null],
    ['No Match GmbH', 'no_match', null],
    ['NO MATCH GMBH', 'no_match', null],
    ['Unknown Person', 'not_possible', null],
  ])('answers for %s: %s', async (name, result, suggestedName) => {
    expect(await ask(name)).toEqual({ result, suggestedName })
    expect(await ask(name)).toEqual({ result, suggestedName })
  })

  test.each([
    ['Timeout GmbH', 'late'],
    ['Garbled GmbH', 'unusable'],
  ])('does not answer for %s: %s', async (name, answer) => {
    expect(await ask(name)).toBe(answer)
  })
})

describe('the SEPA rail of a mode', () => {
  test('is the sandbox in test mode, regardless of the configuration', async () => {
    for (const settings of [{}, { SEPA_RAIL: 'sandbox' }])
      expect(externalSystemsFor(settings).sepaRail('test')).toHaveProperty('verifyPayee')
  })

  test('is the configured one in live mode, and is refused with the name of the missing setting', () => {
    expect(externalSystemsFor({ SEPA_RAIL: 'sandbox' }).sepaRail('live')).toHaveProperty('verifyPayee')
    expect(() => externalSystemsFor({}).sepaRail('live')).toThrow(Problem)
    expect(() => externalSystemsFor({}).sepaRail('live')).toThrow(/SEPA_RAIL/)
    const byFiles = { SEPA_RAIL: 'files', COLLECTION_IBAN: 'DE89370400440532013000' }
    expect(() => externalSystemsFor({ SEPA_RAIL: 'files' }).sepaRail('live')).toThrow(/COLLECTION_IBAN/)
    expect(() => externalSystemsFor(byFiles).sepaRail('live')).toThrow(/SEPA_FOLDER/)
    expect(externalSystemsFor({ ...byFiles, SEPA_FOLDER: 'bank' }).sepaRail('live')).toHaveProperty('submit')
  })
})
