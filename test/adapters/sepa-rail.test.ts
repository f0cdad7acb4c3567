import { describe, expect, test } from '@jest/globals'
import { sandboxRail } from '../../src/adapters/sepa-rail/sandbox.ts'
import { Problem } from '../../src/kernel/contract/problem.ts'
import { outsideFor } from '../support/commerce/rail.ts'
import './sepa-rail/sepa-payments.ts'

const rail = sandboxRail()

const ask = (name: string) =>
  rail.verifyPayee(
    { name, iban: 'DE89370400440532013000', bic: null },
    { reference: 'payeecheck_1', requestId: 'request-1' },
  )

describe('the sandbox’s bank', () => {
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
  ])('says of %s: %s', async (name, result, suggestedName) => {
    expect(await ask(name)).toEqual({ result, suggestedName })
    expect(await ask(name)).toEqual({ result, suggestedName })
  })

  test.each([
    ['Timeout GmbH', 'late'],
    ['Garbled GmbH', 'unusable'],
  ])('does not answer about %s: %s', async (name, answer) => {
    expect(await ask(name)).toBe(answer)
  })
})

describe('the rail of a mode', () => {
  test('is the sandbox in test mode, whatever is set', async () => {
    for (const settings of [{}, { SEPA_RAIL: 'sandbox' }])
      expect(outsideFor(settings).sepaRail('test')).toHaveProperty('verifyPayee')
  })

  test('is the one that is set in live mode, and else a problem that names the setting', () => {
    expect(outsideFor({ SEPA_RAIL: 'sandbox' }).sepaRail('live')).toHaveProperty('verifyPayee')
    expect(() => outsideFor({}).sepaRail('live')).toThrow(Problem)
    expect(() => outsideFor({}).sepaRail('live')).toThrow(/SEPA_RAIL/)
    const byFiles = { SEPA_RAIL: 'files', COLLECTION_IBAN: 'DE89370400440532013000' }
    expect(() => outsideFor({ SEPA_RAIL: 'files' }).sepaRail('live')).toThrow(/COLLECTION_IBAN/)
    expect(() => outsideFor(byFiles).sepaRail('live')).toThrow(/SEPA_FOLDER/)
    expect(outsideFor({ ...byFiles, SEPA_FOLDER: 'bank' }).sepaRail('live')).toHaveProperty('submit')
  })
})
