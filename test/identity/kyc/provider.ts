import { describe, expect, test } from '@jest/globals'
import {
  encodeIdentityNotice,
  parseIdentityNotice,
} from '../../../src/adapters/identity-verification/sandbox.ts'
import { kycProviderOf } from '../../../src/platform/settings/external-systems.ts'
import { readSettings } from '../../../src/platform/settings/settings.ts'
import { IN_GERMANY } from '../../support/services/settings.ts'

describe('KYC_PROVIDER', () => {
  const provider = (env: Record<string, string>) => kycProviderOf(readSettings({ ...IN_GERMANY, ...env }))
  const COLLECTION_IBAN = 'DE89370400440532013000'

  test('is the sandbox while no rail is real, and manual beside one', () => {
    expect(provider({})).toBe('sandbox')
    expect(provider({ SEPA_RAIL: 'sandbox', CARD_PROCESSOR: 'sandbox' })).toBe('sandbox')
    expect(provider({ SEPA_RAIL: 'files' })).toBe('manual')
    expect(provider({ CARD_PROCESSOR: 'stripe' })).toBe('manual')
    expect(provider({ COLLECTION_IBAN })).toBe('manual')
    expect(provider({ KYC_PROVIDER: 'manual' })).toBe('manual')
    expect(provider({ KYC_PROVIDER: 'none', SEPA_RAIL: 'files' })).toBe('none')
  })

  test('is Stripe’s only with a restricted key, which alone sees dates of birth', () => {
    const stripe = { KYC_PROVIDER: 'stripe' }
    expect(provider({ ...stripe, STRIPE_SECRET_KEY: 'rk_live_12345678' })).toBe('stripe')
    for (const more of [{}, { STRIPE_SECRET_KEY: 'sk_live_12345678' }])
      expect(() => readSettings({ ...stripe, ...more } as NodeJS.ProcessEnv)).toThrow(/restricted key/)
  })

  test('is not Stripe’s test mode beside real SEPA, as its buttons would open live keys', () => {
    const tested = { KYC_PROVIDER: 'stripe', STRIPE_SECRET_KEY: 'rk_test_12345678' }
    expect(provider({ ...tested, FUNDING_RAIL: 'stripe' })).toBe('stripe')
    for (const rail of [{ SEPA_RAIL: 'files' }, { COLLECTION_IBAN }])
      expect(() => readSettings({ ...rail, ...tested } as NodeJS.ProcessEnv)).toThrow(/rk_test_/)
  })

  test.each([
    { SEPA_RAIL: 'files' },
    { CARD_PROCESSOR: 'stripe' },
    { FUNDING_RAIL: 'stripe' },
    { COLLECTION_IBAN },
  ])('is refused as sandbox beside %p, as a magic name would open live keys', rail => {
    expect(() => readSettings({ ...rail, KYC_PROVIDER: 'sandbox' } as NodeJS.ProcessEnv)).toThrow(
      /KYC_PROVIDER=sandbox .* Set KYC_PROVIDER=manual/,
    )
  })
})

describe('the sandbox', () => {
  test('reads what it writes, and nothing else', () => {
    const notice = { reference: 'kycsubmission_1', status: { status: 'rejected', code: 'other' } } as const
    expect(parseIdentityNotice(Buffer.from(encodeIdentityNotice(notice)))).toEqual(notice)
    for (const text of [
      '',
      '{',
      '[]',
      '{"reference":"a b"}',
      encodeIdentityNotice(notice).replace('other', 'cat'),
    ])
      expect(parseIdentityNotice(Buffer.from(text))).toEqual({ problem: expect.not.stringContaining('cat') })
    expect(parseIdentityNotice(Buffer.alloc(5_000))).toEqual({
      problem: 'The body has more than 4096 bytes.',
    })
  })
})
